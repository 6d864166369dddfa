"""Rules that ask for constants which no row of a complete relation has."""

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import engine

TEXT = """
.decl given(x: number, y: number, s: symbol)
.decl first(x: number, s: symbol)
.decl second(x: number)
.decl walk(x: number, y: number)
.decl least(x: number, y: number)
first(x, s) :- given(x, _, s).
first(7, "seven") :- given(_, 1, _).
second(x) :- first(x, "a").
second(x) :- given(x, 2, s), first(x, s), first(3, _).
second(x) :- given(x, _, _), !first(x, "b").
walk(x, y) :- given(x, y, _).
walk(x, z) :- walk(x, y), given(y, z, "a"), first(4, _).
walk(x, 9) :- walk(x, 8), second(x).
least(x, min y : { given(x, y, "a") }) :- second(x), first(7, "seven").
"""
PROGRAM = engine.compile([TEXT])
ROWS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 9), st.sampled_from("abc")), max_size=12)


@pytest.mark.parametrize("threads", [1, 2])
@given(ROWS)
def test_the_result_is_that_of_the_reference(threads, rows):
    found = engine.evaluate(PROGRAM, {"given": sorted(rows)}, threads=threads)
    expected = reference.evaluate(PROGRAM, {"given": rows})
    assert {name: set(found.tuples(name)) for name in expected} == {name: set(rows) for name, rows in expected.items()}


def planned(rows):
    """The relations of which some rule was planned."""
    result = engine.evaluate(PROGRAM, {"given": rows}, threads=1)
    return [rule.relation for stratum in result.statistics for rule in stratum.rules]


def test_a_rule_is_planned_only_if_its_constants_are_held():
    assert planned([(1, 1, "c")]).count("second") == 1
    assert planned([(1, 1, "a")]).count("second") == 2
    assert planned([(3, 2, "a")]).count("second") == 3


def test_a_constant_that_recursion_may_derive_is_waited_for():
    found = engine.evaluate(PROGRAM, {"given": [(1, 3, "c"), (3, 8, "a"), (4, 4, "c")]}, threads=1)
    assert {(1, 8), (1, 9)} <= set(found.tuples("walk"))
