"""Least and greatest values of dense groups: joins that contribute to them directly, against the oracle."""

import backends
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL
from engine.evaluation.execution import Options
from engine.storage.key_tables import HashedKeys
from engine.storage.pair_key_table import PairKeys, denser

BACKENDS = {**backends.BACKENDS, "shared": backends.Backend(3, GLOBAL, Options(delta_rows=8, alone_rows=0))}
HEADER = """
.decl arc(x: number, y: number, w: number)
.decl start(x: number, d: number)
.decl one(x: number, d: number)
.decl two(x: number, y: number, d: number)
.decl most(x: number, d: number)
one(x, min<d>) :- start(x, d).
two(x, y, min<w>) :- arc(x, y, w).
most(x, max<d>) :- start(x, d).
"""
RULES = (
    "one(y, min<d>) :- one(x, c), arc(x, y, w), d = c + w.",
    "one(y, min<c>) :- one(x, c), arc(x, y, _).",
    "one(y, min<w>) :- one(x, _), arc(x, y, w).",
    "one(y, min<d>) :- one(x, c), arc(x, y, w), d = max(w, c).",
    "one(y, min<d>) :- one(x, c), arc(x, y, _), d = c + 3.",
    "one(y, min<d>) :- one(x, c), arc(x, y, _), d = c * 2.",
    "one(k, min<c>) :- one(x, c), arc(x, y, _), k = max(x, y).",
    "one(7, min<d>) :- one(x, c), arc(x, _, w), d = c + w.",
    "two(x, y, min<d>) :- two(x, z, c), arc(z, y, w), d = c + w.",
    "two(x, y, min<d>) :- arc(x, z, w), two(z, y, c), d = w + c.",
    "two(x, y, min<d>) :- two(x, z, c), two(z, y, e), d = c + e.",
    "two(y, x, min<d>) :- two(x, y, d), start(x, _).",
    "two(x, x, min<d>) :- two(x, y, c), arc(y, x, w), d = min(c, w).",
    "most(y, max<d>) :- most(x, c), arc(x, y, w), d = min(w, c).",
    "most(y, max<c>) :- most(x, c), arc(y, x, _).",
)
NODES = st.integers(0, 9)
PLACES = ((1, 0), (1, -5), (70_000, 3), (300_000_000, -1_400_000_000), (1, 2**31 - 10), (1, -(2**31)))
"""Where nodes lie: near one another or far apart, below zero, at the ends of the range. (step, least)"""


@st.composite
def cases(draw) -> tuple[str, dict[str, set[tuple]]]:
    """A choice of the rules, and facts."""
    chosen = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique=True))
    step, least = draw(st.sampled_from(PLACES))
    arcs = draw(st.sets(st.tuples(NODES, NODES, st.integers(0, 9)), min_size=8, max_size=30))
    starts = draw(st.sets(st.tuples(NODES, st.integers(0, 9)), min_size=1, max_size=4))
    facts = {
        "arc": {(least + step * x, least + step * y, w) for x, y, w in arcs},
        "start": {(least + step * x, d) for x, d in starts},
    }
    return HEADER + "\n".join(chosen), facts


@pytest.mark.parametrize("backend", BACKENDS)
@given(case=cases())
def test_engine_agrees_with_the_oracle(backend, case):
    text, facts = case
    backends.assert_as_the_oracle(engine.compile([text]), facts, {backend: BACKENDS[backend]})


@pytest.mark.parametrize("threads", [1, 2])
def test_values_wrap_around_as_they_do_elsewhere(threads):
    program = engine.compile([HEADER + RULES[0]])
    facts = {"arc": {(0, 1, 2**31 - 1), (1, 2, 0)}, "start": {(0, 5)}}
    result = engine.evaluate(program, engine.facts(program, facts), threads=threads)
    assert tables.decode(program, result, ["one"])["one"] == {(0, 5), (1, 4 - 2**31), (2, 4 - 2**31)}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("step", [1, 1000])
def test_distances_on_a_grid(threads, step):
    """Between nodes r, c and r', c' of a grid, downwards and to the right, every path has the same length."""
    side = 12
    number = {(r, c): step * (side * r + c) for r in range(side) for c in range(side)}
    down = {(number[r, c], number[r + 1, c], 3) for r, c in number if r + 1 < side}
    right = {(number[r, c], number[r, c + 1], 2) for r, c in number if c + 1 < side}
    program = engine.compile([HEADER + "two(x, y, min<d>) :- two(x, z, c), arc(z, y, w), d = c + w."])
    options = Options(delta_rows=64)
    facts = engine.facts(program, {"arc": down | right})
    result = engine.evaluate(program, facts, threads=threads, options=options)
    assert tables.decode(program, result, ["two"])["two"] == {
        (number[r, c], number[p, q], 3 * (p - r) + 2 * (q - c))
        for r, c in number
        for p, q in number
        if p >= r and q >= c and (p, q) != (r, c)
    }


@pytest.mark.parametrize("major", [0, 1])
def test_pairs_keep_their_ids_when_they_are_found_densely(major):
    rng = np.random.default_rng(major)
    rows = np.unique(rng.integers(-20, 20, (2, 300), np.int32), axis=1)
    rows = np.ascontiguousarray(rows[:, rng.permutation(rows.shape[1])])
    hashed, take = HashedKeys(2, np.dtype(np.int32)), np.arange(2)
    ids = hashed.intern(rows, 0, 100, take)
    dense = denser(hashed, rows, 0, rows.shape[1], take, major)
    assert isinstance(dense, PairKeys) and dense.accepts(rows, 0, rows.shape[1], take)
    assert dense.intern(rows, 0, rows.shape[1], take).tolist() == list(range(rows.shape[1]))
    assert ids.tolist() == list(range(100))
    assert dense.hashed().find(rows, rows.shape[1], take).tolist() == list(range(rows.shape[1]))


def test_sparse_pairs_are_hashed():
    rows = np.array([np.arange(1000) * 1000, np.arange(1000)], np.int32)
    hashed, take = HashedKeys(2, np.dtype(np.int32)), np.arange(2)
    hashed.intern(rows, 0, 1000, take)
    assert denser(hashed, rows, 0, 1000, take, 0) is None
