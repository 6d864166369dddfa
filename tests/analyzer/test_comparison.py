"""What is new, fixed and unchanged between two reports, and which changed line is named."""

import subprocess
from dataclasses import replace

import pytest

from analyzer.history.causes import Cause, cause_near_path, cause_on_path
from analyzer.history.comparison import compare
from analyzer.report import Check, Finding, Place, Problem, Report, Step, Suppression, Weakening
from analyzer.sources.git import Repository

SQL = Check("py/sql", "SQL", "error", "high", "text")
NOTE = Check("py/note", "Note", "note", "high", "text")


def finding(file, line, fingerprint, check=SQL, line_hash="", path=()):
    return Finding(check.id, "text", Place(file, line, 1, line, 9), path, fingerprint, line_hash or f"{fingerprint}:1")


def report(*findings, **more):
    return Report(target="t", revision="r", checks=(SQL, NOTE), findings=findings, **more)


def outcome(base, head):
    compared = compare(report(*base), report(*head))
    return [
        [str(f.place.file) + str(f.place.line) for f in part]
        for part in (compared.new, compared.unchanged, compared.fixed)
    ]


def test_content_tells_findings_apart_wherever_they_stand():
    assert outcome([finding("a", 1, "x")], [finding("b", 5, "x")]) == [[], ["b5"], []]
    assert outcome([finding("a", 1, "x")], [finding("a", 1, "y")]) == [["a1"], [], ["a1"]]


def test_of_equal_content_the_one_in_the_same_file_is_the_same():
    both = [finding("a", 1, "x"), finding("b", 1, "x-2")]
    assert outcome(both, [finding("b", 3, "x")]) == [[], ["b3"], ["a1"]]
    assert outcome([finding("b", 1, "x")], [finding("a", 1, "x"), finding("b", 1, "x-2")]) == [["a1"], ["b1"], []]


def test_an_equal_statement_put_before_one_does_not_make_it_new():
    base = [finding("a", 1, "f#0", line_hash="h:1")]
    head = [finding("a", 1, "f#0", line_hash="k:1"), finding("a", 2, "f#1", line_hash="h:1")]
    assert sum(map(len, outcome(base, head)[::2])) == 1


def test_suppressing_hides_and_a_suppression_that_goes_brings():
    bare = finding("a", 1, "x")
    quiet = replace(bare, suppression=Suppression("a", 1, (), "known"))
    assert outcome([bare], [quiet]) == [[], [], []]
    assert compare(report(bare), report(quiet)).hidden == (quiet,)
    assert compare(report(quiet), report(quiet)).hidden == ()
    assert outcome([quiet], [bare]) == [["a1"], [], []]
    assert outcome([quiet], [quiet]) == [[], [], []]


@pytest.mark.parametrize(
    ("fail_on", "severity", "code"),
    [("new", "warning", 0), ("new", "note", 1), ("any", "error", 1), ("any", "never", 0)],
)
def test_findings_that_count_and_are_severe_enough_fail(fail_on, severity, code):
    old, new = finding("a", 1, "x"), finding("a", 2, "y", NOTE)
    assert compare(report(old), report(old, new)).exit_code(fail_on, severity, "never") == code


@pytest.mark.parametrize(("threshold", "code"), [("note", 1), ("warning", 1), ("error", 0), ("never", 0)])
def test_what_is_taken_away_fails_by_a_severity_of_its_own(threshold, code):
    same = compare(report(), report())
    assert same.exit_code("any", "never", threshold) == 0
    weaker = replace(same, weakened=(Weakening("configuration", "warning", "less"),))
    assert weaker.exit_code("any", "never", threshold) == code


def test_incomplete_wins_on_either_side():
    broken = report(problems=(Problem("cannot be read", "a"),))
    assert compare(report(), broken).exit_code("new", "error", "never") == 3
    assert compare(broken, report()).exit_code("new", "never", "never") == 3


def test_the_reported_line_comes_first_then_the_path_from_the_sink_then_what_is_near():
    steps = tuple(Step(Place(file, line, 1, line, 5), "") for file, line in [("s", 3), ("m", 9), ("a", 20)])
    found = finding("a", 20, "x", path=steps)
    assert cause_on_path(found, {"a": [20], "m": [9]}) == Cause("a", 20, "the reported line has changed")
    assert str(cause_on_path(found, {"s": [3], "m": [8, 9]})) == "m:9"
    assert cause_on_path(found, {"a": [19], "o": [1]}) is None
    assert str(cause_near_path(found, {"a": [1, 24], "s": [1]})) == "s:1"
    assert cause_near_path(found, {"o": [1]}) is None


def test_changed_lines_are_those_of_the_head(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.com")
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    git("init", "-q")
    lines = [f"line {number}" for number in range(1, 21)]
    for name in ("kept", "changed", "moved", "gone"):
        (tmp_path / name).write_text("\n".join([name, *lines, ""]))
    git("add", "-A")
    git("commit", "-qm", "one")
    (tmp_path / "moved").rename(tmp_path / "renamed é")
    (tmp_path / "gone").unlink()
    text = ["changed", "new", *lines[:4], "++ b/odd", *lines[5:10], *lines[12:], ""]
    (tmp_path / "changed").write_text("\n".join(text))
    git("add", "-A")
    git("commit", "-qm", "two")
    # Line 2 is new, line 7 another, and behind line 12 two are gone.
    assert Repository(tmp_path).changed_lines("HEAD~1", "HEAD") == {"changed": [2, 7, 12]}
