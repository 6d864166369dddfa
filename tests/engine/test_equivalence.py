"""Equivalence relations: classes answer as the closure of the pairs does."""

import hypothesis.strategies as st
import numpy as np
import pytest
from backends import ROUNDS, assert_as_the_oracle
from hypothesis import given, settings

import engine
from engine.kernels.csr_runs import LENGTH, START
from engine.storage.equivalence_union_find import Equivalence

EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12)


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The least equivalence on the elements of the pairs, by the definition."""
    found = set(pairs)
    while True:
        more = {(b, a) for a, b in found} | {(a, d) for a, b in found for c, d in found if b == c}
        if more <= found:
            return found
        found |= more


def rows_of(blocks) -> list[tuple[int, int]]:
    return [tuple(row) for rows, lo, hi in blocks for row in rows[:, lo:hi].T.tolist()]


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(EDGES, min_size=1, max_size=6), st.sampled_from([np.int32, np.int64]))
def test_batches_add_the_pairs_of_the_closure_and_no_others(batches, dtype):
    """The old pairs, the delta and all pairs, after each batch, also as joins see them."""
    relation, given_so_far, every = Equivalence("e", dtype), set(), np.arange(2)
    values = np.arange(-1, 14)[None, :].astype(dtype)
    for batch in batches:
        old = closure(given_so_far)
        given_so_far |= set(batch)
        new = closure(given_so_far)
        rows = np.array(batch, dtype).reshape(len(batch), 2).T
        relation.insert(np.ascontiguousarray(rows), 0, len(batch), every)
        relation.advance()
        assert sorted(rows_of(relation.blocks())) == sorted(new)
        assert sorted(rows_of(relation.old_blocks())) == sorted(old)
        assert sorted(rows_of(relation.delta)) == sorted(new - old)
        assert (relation.n, relation.n_delta) == (len(new), len(new) - len(old))
        for pairs, is_old in ((new, False), (old, True)):
            by = relation.arrangement((0,), payload=True, old=is_old)
            for value, c in zip(values[0].tolist(), by.locate(values, values.shape[1], np.array([0])), strict=True):
                start, length = by.runs[c, [START, LENGTH]] if c >= 0 else (0, 0)
                members = by.arena[0, start : start + length].tolist()
                assert sorted(members) == sorted(b for a, b in pairs if a == value)


def answer(text: str, facts: dict[str, set[tuple]]) -> dict[str, set[tuple]]:
    return assert_as_the_oracle(engine.compile([text]), facts, ROUNDS)[0]


@given(EDGES, EDGES, EDGES)
def test_recursion_through_equivalences(first, second, third):
    """Equivalences that feed each other, negated, counted, scanned, joined on either side or both, and as a product."""
    text = """
        .decl a(x: number, y: number)
        .decl b(x: number, y: number)
        .decl c(x: number, y: number)
        .decl same(x: number, y: number) eqrel
        .decl also(x: number, y: number) eqrel
        same(x, y) :- a(x, y).
        same(x, z) :- same(x, y), b(y, z).
        also(x, y) :- c(x, y), same(x, x).
        same(x, w) :- also(x, y), same(y, z), c(z, w).
        same(x, y) :- also(x, x), also(y, y), x + y = 12.
        .decl different(x: number, y: number)
        different(x, y) :- a(x, _), b(_, y), !same(x, y).
        .decl both(x: number, y: number)
        both(x, y) :- same(x, y), also(x, y).
        .decl size(x: number, n: number)
        size(x, n) :- a(x, _), n = count : { same(x, _) }.
        .decl pairs(x: number, y: number)
        pairs(x, y) :- same(x, x), also(y, y), x < 3.
    """
    answer(text, {"a": set(first), "b": set(second), "c": set(third)})


def test_equivalence_of_texts_and_records():
    found = answer(
        """
        .type Pair = [a: number, b: symbol]
        .decl texts(x: symbol, y: symbol) eqrel
        texts("a", "b"). texts("c", "b").
        .decl pairs(x: Pair, y: Pair) eqrel
        pairs([1, x], [2, y]) :- texts(x, y), x != y.
        .decl floats(x: float, y: float) eqrel
        floats(1.5, 2.5). floats(-1, 1.5).
        """,
        {},
    )
    assert found["texts"] == {(x, y) for x in "abc" for y in "abc"}
    assert found["pairs"] == {((i, x), (j, y)) for i in (1, 2) for j in (1, 2) for x in "abc" for y in "abc"}
    assert len(found["floats"]) == 9


@pytest.mark.parametrize("step", [1, 7])
def test_a_class_takes_space_for_its_elements_only(step):
    """100,000 elements in `step` classes, read by joins: 10¹⁰ / step pairs are never written out."""
    n = 100_000
    program = engine.compile(
        [
            f"""
        .decl same(x: number, y: number) eqrel
        same(x, x + {step}) :- x = range(0, {n - step}).
        .decl reached(x: number)
        reached(y) :- same(0, y).
        .decl apart(x: number)
        apart(x) :- x = range(0, 100), !same(x, 0).
        .output reached
        .output apart
    """
        ]
    )
    result = engine.evaluate(program, engine.Database(), threads=1)
    assert sorted(result.relation("reached")[0].tolist()) == list(range(0, n, step))
    assert sorted(result.relation("apart")[0].tolist()) == [x for x in range(100) if x % step]
