"""Which findings a comment suppresses."""

import pytest

import facts
from analyzer.configuration.suppressions import covered_line, judged, mistakes, parse_suppression, suppress
from analyzer.findings.statement_lines import Statements
from analyzer.report import Finding, Place, Suppression


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


def lines_of(place):
    return range(place.line, place.end_line + 1)


def test_findings_are_marked_and_unneeded_suppressions_returned():
    used, unused = Suppression("a.py", 1, ("py/a",), "fine"), Suppression("a.py", 9, (), "")
    here, elsewhere, other = finding("py/a", 2), finding("py/a", 2, "b.py"), finding("py/b", 2)
    marked, left = suppress([here, elsewhere, other], [(2, used), (10, unused)], lines_of)
    assert [row.suppression for row in marked] == [used, None, None]
    assert left == [unused]


def test_a_suppression_is_judged_unused_only_if_its_checks_ran():
    known = {"py/a", "py/b"}
    assert judged(Suppression("a.py", 1, ("py/a",), ""), {"py/a"}, known)
    assert not judged(Suppression("a.py", 1, ("py/b",), ""), {"py/a"}, known)
    assert not judged(Suppression("a.py", 1, (), ""), {"py/a"}, known)
    assert not judged(Suppression("a.py", 1, ("py/mistyped",), ""), {"py/a"}, known)


@pytest.mark.parametrize("line", [2, 3, 4])
def test_a_suppression_on_any_line_of_a_statement_hits_the_finding(line):
    long = Finding("py/a", "message", Place("a.py", 2, 1, 4, 2))
    marked, left = suppress([long], [(line, by := Suppression("a.py", line, ("py/a",), ""))], lines_of)
    assert marked[0].suppression == by and not left


@pytest.mark.parametrize("line", [1, 5])
def test_a_suppression_beyond_the_statement_does_not(line):
    long = Finding("py/a", "message", Place("a.py", 2, 1, 4, 2))
    marked, left = suppress([long], [(line, by := Suppression("a.py", line, ("py/a",), ""))], lines_of)
    assert marked[0].suppression is None and left == [by]


def test_a_suppression_that_hits_a_finding_on_its_line_hits_none_around():
    outer, inner = Finding("py/a", "message", Place("a.py", 1, 1, 9, 2)), finding("py/a", 3)
    marked, left = suppress([outer, inner], [(3, by := Suppression("a.py", 3, (), ""))], lines_of)
    assert [each.suppression for each in marked] == [None, by] and not left


STATEMENTS = [
    ("python", "run(\n  a,\n  b(\n  1),\n)\n", (3, 3, 4, 5), {1, 2, 3, 4, 5}),
    ("python", "x = (a +\n     b(1)\n     + c)\ny = b(2)\n", (2, 6, 2, 10), {1, 2, 3}),
    ("python", "def f():\n  g(\n    1)\n  h()\n", (1, 1, 4, 6), {1}),
    ("javascript", "on(1, function () {\n  f();\n  g(\n  2);\n});\n", (3, 3, 4, 5), {3, 4}),
    ("javascript", "on(1, function () {\n  f();\n  g();\n}, 2\n);\n", (1, 1, 5, 2), {1, 4, 5}),
    ("java", "class A {\n void f() {\n  g(\n   1,\n   h());\n  h();\n }\n}\n", (5, 4, 5, 7), {3, 4, 5}),
]


@pytest.mark.parametrize(("language", "code", "place", "lines"), STATEMENTS)
def test_a_statement_is_the_calls_around_in_the_same_function(language, code, place, lines):
    path = "a" + facts.LANGUAGES[language].suffixes[0]
    mounted = facts.mount([(path, facts.extract(code.encode(), language))])
    assert Statements(mounted).lines(Place(path, *place)) == lines


@pytest.mark.parametrize(
    ("comment", "said", "help"),
    [
        ("# analyze: ignor[sql-injection]", "this suppresses nothing", "did you mean 'analyze: ignore'?"),
        ("# analyze: Ignored", "this suppresses nothing", "did you mean 'analyze: ignore'?"),
        ("# analyze: ignore[sql-injection", "this suppresses nothing", "did you mean 'analyze: ignore[rule, …]'?"),
        ("# analyze: ignore(sql-injection)", "this suppresses nothing", "did you mean 'analyze: ignore[rule, …]'?"),
        ("# analyze: ignore[sql-injektion]", "no check matches 'sql-injektion'", "did you mean 'sql-injection'?"),
        ("# analyze: ignore[zzz/*]", "no check matches 'zzz/*'", "'analyze rules list' lists the checks"),
    ],
)
def test_a_mistyped_comment_is_told_with_what_was_meant(comment, said, help):
    (problem,) = mistakes("a.py", 3, comment, {"sql-injection", "xss"})
    assert (problem.file, problem.line, problem.level) == ("a.py", 3, "warning")
    assert (problem.message, problem.help) == (said, help)
    suppression = parse_suppression("a.py", 3, comment)
    assert suppression is None or suppression.rules


@pytest.mark.parametrize("rest", ["ignore", "ignore (seen by two)", "later", "ignore [*-injection]"])
def test_other_comments_are_no_mistakes(rest):
    assert list(mistakes("a.py", 3, f"# analyze: {rest}", {"sql-injection"})) == []
