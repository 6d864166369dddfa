"""Which findings a comment suppresses."""

import pytest

from analyzer.report import Finding, Place, Suppression
from analyzer.suppress import covered_line, judged, parse_suppression, suppress


@pytest.mark.parametrize(
    ("comment", "rules", "reason"),
    [
        ("# analyze: ignore[sql-injection] checked above", ("sql-injection",), "checked above"),
        ("# analyze: ignore[a, b]", ("a", "b"), ""),
        ("# noqa  analyze:ignore", (), ""),
        ("// analyze: ignore[py/*] generated", ("py/*",), "generated"),
    ],
)
def test_a_directive_names_rules_and_a_reason(comment, rules, reason):
    assert parse_suppression("a.py", 3, comment) == Suppression("a.py", 3, rules, reason)


@pytest.mark.parametrize("comment", ["# analyze this", "# reanalyze: ignore", "# analyze: later"])
def test_other_comments_suppress_nothing(comment):
    assert parse_suppression("a.py", 3, comment) is None


@pytest.mark.parametrize(
    ("lines", "line", "covered"),
    [
        (["x = 1  # analyze: ignore", "y = 2"], 1, 1),
        (["# analyze: ignore", "y = 2"], 1, 2),
        (["# analyze: ignore", "# why", "y = 2"], 1, 3),
        (["y = 2", "# analyze: ignore"], 2, 3),
    ],
)
def test_a_comment_covers_its_own_line_or_standing_alone_the_next_one(lines, line, covered):
    assert covered_line(Suppression("a.py", line, (), ""), lines) == covered


def finding(check, line, file="a.py"):
    return Finding(check, "message", Place(file, line, 1, line, 2))


def test_findings_are_marked_and_unneeded_suppressions_returned():
    used, unused = Suppression("a.py", 1, ("py/a",), "fine"), Suppression("a.py", 9, (), "")
    here, elsewhere, other = finding("py/a", 2), finding("py/a", 2, "b.py"), finding("py/b", 2)
    marked, left = suppress([here, elsewhere, other], [(2, used), (10, unused)])
    assert [row.suppression for row in marked] == [used, None, None]
    assert left == [unused]


def test_a_suppression_is_judged_unused_only_if_its_checks_ran():
    known = {"py/a", "py/b"}
    assert judged(Suppression("a.py", 1, ("py/a",), ""), {"py/a"}, known)
    assert not judged(Suppression("a.py", 1, ("py/b",), ""), {"py/a"}, known)
    assert not judged(Suppression("a.py", 1, (), ""), {"py/a"}, known)
    assert judged(Suppression("a.py", 1, ("py/mistyped",), ""), {"py/a"}, known)
