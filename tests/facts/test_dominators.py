"""Dominators and dominance frontiers against their definitions, on random graphs."""

import random

import pytest

from facts.dominators import DominatorTree, Nearest, immediate_dominators


def reached(successors, without=-1):
    found, work = set(), [0] if without != 0 else []
    while work:
        node = work.pop()
        if node not in found and node != without:
            found.add(node)
            work += successors[node]
    return found


def by_definition(successors):
    """d dominates n if n is not reached without d; the immediate dominator is dominated by all other dominators."""
    nodes = reached(successors)
    dominators = {node: {d for d in nodes if d == node or node not in reached(successors, d)} for node in nodes}
    result = [-1] * len(successors)
    for node in nodes - {0}:
        strict = dominators[node] - {node}
        result[node] = max(strict, key=lambda d: len(dominators[d]))
    return result


@pytest.mark.parametrize("seed", range(200))
def test_random_graphs(seed):
    source = random.Random(seed)
    size = source.randint(1, 12)
    successors = [source.sample(range(size), min(size, source.choice([0, 1, 1, 2, 2, 3]))) for _ in range(size)]
    assert immediate_dominators(successors) == by_definition(successors)


def test_a_long_chain_with_one_exit_takes_no_recursion():
    size = 50_000
    successors = [[node + 1, size] for node in range(size)] + [[]]
    assert immediate_dominators(successors) == [-1, *range(size - 1), 0]


def iterated_by_definition(successors, nodes):
    """The frontier of n: nodes with a predecessor that n dominates, and that n does not dominate strictly. Node 0 is an
    entry, and so is every node that is not reached.
    """
    entries = [0]
    for node in [*uncalled(successors), *range(len(successors))]:
        if node not in reached_from(successors, entries):
            entries.append(node)
    rooted = [[entry + 1 for entry in entries], *([target + 1 for target in targets] for targets in successors)]
    dominated = {node: reached(rooted) - reached(rooted, node + 1) for node in range(len(successors))}
    frontier = {
        node: {
            target
            for source, targets in enumerate(successors)
            for target in targets
            if source + 1 in dominated[node] and (target == node or target + 1 not in dominated[node])
        }
        for node in range(len(successors))
    }
    found, work = set(), list(nodes)
    while work:
        new = frontier[work.pop()] - found
        found |= new
        work += new
    nearest = {}
    for node in range(len(successors)):
        above = [d for d in nodes if node + 1 in dominated[d]]
        nearest[node] = max(above, key=lambda d: sum(d + 1 in dominated[e] for e in above), default=len(successors))
    return found, nearest


def uncalled(successors):
    return [node for node in range(len(successors)) if all(node not in targets for targets in successors)]


def reached_from(successors, entries):
    return {node - 1 for node in reached([[e + 1 for e in entries], *([t + 1 for t in ts] for ts in successors)])}


@pytest.mark.parametrize("seed", range(200))
def test_frontiers_and_nearest_definitions_of_random_graphs(seed):
    source = random.Random(seed)
    size = source.randint(1, 12)
    successors = [source.sample(range(size), min(size, source.choice([0, 1, 1, 2, 2, 3]))) for _ in range(size)]
    nodes = source.sample(range(size), source.randint(0, min(3, size)))
    tree = DominatorTree(successors)
    frontier, nearest = iterated_by_definition(successors, nodes)
    assert tree.iterated_frontier(nodes, tree.root) == frontier
    if nodes:
        top = tree.above_all(nodes)
        assert tree.iterated_frontier(nodes, top) == {node for node in frontier if tree.level[node] > tree.level[top]}
    found = Nearest(tree, nodes)
    assert {node: found.above(node) for node in range(size)} == nearest
