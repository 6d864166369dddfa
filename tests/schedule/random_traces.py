"""Random graphs with random changes, and what holds of them by definition."""

import hypothesis.strategies as st
from simulation import Trace

from engine.schedule.dag import Dag


@st.composite
def traces(draw, longest: int = 20) -> Trace:
    """A graph of up to 14 nodes; any nodes are activated at first, and any part of a node's children by it."""
    n = draw(st.integers(1, 14))
    names = draw(st.permutations(range(n)))
    pairs = [(names[i], names[j]) for i in range(n) for j in range(i + 1, n)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    dag = Dag(n, edges)
    initial = draw(st.lists(st.integers(0, n - 1), max_size=5))
    activates = {
        node: draw(st.lists(st.sampled_from(children), max_size=len(children)))
        for node, children in enumerate(dag.children)
        if children
    }
    return Trace(dag, initial, activates, {node: draw(st.integers(1, longest)) for node in range(n)})


def ancestors(dag: Dag) -> list[set[int]]:
    """The ancestors of each node, by the definition."""
    above = [set(parents) for parents in dag.parents]
    for _ in range(dag.n):
        above = [nodes.union(*(above[node] for node in nodes)) for nodes in above]
    return above


def longest_of_levels(trace: Trace) -> list[int]:
    """The longest task among the active ones of each level that has any."""
    active = trace.active()
    by_level: dict[int, int] = {}
    for node in active:
        level = trace.dag.levels[node]
        by_level[level] = max(by_level.get(level, 0), trace.times[node])
    return list(by_level.values())


def critical_path(trace: Trace) -> int:
    """The longest chain of active tasks each of which lies below the one before it."""
    above, ends = ancestors(trace.dag), {}
    for node in sorted(trace.active(), key=trace.dag.levels.__getitem__):
        ends[node] = trace.times[node] + max((ends[a] for a in above[node] if a in ends), default=0)
    return max(ends.values(), default=0)
