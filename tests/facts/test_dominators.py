"""Immediate dominators against their definition, on random graphs."""

import random

import pytest

from facts.dominators import immediate_dominators


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
