"""Commits that would decide how they are reviewed, by every kind of file that says something about the analysis."""

import json
import os
from contextlib import chdir

import pytest

from analyzer.history.compared_settings import Settings, additions, weakenings
from analyzer.scan import ScanRequest
from analyzer.sources.trees import MemoryTree

CHECK = "sql-injection"
SINK = """\
import sqlite3
from flask import request

def user():
    cursor = sqlite3.connect("users.db").cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
"""
CLEAN = "def user():\n    return 1\n"
LINE = "    cursor.execute("
COMMENT = "    # analyze: ignore[sql-injection] trust me\n"
SUPPRESSED = SINK.replace(LINE, COMMENT + LINE)


def own_check(name, function, severity="warning"):
    return (
        f"// @id own/{name}\n// @name Call\n// @severity {severity}\n// @precision high\n"
        f'// @message {{detail}} is called.\nfinding("own/{name}", c, "{name}") :- calls(c, "builtins.{function}").\n'
    )


@pytest.fixture
def review(analyze, history):
    """Commit a base and a head, and compare them; `again` compares those of the last call."""

    def again(*arguments, rules=(CHECK,)):
        selected = [argument for rule in rules for argument in ("--rules", rule)]
        arguments = ("ci", history.path, "--base", "HEAD~1", *selected, *arguments)
        with chdir(history.path):
            result = analyze(*arguments, "--format", "json", code=None)
        found = json.loads(result.stdout)
        new = [f"{finding['file']}:{finding['line']}" for finding in found["new"]]
        taken = [(item["kind"], item["severity"], item["file"], item["message"]) for item in found["takenAway"]]
        return result.exit_code, new, taken

    def run(base, head, *arguments, rules=(CHECK,)):
        history.commit(base)
        history.commit(head)
        return again(*arguments, rules=rules)

    run.again = again
    return run


def kinds(taken, *wanted):
    return [(kind, severity, file) for kind, severity, file, _ in taken if not wanted or kind in wanted]


@pytest.mark.slow
def test_settings_of_the_head_do_not_judge_it_and_are_listed(review, attack, analyze, history):
    head = {
        ".analyze.toml": 'exclude = ["app.py"]\nfail-on = "never"\nfail-on-weakened = "never"\n',
        "sub/.analyzeignore": "*\n",
        ".analyze/models/m.dl": 'no_flow("flask.request").\nlabel_exempt("http", "sql").\n',
    }
    base = {"app.py": CLEAN, "sub/app.py": SINK, "other.py": SINK}
    code, new, taken = review(base, {"app.py": SINK, **head})
    attack("a change that brings a finding, and settings by which there is none", expected=1, got=code)
    attack("its finding is new", expected=["app.py:6"], got=new)
    by_kind = {
        "excluded and ignored files": ("file", [("file", "warning", "app.py"), ("file", "warning", "sub/app.py")]),
        "the ignore file": ("ignored", [("ignored", "warning", "sub/.analyzeignore")]),
        "the model": ("rules", [("rules", "warning", ".analyze/models/m.dl")]),
        "all findings": ("finding", [("finding", "error", f"{path}.py") for path in ("app", "other", "sub/app")]),
        "keys": ("configuration", [("configuration", "warning", "")] * 3),
    }
    for title, (kind, expected) in by_kind.items():
        attack(f"… {title} listed as taken away", expected=expected, got=kinds(taken, kind))
    text = analyze("ci", history.path, "--base", "HEAD~1", "--rules", CHECK, code=1).output
    assert "fail-on: warning → never" in text and "exclude leaves out 'app.py'" in text
    sarif = analyze("ci", history.path, "--base", "HEAD~1", "--rules", CHECK, "--format", "sarif", code=1).stdout
    told = json.loads(sarif)["runs"][0]["invocations"][0]["toolConfigurationNotifications"]
    assert len(told) == len(taken)


@pytest.mark.slow
def test_settings_alone_fail_by_what_they_take_away(review, attack, analyze, history, tmp_path):
    code, new, taken = review({"app.py": SINK}, {".analyze.toml": 'exclude = ["later/"]\n'})
    attack("an exclude of what is to come", expected=(1, [], 1), got=(code, new, len(taken)))
    code, *_ = review.again("--fail-on-weakened", "error")
    attack("… where only errors count", expected=0, got=code)
    code, _, taken = review.again("--config-from", "head")
    attack("… where the head decides", expected=(0, []), got=(code, taken))
    outside = tmp_path / "decides.toml"
    outside.write_text('fail-on = "never"\n')
    code, new, taken = review.again("--config", outside)
    attack("… where a file outside decides", expected=(0, [], []), got=(code, new, taken))
    inside = history.path / "decides.toml"
    inside.write_text('fail-on = "never"\n')
    output = analyze("ci", history.path, "--base", "HEAD~1", "--config", inside, code=2).output
    attack("… where the file that decides stands in the checkout", expected=True, got="outside" in output)


def test_a_configuration_that_cannot_be_read_does_not_judge_and_fails(review, attack):
    code, new, taken = review({"app.py": CLEAN}, {"app.py": SINK, ".analyze.toml": "exclude = [\n"})
    expected = (1, ["app.py:6"], [("configuration", "error", ".analyze.toml")])
    attack("a change that breaks the configuration", expected=expected, got=(code, new, kinds(taken)))


