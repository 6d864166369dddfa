"""Directed acyclic graphs and their levels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from engine.schedule.ancestors import Ancestors


class Dag:
    """A directed acyclic graph on the nodes 0 … n - 1.

    `children` and `parents` are the neighbours of each node in increasing order. The level of a node is the length of
    the longest path to it from a source, a node without parents. All take O(V + E) (Singh et al., section VI.A).

    Levels and ancestors depend on the graph alone: all schedulers made for it share them. Raises ValueError if there is
    a cycle.
    """

    def __init__(self, n: int, edges: Iterable[tuple[int, int]]) -> None:
        self.n = n
        children: list[list[int]] = [[] for _ in range(n)]
        parents: list[list[int]] = [[] for _ in range(n)]
        for above, below in sorted(set(edges)):
            children[above].append(below)
            parents[below].append(above)
        self.children, self.parents = children, parents
        self.levels = self._levels()
        self.n_levels = max(self.levels, default=-1) + 1

    def extended(self, parents: Sequence[Collection[int]]) -> Dag:
        """Return the graph with further nodes, given by their parents: nodes of this graph, and further ones before."""
        made = Dag(0, ())
        made.n = self.n + len(parents)
        made.children, made.parents, made.levels = [*self.children], [*self.parents], [*self.levels]
        for node, above in enumerate(parents, self.n):
            for parent in above:
                made.children[parent] = [*made.children[parent], node]
            made.children.append([])
            made.parents.append(sorted(above))
            made.levels.append(max((made.levels[parent] + 1 for parent in above), default=0))
        made.n_levels = max(made.levels, default=-1) + 1
        return made

    @property
    def n_edges(self) -> int:
        return sum(map(len, self.children))

    @cached_property
    def ancestors(self) -> Ancestors:
        """The ancestors of all nodes, made when they are first asked for."""
        return Ancestors(self)

    def _levels(self) -> list[int]:
        """Take off the nodes without parents, level by level (Kahn, 1962)."""
        levels, missing = [0] * self.n, list(map(len, self.parents))
        ready = [node for node in range(self.n) if not missing[node]]
        for node in ready:
            for child in self.children[node]:
                levels[child] = max(levels[child], levels[node] + 1)
                missing[child] -= 1
                if not missing[child]:
                    ready.append(child)
        if len(ready) < self.n:
            raise ValueError("the graph has a cycle")
        return levels
