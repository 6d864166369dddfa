"""Rules that ask a relation of their own recursion for whole rows, against the oracle."""

import hypothesis.strategies as st
import pytest
from backends import BACKENDS, assert_as_the_oracle
from hypothesis import given

import engine

CLOSING = """
.decl edge(x: number, y: number)
.decl path(x: number, y: number)
.decl back(x: number, y: number)
.decl seen(x: number)
path(x, y) :- edge(x, y).
path(x, z) :- back(x, y), path(y, z), path(z, x).
back(x, z) :- path(x, y), edge(y, z), path(z, x), path(x, z).
path(x, z) :- path(x, y), edge(y, z), seen(y), back(y, y).
seen(x) :- back(x, y), seen(y), path(y, x).
seen(x) :- edge(x, x).
"""
PROGRAM = engine.compile([CLOSING])
NODES = st.integers(-1, 5)


@pytest.mark.parametrize("backend", BACKENDS)
@given(edges=st.sets(st.tuples(NODES, NODES), min_size=2, max_size=30))
def test_rows_asked_for_in_their_own_recursion_are_those_of_the_oracle(backend, edges):
    assert_as_the_oracle(PROGRAM, {"edge": edges}, {backend: BACKENDS[backend]})


def test_pairs_asked_for_whole_are_not_arranged_a_second_time():
    edges = {(x, y) for x in range(20) for y in range(20) if (x + y) % 3}
    text = CLOSING.replace("edge(y, z), path(z, x), path(x, z)", "edge(y, z), path(x, z)")
    program = engine.compile([text])
    plan = engine.evaluate(program, engine.facts(program, {"edge": edges}), threads=1, explain=True).plan
    assert {len(arranged.key) for arranged in plan.arrangements if arranged.relation in ("path", "back")} == {1}
