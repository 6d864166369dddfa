"""Which recursion through aggregates the compiler accepts; what it rejects stands in errors.txt."""

import pytest
import reference

import engine

HEADER = """
.decl arc(x: number, y: number, w: number)
.decl friend(x: number, y: number)
.decl step(x: symbol, y: symbol, p: float)
.decl r(x: number, d: number)
.decl s(x: number, d: number)
.decl p(x: symbol, v: float)
.decl q(x: number)
r(1, 1). s(1, 1). q(1).
"""


@pytest.mark.parametrize(
    "rules",
    [
        "r(y, min<d>) :- r(x, c), arc(x, y, w), d = c + w.",
        "r(y, max<d>) :- r(x, c), arc(x, y, w), c + w = d.",
        "r(y, min<c + w - 7>) :- r(x, c), arc(x, y, w).",
        "r(y, min<d>) :- r(x, c), arc(x, y, w), d = c + w, d < 100.",
        "r(y, max<d>) :- r(x, c), arc(x, y, w), d = min(c + w, 100).",
        "r(y, max<d>) :- r(x, c), arc(x, y, w), c + w >= 3, d = max(c, w).",
        "r(y, max<-d>) :- s(x, d), friend(x, y). s(y, min<3 - d>) :- r(x, d), friend(x, y).",
        "r(x, max<d>) :- r(y, c), arc(x, y, w), w > 0, d = c * w.",
        "r(x, max<d>) :- r(y, c), arc(x, y, w), 2 <= w, d = c / w.",
        "s(y, max<d>) :- r(x, c), friend(x, y), d = c * -2. r(y, min<d>) :- s(x, e), friend(x, y), d = -1 * e.",
        "r(y, min<d>) :- r(x, a), r(x, b), friend(x, y), d = a + b.",
        "r(x, count<y>) :- q(y), friend(x, y). q(x) :- r(x, n), n >= 3.",
        "r(x, count<(x, y)>) :- q(y), friend(x, y). q(x) :- r(x, _).",
        "r(y, sum<(x, n)>) :- r(x, n), friend(x, y).",
        "r(y, sum<n, x>) :- r(x, m), friend(x, y), arc(x, y, w), w > 0, n = m + w.",
        "p(y, max<w>) :- p(x, v), step(x, y, f), f >= 0.0, w = v * f.",
        "r(y, min<d>) :- r(x, d), friend(x, y). s(x, d) :- r(x, d), arc(d, x, d), !q(d).",
    ],
)
def test_accepted_as_premappable(rules):
    program = engine.compile([HEADER + 'p("a", 1.0).\n' + rules])
    assert all(stratum.premappable for stratum in program.strata)


def test_the_programs_word_is_taken_and_remembered():
    program = engine.compile(
        [
            HEADER.replace("r(x: number, d: number)", "r(x: number, d: number) premappable")
            + "r(x, min<d>) :- q(x), friend(x, d). q(d) :- r(_, d)."
        ]
    )
    assert [s.premappable for s in program.strata if s.recursive] == [False]


@pytest.mark.parametrize(
    "rule", ["c(x, sum<(s, n)>) :- a(x, s, n).", "c(x, sum<n, s>) :- a(x, s, n).", "c(x, msum<n, s>) :- a(x, s, n)."]
)
def test_contributors_count_once_with_their_greatest_value(rule):
    text = f".decl a(x: number, s: symbol, n: number)\n.decl c(x: number, n: number)\n{rule}"
    facts = {"a": [(1, "k", 5), (1, "l", 5), (1, "l", 7), (2, "k", -3)]}
    assert reference.evaluate(engine.compile([text]), facts)["c"] == {(1, 12), (2, -3)}


def test_sums_of_bindings_and_plain_values_in_one_relation():
    program = engine.compile(
        [
            """
        .decl a(x: number, y: number, n: number)
        .decl c(x: number, n: number)
        c(x, sum<n>) :- a(x, _, n).
        c(x, sum<n>) :- a(x, _, n), n > 5.
        c(1, 100). c(1, 1000). c(3, 7).
    """
        ]
    )
    facts = {"a": [(1, 1, 5), (1, 2, 5), (1, 3, 10), (2, 1, 1)]}
    assert reference.evaluate(program, facts)["c"] == {(1, 20 + 10 + 1000), (2, 1), (3, 7)}


def test_verticalisation_reads_the_columns_that_are_left():
    program = engine.compile(
        [
            """
        .decl t(id: number, a: symbol, b: symbol, c: symbol)
        .decl v(id: number, column: number, x: symbol)
        t(1, "p", "q", "r"). t(2, "s", "q", "t").
        v(id, c, x) :- t(id, x@c).
    """
        ]
    )
    expected = {(1, 1, "p"), (1, 2, "q"), (1, 3, "r"), (2, 1, "s"), (2, 2, "q"), (2, 3, "t")}
    assert reference.evaluate(program)["v"] == expected


def test_a_sum_that_does_not_fit_stops_the_evaluation():
    program = engine.compile(
        [".decl r(x: number, n: number)\nr(1, 1).\nr(1, sum<(k, n)>) :- r(1, n), k = range(0, 9)."]
    )
    with pytest.raises(engine.EvaluationError, match="r: a sum does not fit in a number of 32 bits"):
        reference.evaluate(program)
