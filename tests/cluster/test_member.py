"""Evaluation by several members without shared memory: the same tuples as by the oracle, each at one member."""

import random

import hypothesis.strategies as st
import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from meeting import TINY, results, run
from sampled_rules import RECURSIONS

import engine
from engine import tables
from engine.cluster.checkpoint import Checkpoints
from engine.cluster.superstep_exchange import Supersteps

DECLARED = """
.type Pair = [first: number, rest: Pair]
.decl edge(x: number, y: number)
.decl name(x: number, s: symbol)
.decl weight(x: number, y: number, w: float)
.decl left(x: number, y: number)
.decl right(x: number, y: number)
.decl odd(x: number, y: number)
.decl even(x: number, y: number)
.decl wide(x: number, y: number, z: number)
.decl least(x: number, y: number, d: number)
.decl paths(x: number, n: number)
.decl cost(x: number, w: float)
.decl sum(x: number, w: float)
.decl same(x: number, y: number) eqrel
.decl chosen(x: number, y: number) choice-domain x
.decl list(p: Pair, n: number)
.decl called(x: number, s: symbol)
.decl made(s: symbol)
.decl lacking(x: number, y: number)
.decl counted(x: number, n: number)
.decl flag()
"""
RULES = (
    *RECURSIONS,
    "wide(x, y, 7) :- left(x, y), right(y, x), odd(x, _).",
    "least(x, y, min<1>) :- edge(x, y).",
    "least(x, z, min<d>) :- least(x, y, a), least(y, z, b), d = a + b.",
    "cost(x, min<w>) :- weight(x, _, w).",
    "cost(y, min<w>) :- cost(x, v), weight(x, y, u), w = v + u.",
    "sum(x, s) :- edge(x, _), s = sum w : { weight(x, _, w) }.",
    "same(x, y) :- edge(x, y), name(x, _).",
    "chosen(x, y) :- edge(x, y).",
    "list([x, nil], 1) :- edge(x, _).",
    "list([x, p], n + 1) :- list(p, n), p = [y, _], edge(y, x), n < 3.",
    "called(x, s) :- name(x, s), left(x, _).",
    "called(y, s) :- called(x, s), edge(x, y).",
    'called(3, "three").',
    "made(cat(s, t)) :- called(_, s), name(_, t).",
    "lacking(x, y) :- edge(x, _), edge(_, y), !left(x, y).",
    "counted(x, n) :- edge(x, _), n = count : { left(x, _) }.",
    "counted(x, n) :- same(x, _), n = max y : { right(x, y) }.",
    "flag() :- left(1, 2).",
    "edge(8, 9). edge(x, 8) :- chosen(x, 9).",
)
number = st.integers(0, 7)
edges = st.sets(st.tuples(number, number), max_size=16)
names = st.sets(st.tuples(number, st.sampled_from(["a", "b", "three", "ä"])), max_size=6)
weights = st.sets(st.tuples(number, number, st.sampled_from([0.5, 1.25, 3.0])), max_size=8)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.sets(st.sampled_from(RULES)), edges, names, weights, st.integers(1, 4), st.sampled_from([0, 1000]))
@example(frozenset(RULES) - {RULES[-1]}, {(1, 2), (2, 3), (3, 1), (3, 4)}, {(1, "a")}, {(1, 2, 0.5)}, 3, 0)
def test_members_answer_as_the_oracle(rules, edges, names, weights, size, replicated_rows):
    program = engine.compile([DECLARED + "\n".join(rule for rule in RULES if rule in rules)])
    facts = {"edge": edges, "name": names, "weight": weights}
    expected = reference.evaluate(program, facts)
    members = run(program, engine.facts(program, facts), size, options=TINY, replicated_rows=replicated_rows)
    found = {name: set() for name in program.relations}
    for result in results(program, members):
        for name, rows in tables.decode(program, result, program.relations).items():
            assert found[name].isdisjoint(rows)
            found[name] |= rows
    assert found == expected
    assert {name: len(rows) for name, rows in expected.items()} == members[0].n_rows


CLOSURE = ".decl edge(x: number, y: number)\n.decl tc(x: number, y: number)\ntc(x, y) :- edge(x, y).\n"
CHAIN = {(x, x + 1) for x in range(60)}


def rows_of(program, members, name):
    parts = [tables.decode(program, result, [name])[name] for result in results(program, members)]
    return set().union(*parts)


def test_a_decomposable_recursion_exchanges_its_first_tuples_only():
    program = engine.compile([CLOSURE + "tc(x, z) :- tc(x, y), edge(y, z).\n"])
    members = run(program, engine.facts(program, {"edge": CHAIN}), 3, options=TINY)
    done = members[0].statistics[-1]
    assert done.rounds == (1,)
    assert sum(member.statistics[-1].tuples_sent for member in members) < len(CHAIN)
    assert rows_of(program, members, "tc") == {(x, y) for x in range(60) for y in range(x + 1, 61)}


