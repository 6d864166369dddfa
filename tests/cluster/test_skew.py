"""Keys that many rows have: joined by all members, each two rows once, with the tuples of the oracle."""

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import given
from meeting import TINY, results, run, together

import engine
from engine import tables
from engine.cluster.skew import candidates, count, grid

DECLARED = """
.decl arc(x: number, y: number)
.decl two(x: number, y: number)
.decl twins(x: number, y: number)
.decl tc(x: number, y: number)
.decl sg(x: number, y: number)
.decl least(x: number, d: number)
.decl paths(x: number, n: number)
.decl both(x: number, y: number)
"""
RULES = (
    "two(x, z) :- arc(x, y), arc(y, z).",
    "twins(x, z) :- arc(x, y), arc(z, y), x < z.",
    "tc(x, y) :- arc(x, y). tc(x, z) :- tc(x, y), arc(y, z).",
    "sg(x, y) :- arc(p, x), arc(p, y), x != y. sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).",
    "least(0, 0). least(y, min<d>) :- least(x, c), arc(x, y), d = c + y.",
    "paths(y, sum<(-1, 1)>) :- arc(_, y). paths(z, sum<(x, n)>) :- paths(x, n), arc(x, z), x < z.",
    "both(x, y) :- arc(x, _), arc(_, y).",
)
nodes = st.sets(st.integers(1, 30), max_size=12)
others = st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12)


@given(st.sets(st.sampled_from(RULES)), nodes, nodes, others, st.integers(1, 5))
def test_members_answer_as_the_oracle_on_a_graph_with_a_hub(rules, before, after, others, size):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    facts = {"arc": {(x, 0) for x in before} | {(0, y) for y in after} | others}
    expected = reference.evaluate(program, facts)
    members = run(program, engine.facts(program, facts), size, options=TINY, replicated_rows=0)
    found = {name: [] for name in program.relations}
    for result in results(program, members):
        for name, rows in tables.decode(program, result, program.relations).items():
            found[name] += rows
    assert {name: len(rows) for name, rows in found.items()} == {name: len(rows) for name, rows in expected.items()}
    assert {name: set(rows) for name, rows in found.items()} == expected


def divided(members, relation):
    (stratum,) = (s for s in members[0].statistics if relation in s.relations)
    return stratum.divided


def produced(members, relation):
    """The rows that each member derives for a relation, before duplicates are dropped."""
    for member in members:
        yield sum(rule.produced for s in member.statistics for rule in s.rules if rule.relation == relation)


N_IN, N_OUT, N_CHAIN = 240, 300, 100
HUB = {(x, 0) for x in range(1, N_IN + 1)} | {(0, y) for y in range(1001, 1001 + N_OUT)}
CHAIN = {(x, x + 1) for x in range(2000, 2000 + N_CHAIN)}


@pytest.mark.parametrize(("size", "n_divided"), [(2, 1), (4, 2), (5, 1)])
def test_two_rows_meet_once_and_all_members_join(size, n_divided):
    program = engine.compile([DECLARED + "two(x, z) :- arc(x, y), arc(y, z)."])
    facts = engine.facts(program, {"arc": HUB | CHAIN})
    members = run(program, facts, size, replicated_rows=0)
    done = list(produced(members, "two"))
    # All rows of a key at one member would be more than 99 of 100 there.
    assert sum(done) == N_IN * N_OUT + N_CHAIN - 1
    assert max(done) <= 1.5 * sum(done) / size
    # A grid of four has two rows; of two or five all divide the longer side.
    assert (
        divided(members, "two")
        == [
            f"arc by column 2: 1 key of {N_IN} rows divided among members",
            f"arc by column 1: 1 key of {N_OUT} rows divided among members",
        ][-n_divided:]
    )


def test_a_key_of_few_rows_is_heavy_if_most_pairs_are_its():
    program = engine.compile([DECLARED + RULES[0]])
    rest = {(x, x + 1) for x in range(10_000, 16_000)}
    members = run(program, engine.facts(program, {"arc": HUB | rest}), 4, replicated_rows=0)
    done = list(produced(members, "two"))
    assert sum(done) == N_IN * N_OUT + 5999
    assert max(done) <= 1.5 * sum(done) / 4


def test_what_recursion_derives_goes_to_all_members_that_hold_the_key():
    program = engine.compile([DECLARED + RULES[2]])
    members = run(program, engine.facts(program, {"arc": HUB}), 4, replicated_rows=0)
    done = list(produced(members, "tc"))
    assert sum(done) == N_IN + N_OUT + N_IN * N_OUT
    assert max(done) <= 1.5 * sum(done) / 4


def test_without_heavy_keys_nothing_is_divided():
    program = engine.compile([DECLARED + RULES[0]])
    members = run(program, engine.facts(program, {"arc": CHAIN}), 4, replicated_rows=0)
    assert divided(members, "two") == []


@pytest.mark.parametrize(
    ("left", "right", "size", "expected"),
    [(1000, 1, 4, (4, 1)), (1, 1000, 4, (1, 4)), (1000, 1000, 4, (2, 2)), (4000, 1000, 16, (8, 2))],
)
def test_a_grid_halves_what_is_longer(left, right, size, expected):
    assert grid(left, right, size) == expected


def test_keys_are_counted_over_all_members():
    rows = np.array([[7] * 30 + [8] * 10 + list(range(1000, 10_000))], np.int32)

    def work(seat):
        mine = rows[:, seat.rank :: seat.size]
        found = candidates(seat, mine)
        return found.tolist(), count(seat, mine, found).tolist()

    # A sixty-fourth of the mean of 4 members is 35 rows; from half of that on keys are counted.
    assert together(4, work) == [([[7]], [30])] * 4
