"""Index selection: minimum chain covers, and arrangements that serve several searches."""

from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import reference
from hypothesis import given, settings

import engine
from engine import tables
from engine.evaluation.execution import Options
from engine.kernels.csr_runs import LENGTH, START, sort_runs
from engine.plan.chain_cover import minimum_chains, order_of

SIGNATURES = st.sets(st.frozensets(st.integers(0, 4), min_size=1), max_size=8)


def widest_antichain(signatures):
    """The largest number of signatures none of which holds another, by trying all subsets."""
    for size in range(len(signatures), 0, -1):
        for chosen in combinations(signatures, size):
            if not any(a < b or b < a for a, b in combinations(chosen, 2)):
                return size
    return 0


@settings(max_examples=4 * settings.default.max_examples)
@given(SIGNATURES)
def test_chains_are_as_few_as_the_widest_antichain(signatures):
    chains = minimum_chains(signatures)
    assert sorted(map(sorted, (s for chain in chains for s in chain))) == sorted(map(sorted, signatures))
    assert all(a < b for chain in chains for a, b in zip(chain, chain[1:], strict=False))
    assert len(chains) == widest_antichain(signatures), "Dilworth's theorem"
    for chain in chains:
        order = order_of(chain)
        assert all(set(order[: len(signature)]) == signature for signature in chain)


def test_searches_that_differ_share_no_order():
    x, y, z = 0, 1, 2
    searches = [frozenset(columns) for columns in ([x], [x, y], [x, z], [x, y, z])]
    assert len(minimum_chains(searches)) == 2, "x y z serves three, x z the other"


CHAIN = """
.decl one(a: number)
.decl two(a: number, b: number)
.decl three(a: number, b: number, c: number)
.decl r(a: number, b: number, c: number, d: number)
.decl p(x: number, y: number) .decl q(x: number, y: number) .decl s(x: number, y: number) .decl t(x: number, y: number)
p(x, y) :- one(x), r(x, _, _, y).
q(x, y) :- two(x, z), r(x, z, _, y).
s(x, y) :- three(x, z, w), r(x, z, w, y).
t(x, y) :- two(x, y), !r(x, y, _, _).
"""
NUMBERS = st.integers(0, 8)


def evaluated(facts, **options):
    program = engine.compile([CHAIN])
    result = engine.evaluate(program, engine.facts(program, facts), threads=1, explain=True, **options)
    expected = reference.evaluate(program, facts)
    assert tables.decode(program, result, "pqst") == {name: expected[name] for name in "pqst"}
    return [a.key for a in result.plan.arrangements if a.relation == "r"]


def test_one_arrangement_serves_a_chain_of_searches():
    random = np.random.default_rng(5)
    facts = {"one": {(1,), (4,), (99,)}, "two": {(1, 2), (3, 5), (3, 99), (99, 1)}, "three": {(1, 2, 3), (4, 4, 99)}}
    facts["r"] = {tuple(row) for row in random.integers(0, 9, (3000, 4)).tolist()}
    # By a, by a and b, by all three: each leaves several rows.
    assert evaluated(facts) == [("a",)]


@given(st.data())
def test_narrowed_searches_answer_as_the_oracle(data):
    facts = {
        name: data.draw(st.sets(st.tuples(*[NUMBERS] * arity), max_size=9))
        for name, arity in (("one", 1), ("two", 2), ("three", 3))
    }
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    most = np.array([9, data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9)), 9])
    facts["r"] = {tuple(row) for row in (random.random((400, 4)) * most).astype(int).tolist()}
    evaluated(facts, options=Options(chunk_rows=5, min_sampled=2))


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(0, 99)), max_size=9), max_size=6))
def test_runs_are_sorted_by_columns_and_keep_the_order_of_equal_rows(content):
    lengths = [len(rows) for rows in content]
    runs = np.zeros((len(content), 4), np.int32)
    runs[:, LENGTH], runs[:, START] = lengths, np.cumsum([0, *lengths])[:-1]
    flat = [row for rows in content for row in rows]
    arena = np.array(flat, np.int32).reshape(-1, 3).T.copy()
    sort_runs(runs, len(runs), arena, np.array([1, 0]))
    expected = [row for rows in content for row in sorted(rows, key=lambda row: (row[1], row[0]))]
    assert arena.T.tolist() == [list(row) for row in expected]
