"""Aggregates in recursion by exchange: the programs of DCDatalog under SSP and DWS, against plain algorithms."""

import numpy as np
import pytest
from backends import FULL_QUEUES, Backend

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL, Dws, Ssp

RUNS = [(Ssp(0), 2), (Ssp(2), 3), (Dws(), 1), (Dws(), 2), (Dws(), 3)]
N = 30

COMPONENTS = """
.decl arc(x: number, y: number, w: number)
.decl result(x: number, least: number)
result(y, min<y>) :- arc(y, _, _).
result(y, min<z>) :- result(x, z), arc(x, y, _).
"""
SHORTEST_PATHS = """
.decl arc(x: number, y: number, w: number)
.decl result(x: number, d: number)
result(x, min<d>) :- x = 0, d = 0.
result(y, min<d>) :- result(x, c), arc(x, y, w), d = c + w.
"""
ALL_PAIRS = """
.decl arc(x: number, y: number, w: number)
.decl result(x: number, y: number, d: number)
result(x, y, min<d>) :- arc(x, y, d).
result(x, y, min<d>) :- result(x, z, a), result(z, y, b), d = a + b, d < 1000.
"""
PATHS = """
.decl arc(x: number, y: number, w: number)
.decl result(x: number, n: number)
result(x, sum<(x, n)>) :- x = 0, n = 1.
result(y, sum<(x, n)>) :- result(x, n), arc(x, y, _).
"""
ATTEND = """
.decl arc(x: number, y: number, w: number)
.decl result(x: number)
.decl friends(x: number, n: number)
result(x) :- x = range(0, 6).
friends(y, count<x>) :- result(x), arc(x, y, _).
result(x) :- friends(x, n), n >= 2.
"""


def arcs(both_ways=False, forwards=False):
    rng = np.random.default_rng(4)
    found = {(x, y): int(w) for x, y, w in rng.integers(0, N, (70, 3)).tolist() if x != y}
    if forwards:
        found = {(min(x, y), max(x, y)): w for (x, y), w in found.items()}
    if both_ways:
        found |= {(y, x): w for (x, y), w in found.items()}
    return found


def distances(weights):
    """All shortest paths of at least one arc (Floyd and Warshall)."""
    best = dict(weights)
    for z in range(N):
        for x in range(N):
            for y in range(N):
                if (x, z) in best and (z, y) in best:
                    best[x, y] = min(best.get((x, y), 10**9), best[x, z] + best[z, y])
    return best


def components(weights):
    reached = distances(weights)
    return {(x, min(z for z in range(N) if (z, x) in reached)) for x in {x for x, _ in weights}}


def single_source(weights):
    reached = {y: d for (x, y), d in distances(weights).items() if x == 0}
    return {(0, 0)} | {(y, d) for y, d in reached.items() if y}


def path_counts(weights):
    counts = [1] + [0] * (N - 1)
    for y in range(1, N):
        counts[y] = sum(counts[x] for x in range(y) if (x, y) in weights)
    return {(x, n) for x, n in enumerate(counts) if n}


def attendants(weights):
    coming = set(range(6))
    while more := {y for y in range(N) if sum((x, y) in weights for x in coming) >= 2} - coming:
        coming |= more
    return {(x,) for x in coming}


CASES = {
    "components": (COMPONENTS, arcs(both_ways=True), components),
    "shortest paths": (SHORTEST_PATHS, arcs(), single_source),
    "all pairs": (ALL_PAIRS, arcs(), lambda w: {(x, y, d) for (x, y), d in distances(w).items()}),
    "path counts": (PATHS, arcs(forwards=True), path_counts),
    "attend": (ATTEND, arcs(), attendants),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("policy, threads", RUNS, ids=str)
def test_aggregates_are_those_of_plain_algorithms(name, policy, threads):
    text, weights, expected = CASES[name]
    program = engine.compile([text])
    facts = {"arc": {(x, y, w) for (x, y), w in weights.items()}}
    result = Backend(threads, policy, FULL_QUEUES).evaluate(program, facts)
    assert tables.decode(program, result, ["result"])["result"] == expected(weights)
    statistics = next(s for s in result.statistics if s.recursive)
    assert statistics.policy == policy.name and len(statistics.rounds) == threads
    assert (statistics.tuples_sent > 0) == (threads > 1)


def test_sums_of_floats_stay_under_barriers():
    text = PATHS.replace("n: number", "n: float").replace("n = 1", "n = 1.0")
    program = engine.compile([text])
    weights = arcs(forwards=True)
    facts = {"arc": {(x, y, w) for (x, y), w in weights.items()}}
    results = [Backend(2, policy, FULL_QUEUES).evaluate(program, facts) for policy in (GLOBAL, Dws())]
    assert {s.policy for result in results for s in result.statistics if s.recursive} == {"global"}
    for result in results:
        assert tables.decode(program, result, ["result"])["result"] == {(x, float(n)) for x, n in path_counts(weights)}
