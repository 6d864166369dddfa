"""Job traces: made to the statistics of Table I of Singh et al. (2020), and the tight example of Figure 2."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from simulation import Trace

from engine.schedule.dag import Dag

SPREAD = 1.5
"""Times of tasks are lognormal with this standard deviation of the logarithm: the paper gives none."""
REACH = 3.2
"""So many times the active nodes lie below the initial ones, as said of trace 1: 1,680 of which 532 are activated."""
TRIES = 40
FAMILY_NODES = 400


@dataclass(frozen=True)
class Statistics:
    """A column of Table I."""

    n_nodes: int
    n_edges: int
    n_initial: int
    n_active: int
    n_levels: int


TABLE_1 = {
    1: Statistics(64910, 101327, 5, 532, 171),
    2: Statistics(64903, 101319, 16, 1936, 171),
    3: Statistics(29185, 41506, 76, 560, 149),
    4: Statistics(64507, 100779, 26, 1342, 171),
    5: Statistics(1719, 2430, 6, 296, 39),
    6: Statistics(379500, 557702, 125544, 126979, 11),
    7: Statistics(35283, 50511, 76, 645, 198),
    8: Statistics(35283, 50511, 9, 177, 198),
    9: Statistics(65541, 102219, 10, 111, 171),
    10: Statistics(65541, 102219, 16, 1936, 171),
    11: Statistics(465127, 465158, 131104, 132162, 5),
}


def of_table_1(number: int) -> Trace:
    """Return a trace with exactly the numbers of a column of Table I."""
    wanted, rng = TABLE_1[number], np.random.default_rng(number)
    widths = level_widths(wanted)
    edges = random_edges(wanted, widths, rng)
    dag = Dag(wanted.n_nodes, map(tuple, edges.tolist()))
    initial, activates = activation(dag, widths[0], wanted, rng)
    times = dict(zip(range(dag.n), rng.lognormal(0, SPREAD, dag.n).tolist(), strict=True))
    return Trace(dag, initial, activates, times)


def level_widths(wanted: Statistics) -> np.ndarray:
    """How many nodes are on each level: fewer and fewer, but at least one and enough sources to begin at."""
    shape = np.exp(-np.arange(wanted.n_levels) / (wanted.n_levels / 3))
    first = min(wanted.n_nodes - wanted.n_levels, wanted.n_initial * 5 // 4)
    widths = np.maximum(1, (shape / shape.sum() * wanted.n_nodes).astype(np.int64))
    if widths[0] < first:
        rest = shape[1:] / shape[1:].sum() * (wanted.n_nodes - first)
        widths = np.maximum(1, np.concatenate([[first], rest]).astype(np.int64))
    widths[0] += wanted.n_nodes - widths.sum()
    return widths


def random_edges(wanted: Statistics, widths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One parent on the level before for each node, then further edges downwards, from nodes that lie near.

    Nodes are numbered level by level; those of a level lie side by side. They are parted into families, between
    which there are edges only where a level is narrow: so intervals are compact, as the paper finds them.
    """
    begin = np.concatenate([[0], np.cumsum(widths)])
    level = np.repeat(np.arange(len(widths)), widths)
    place = (np.arange(wanted.n_nodes) - begin[level] + 0.5) / widths[level]
    n_families = max(1, wanted.n_nodes // FAMILY_NODES)
    family = (place * n_families).astype(np.int64)

    def near(nodes: np.ndarray, levels: np.ndarray) -> np.ndarray:
        """A node on another level of the family of each node, at about the same place."""
        first = np.minimum(-(-family[nodes] * widths[levels] // n_families), widths[levels] - 1)
        last = np.maximum(first, -(-(family[nodes] + 1) * widths[levels] // n_families) - 1)
        at = (place[nodes] * widths[levels]).astype(np.int64) + rng.integers(-1, 2, len(nodes))
        return begin[levels] + np.clip(at, first, last)

    below = np.arange(widths[0], wanted.n_nodes)
    found = {*zip(near(below, level[below] - 1).tolist(), below.tolist(), strict=True)}
    edges = list(found)
    while len(edges) < wanted.n_edges:
        nodes = rng.choice(below, wanted.n_edges - len(edges))
        up = np.minimum(level[nodes], rng.geometric(0.5, len(nodes)))
        for edge in zip(near(nodes, level[nodes] - up).tolist(), nodes.tolist(), strict=True):
            if edge not in found:
                found.add(edge)
                edges.append(edge)
    return np.array(edges)


def activation(
    dag: Dag, n_sources: int, wanted: Statistics, rng: np.random.Generator
) -> tuple[list[int], dict[int, Sequence[int]]]:
    """Choose sources with enough below them, and edges along which changes pass, until just enough is active."""
    n_below = wanted.n_active - wanted.n_initial
    choices = [rng.choice(n_sources, wanted.n_initial, replace=False) for _ in range(TRIES if n_below > 100 else 1)]
    reaches = [(nodes.tolist(), descendants(dag, nodes.tolist())) for nodes in choices]
    initial, order = min(reaches, key=lambda found: (len(found[1]) < n_below, abs(len(found[1]) - REACH * n_below)))
    if len(order) < n_below:
        raise ValueError(f"only {len(order)} nodes lie below the initial ones")
    passing = {node: rng.random(len(dag.children[node])) for node in (*initial, *order)}
    # A node is activated if changes pass along the edges up to its number: that of its easiest path, by its worst edge.
    numbers = dict.fromkeys(initial, 0.0)
    for node in (*initial, *order):
        for child, passes in zip(dag.children[node], passing[node].tolist(), strict=True):
            numbers[child] = min(numbers.get(child, 1.0), max(numbers[node], passes))
    # Among equals what stands higher comes first, so that no node is without one that activates it.
    active = sorted(numbers, key=lambda node: (numbers[node], node))[: wanted.n_active]
    kept, most = set(active), numbers[active[-1]]
    activates = {
        node: [c for c, p in zip(dag.children[node], passing[node].tolist(), strict=True) if p <= most and c in kept]
        for node in active
    }
    return initial, activates


def descendants(dag: Dag, nodes: Sequence[int]) -> list[int]:
    """The nodes below some sources, level by level."""
    found, stack = set(), list(nodes)
    while stack:
        for child in dag.children[stack.pop()]:
            if child not in found:
                found.add(child)
                stack.append(child)
    return sorted(found)


def tight(n_levels: int) -> Trace:
    """Figure 2: unit tasks j₁ → … → j_L, and below each jᵢ₋₁ a task kᵢ that takes L - i + 1; all are activated."""
    j = {i: i - 1 for i in range(1, n_levels + 1)}
    k = {i: n_levels + i - 2 for i in range(2, n_levels + 1)}
    edges = [(j[i - 1], below) for i in range(2, n_levels + 1) for below in (j[i], k[i])]
    dag = Dag(2 * n_levels - 1, edges)
    times = {node: 1 for node in j.values()} | {node: n_levels - i + 1 for i, node in k.items()}
    return Trace(dag, [j[1]], dict(enumerate(dag.children)), times)
