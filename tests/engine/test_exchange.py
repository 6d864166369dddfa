"""Recursion by exchange between workers that own partitions, under SSP and DWS."""

from itertools import count

import numpy as np
import pytest
import reference
from backends import FULL_QUEUES, Backend

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL, Dws, Ssp
from engine.evaluation.execution import Options
from engine.evaluation.partition_owner import PartitionOwner

POLICIES = [Ssp(0), Ssp(2), Dws()]
HEADER = ".decl arc(x: number, y: number)\n"

NON_LINEAR_CLOSURE = (
    HEADER
    + """
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), tc(y, z), x + z >= 0.
"""
)
SAME_GENERATION = (
    HEADER
    + """
.decl sg(x: number, y: number)
sg(x, y) :- arc(p, x), arc(p, y), x != y.
sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).
"""
)
POINTS_TO = (
    HEADER
    + """
.decl points(x: number, y: number)
points(x, y) :- arc(x, y), x % 3 = 0.
points(y, x) :- arc(y, z), points(z, x).
points(y, w) :- arc(x, y), points(x, z), points(z, w).
points(z, w) :- arc(y, x), points(y, z), points(x, w).
"""
)
ALIASES = (
    HEADER
    + """
.decl flows(x: number, y: number)
.decl value(x: number, y: number)
.decl memory(x: number, y: number)
flows(y, x) :- arc(y, x).
flows(x, x) :- arc(x, _).
flows(x, y) :- arc(x, z), memory(z, y).
flows(x, y) :- flows(x, z), flows(z, y).
value(x, y) :- flows(z, x), flows(z, y).
value(x, y) :- flows(z, x), memory(z, w), flows(w, y).
memory(x, x) :- arc(_, x).
memory(x, w) :- arc(y, x), value(y, z), arc(z, w).
"""
)
NOTHING_SHARED = (
    HEADER
    + """
.decl reach(x: number)
.decl some(x: number)
.decl go()
reach(0).
reach(y) :- reach(x), arc(x, y), some(z), z <= y.
some(x) :- reach(x), x < 20.
go() :- reach(3), some(1).
reach(50) :- go().
"""
)
WIDE_VALUES = (
    HEADER
    + """
.decl pair(x: float, n: unsigned)
pair(1, 1u).
pair(x + 0.5, n) :- pair(x, n), x < 4.
pair(x, n + m) :- pair(x, n), pair(x, m), n + m < 20u.
"""
)
TRIANGLES = (
    HEADER
    + """
.decl p(x: number, y: number)
p(x, y) :- arc(x, y), x % 2 = 0.
p(x, y) :- arc(x, y), p(x, z), p(z, y).
p(x, z) :- p(x, y), p(y, z), p(z, w), p(w, x).
"""
)
PROGRAMS = [TRIANGLES, NON_LINEAR_CLOSURE, SAME_GENERATION, POINTS_TO, ALIASES, NOTHING_SHARED, WIDE_VALUES]


def random_arcs(n_nodes, n_arcs, seed=0):
    rng = np.random.default_rng(seed)
    return {(int(x), int(y)) for x, y in rng.integers(0, n_nodes, (n_arcs, 2))}


def run(text, arcs, policy, threads, options=FULL_QUEUES):
    program = engine.compile([text])
    result = Backend(threads, policy, options).evaluate(program, {"arc": arcs})
    recursive = max(result.statistics, key=lambda s: (s.recursive, s.rows))
    return tables.decode(program, result, program.relations), recursive


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("text", PROGRAMS)
def test_an_exchange_answers_as_the_oracle(text, policy, threads):
    arcs = random_arcs(16, 30)
    expected = reference.evaluate(engine.compile([text]), {"arc": arcs})
    found, statistics = run(text, arcs, policy, threads)
    assert found == expected
    assert statistics.policy == policy.name
    assert len(statistics.rounds) == threads and min(statistics.rounds) > 0
    assert (statistics.tuples_sent > 0) == (threads > 1)
    for name in statistics.relations:
        derived = sum(rule.added for rule in statistics.rules if rule.relation == name)
        assert derived + text.count(f"\n{name}(0).") + text.count(f"\n{name}(1, 1u).") == len(found[name])


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_large_relations_are_as_under_barriers(policy):
    """With default sizes; a cycle of 200 nodes: every node reaches every node."""
    found, statistics = run(NON_LINEAR_CLOSURE, {(x, (x + 1) % 200) for x in range(200)}, policy, 2, Options())
    assert found["tc"] == {(x, y) for x in range(200) for y in range(200)}
    assert statistics.tuples_sent > 0


def test_little_work_is_done_under_barriers():
    _, statistics = run(NON_LINEAR_CLOSURE, {(1, 2), (2, 3)}, Dws(), 2, Options())
    assert (statistics.policy, statistics.rounds, statistics.tuples_sent) == ("dws", (), 0)


def test_decomposable_recursion_sends_nothing():
    text = HEADER + ".decl tc(x: number, y: number)\ntc(x, y) :- arc(x, y).\ntc(x, y) :- tc(x, z), arc(z, y).\n"
    _, statistics = run(text, random_arcs(20, 40), Dws(), 2)
    assert statistics.local and statistics.policy == "dws" and statistics.tuples_sent == 0


@pytest.mark.parametrize(
    "text",
    [
        SAME_GENERATION.replace("sg(x: number, y: number)", "sg(x: number, y: number) choice-domain (x, y)"),
        SAME_GENERATION.replace("sg(x: number, y: number)", "sg(x: number, y: number) eqrel"),
    ],
)
def test_what_depends_on_iterations_runs_under_barriers(text):
    arcs = random_arcs(10, 14)
    found, statistics = run(text, arcs, Dws(), 2)
    assert found == run(text, arcs, GLOBAL, 2)[0]
    assert statistics.policy == "global" and statistics.rounds == ()


def test_a_limit_on_rows_runs_under_barriers():
    program = engine.compile([NON_LINEAR_CLOSURE.replace("tc(y, z)", "tc(y, z), !stop(x)") + ".decl stop(x: number)"])
    found = []
    for policy in (GLOBAL, Dws()):
        widening = engine.Widening("tc", [50, 50, 50], "stop", lambda rows: np.unique(rows[:1])[None, :])
        database = engine.facts(program, {"arc": random_arcs(20, 40)})
        result = engine.evaluate(program, database, threads=2, policy=policy, options=FULL_QUEUES, widenings=[widening])
        assert {s.policy for s in result.statistics if s.recursive} == {"global"}
        found.append(tables.decode(program, result, ["tc", "stop"]))
    assert found[0] == found[1]


@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("error", [engine.EvaluationError("no value"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_what_stops_one_worker_stops_all(policy, error, failing, monkeypatch):
    iterate, runs = PartitionOwner.iterate, count()

    def fail(owner):
        iterate(owner)
        if owner.number == failing and next(runs) == 1:
            raise error

    monkeypatch.setattr(PartitionOwner, "iterate", fail)
    with pytest.raises(type(error)):
        run(SAME_GENERATION, random_arcs(30, 60), policy, 2)