@pytest.mark.slow
def test_rules_of_the_base_are_used(review, attack):
    names = {"gone": "print", "milder": "len", "broken": "repr", "deselected": "hash"}
    rules = {f".analyze/rules/{name}.dl": own_check(name, function) for name, function in names.items()}
    calls = "print(1)\nlen([])\nrepr(1)\nhash(1)\n"
    edits = {
        ".analyze/rules/gone.dl": None,
        ".analyze/rules/milder.dl": own_check("milder", "len", "note"),
        ".analyze/rules/broken.dl": "broken(",
    }
    selected = {".analyze.toml": 'rules = ["own/*"]\n'}, {".analyze.toml": 'rules = ["own/*", "-own/deselected"]\n'}
    base, head = {"app.py": CLEAN, **rules, **selected[0]}, {"app.py": calls, **edits, **selected[1]}
    code, new, taken = review(base, head, rules=())
    attack("checks deleted, made milder, broken, deselected", expected=(1, 4), got=(code, len(new)))
    told = sorted(message for kind, _, _, message in taken if kind == "check")
    expected = [f"the check own/{name} no longer runs" for name in ("broken", "deselected", "gone")]
    attack("… are listed", expected=[*expected, "the severity of own/milder: warning → note"], got=told)


def test_suppressions_of_the_change_hide_nothing_from_its_review(review, attack, analyze, history):
    base = {
        "was.py": SUPPRESSED.replace("user", "was"),
        "open.py": SINK.replace("user", "open_before"),
        "moved.py": CLEAN.replace("    return 1\n", COMMENT + "    x = 1\n") + SINK,
        "clean.py": COMMENT + CLEAN,
    }
    head = {
        "was.py": "\n\n" + base["was.py"],  # Moved lines of a suppression that has been there.
        "new.py": SUPPRESSED.replace("user", "new"),
        "open.py": SUPPRESSED.replace("user", "open_before"),
        "clean.py": "# analyze: ignore\n" + SINK.replace(LINE, "    # analyze: ignore\n" + LINE),
        ".gitattributes": "*.py binary -diff\n",  # Says that no line of them has changed.
    }
    code, new, taken = review(base, head)
    expected = (1, [], [("suppression", "error", f"{name}.py") for name in ("clean", "new", "open")])
    attack("comments suppress what is new, and what was open", expected=expected, got=(code, new, kinds(taken)))
    result = analyze("ci", history.path, "--base", "HEAD~1", "--rules", CHECK, "--format", "sarif", code=1)
    results = json.loads(result.stdout)["runs"][0]["results"]
    status = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: r.get("suppressions") for r in results}
    assert status["was.py"][0].get("status") is None and status["new.py"][0]["status"] == "underReview"


@pytest.mark.slow
def test_a_line_that_comes_below_a_comment_of_the_base_is_not_covered_by_it(review, attack):
    base = SINK.replace(LINE, COMMENT + "    cursor.close()\n" + LINE)
    head = base.replace(COMMENT, COMMENT + '    cursor.execute("SELECT " + request.args["column"])\n')
    _, _, taken = review({"app.py": base}, {"app.py": head})
    attack("a new line below an old comment", expected=[("suppression", "error", "app.py")], got=kinds(taken))


@pytest.mark.slow
def test_files_that_become_unreadable_to_the_analysis_are_listed(review, attack, history):
    names = ("large.py", "link.py", "moved.py", "whole.py")
    history.commit(dict.fromkeys(names, SINK))
    (history.path / "large.py").write_text(SINK + "# large\n" * 200_000)
    (history.path / "link.py").rename(history.path / "link.txt")
    (history.path / "link.py").symlink_to("link.txt")
    (history.path / "vendor").mkdir()
    os.rename(history.path / "moved.py", history.path / "vendor/moved.py")
    history.commit()
    code, _, taken = review.again()
    got = [file for kind, _, file, _ in taken if kind == "file"]
    expected = (1, ["large.py", "link.py", "vendor/moved.py"])
    attack("files too large, a link, vendored", expected=expected, got=(code, got))


@pytest.mark.slow
def test_a_file_that_calls_itself_generated_since_is_listed(review, attack):
    unused = "def area(width):\n    result = width * 2\n    return width * 2\n"
    head = {"app.py": "# @generated\n" + unused, "tool.py": "# @generated\n" + unused.replace("area", "length")}
    code, new, taken = review({"app.py": unused}, head, "--fail-on-weakened", "note", rules=("unused-variable",))
    expected = (1, [], [("generated", "note", "app.py")])
    attack("a file of the base calls itself generated", expected=expected, got=(code, new, kinds(taken)))


SETTINGS = [
    ("", 'fail-on = "error"', ["fail-on: warning → error"], []),
    ('fail-on = "error"', "", [], ["configuration: fail-on: error → warning"]),
    ("", 'fail-on-weakened = "never"', ["fail-on-weakened: warning → never"], []),
    ("", "max-file-kb = 10", ["max-file-kb: 1024 → 10"], []),
    ("", "extract-timeout-s = 1", ["extract-timeout-s: 120 → 1"], []),
    ("include-vendored = true", "", ["include-vendored: true → false"], []),
    ("", "include-generated = true", [], ["configuration: include-generated: false → true"]),
    (
        'exclude = ["a"]',
        'exclude = ["b"]',
        ["exclude leaves out 'b'"],
        ["configuration: exclude no longer leaves out 'a'"],
    ),
    ("", 'rules = ["-sql-injection"]', ["the check sql-injection no longer runs"], []),
    ('rules = ["-sql-injection"]', "", [], ["the check sql-injection runs"]),
    ("", 'format = "json"\njobs = 2', [], []),
]


@pytest.mark.parametrize(("old", "new", "weaker", "more"), SETTINGS)
def test_keys_are_compared_by_what_they_take_away(old, new, weaker, more):
    before, after = (
        Settings.of(MemoryTree({".analyze.toml": text.encode()}), ScanRequest(None)) for text in (old, new)
    )
    assert [item.message for item in weakenings(before, after)] == weaker
    assert additions(before, after) == more