def test_a_limit_widens_as_on_one_machine():
    text = NON_LINEAR.replace("tc(y, z).", "tc(y, z), !stop(x).", 1) + ".decl stop(x: number)\n"
    program = engine.compile([text])
    database = engine.facts(program, {"edge": CHAIN})

    def widening():
        divisors = iter([7, 3])

        def choose(rows):
            return np.unique(rows[:1, rows[0] % next(divisors) == 0])[None, :]

        return engine.Widening("tc", [200, 200], "stop", choose)

    local = engine.evaluate(program, database, threads=1, widenings=[widening()])
    expected = tables.decode(program, local, ["tc", "stop", "end"])
    assert expected["stop"]
    members = run(program, database, 3, options=TINY, widenings=[widening()])
    assert {name: rows_of(program, members, name) for name in expected} == expected


def test_columns_to_partition_by_can_be_given():
    program = engine.compile([CLOSURE + "tc(x, z) :- tc(x, y), edge(y, z).\n"])
    for partition_by, local in (({"tc": (0,)}, True), ({"tc": (1,)}, False), ({"tc": (0, 1)}, False), ({}, True)):
        members = run(program, engine.facts(program, {"edge": CHAIN}), 3, options=TINY, partition_by=partition_by)
        done = members[0].statistics[-1]
        assert done.local == local
        assert done.partition_by["tc"] == partition_by.get("tc", (0,))
        assert rows_of(program, members, "tc") == {(x, y) for x in range(60) for y in range(x + 1, 61)}


def test_all_members_take_part():
    program = engine.compile([CLOSURE + "tc(x, z) :- tc(x, y), tc(y, z).\n"])
    members = run(program, engine.facts(program, {"edge": CHAIN}), 4, options=TINY)
    parts = [member.part("tc").shape[1] for member in members]
    assert sum(parts) == 60 * 61 // 2 and min(parts) > 60 * 61 // 2 // 4 // 2


NON_LINEAR = CLOSURE + "tc(x, z) :- tc(x, y), tc(y, z).\n.decl end(x: number)\nend(y) :- tc(1, y), !edge(y, _).\n"


@pytest.fixture
def cut_off(monkeypatch):
    """Make the second member fail at the n-th exchange; return the list of exchanges it has begun."""
    exchange, begun, fail_at = Supersteps.exchange, [], []

    def exchange_or_fail(steps):
        if steps.group.rank == 1:
            begun.append(steps)
            if len(begun) in fail_at:
                raise ConnectionError("cut off")
        return exchange(steps)

    monkeypatch.setattr(Supersteps, "exchange", exchange_or_fail)
    return begun, fail_at


@pytest.mark.parametrize("replicated_rows", [0, 1000])
@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.8, 1])
def test_a_run_that_is_cut_off_goes_on_from_its_checkpoint(fraction, replicated_rows, tmp_path, cut_off):
    begun, fail_at = cut_off
    program = engine.compile([NON_LINEAR])
    database = engine.facts(program, {"edge": CHAIN})
    run(program, database, 3, options=TINY, replicated_rows=replicated_rows)
    n_exchanges = len(begun)
    begun.clear()
    fail_at.append(max(2, int(fraction * n_exchanges)))
    options = {
        "options": TINY,
        "replicated_rows": replicated_rows,
        "checkpoints": lambda seat: Checkpoints(str(tmp_path / "state"), seat, 0),
    }
    with pytest.raises(ConnectionError):
        run(program, database, 3, **options)
    begun.clear()
    fail_at.clear()
    members = run(program, database, 3, **options)
    assert rows_of(program, members, "tc") == {(x, y) for x in range(61) for y in range(x + 1, 61)}
    assert rows_of(program, members, "end") == {(60,)}
    if fraction == 1:
        assert len(begun) <= 2


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_checkpoint_counts_for_no_member(seed, tmp_path, cut_off):
    _, fail_at = cut_off
    program, choose = engine.compile([NON_LINEAR]), random.Random(seed)
    database = engine.facts(program, {"edge": CHAIN})
    made = []

    def checkpoints(seat):
        made.append(Checkpoints(str(tmp_path / "state"), seat, 0))
        return made[-1]

    options = {"options": TINY, "replicated_rows": 0, "checkpoints": checkpoints}
    fail_at.append(6)
    with pytest.raises(ConnectionError):
        run(program, database, 3, **options)
    fail_at.clear()
    made.clear()
    for name in ("stratum", "superstep"):
        # One of each kind that counts: the file that says so, or the part of a member.
        place = choose.choice(sorted(tmp_path.joinpath("state").glob(f"{name}-*")))
        content = bytearray(place.read_bytes())
        content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)
        place.write_bytes(content)
    members = run(program, database, 3, **options)
    assert rows_of(program, members, "tc") == {(x, y) for x in range(61) for y in range(x + 1, 61)}
    assert rows_of(program, members, "end") == {(60,)}
    assert made[0].damage == made[1].damage == made[2].damage
    assert all("is damaged" in line for line in made[0].damage)
    assert made[0].damage
