"""Level by level: LevelBased (Singh et al., section III) and LevelBased with look-ahead (section VI.B)."""

from __future__ import annotations

from collections import defaultdict, deque

from engine.schedule.dag import Dag
from engine.schedule.scheduler import ACTIVE, Scheduler

LEVELS_AHEAD = 15
"""Number of levels beyond which results hardly improve (Table II)."""


class LevelBased(Scheduler):
    """Runs what is active on the lowest level that has anything unfinished.

    Nothing unfinished lies above it, so all of that level may run (Lemma 1). With n activated nodes and L levels there
    are at most 4 n + L + 1 steps (Theorem 2); on P workers unit tasks take w/P + L, others w/P + ΣSᵢ, with the longest
    task of each level (Lemmas 3 and 7). Other schedulers may run nodes meanwhile.
    """

    def __init__(self, dag: Dag, states: bytearray | None = None) -> None:
        super().__init__(dag, states)
        self.level = 0
        self.waiting: defaultdict[int, deque[int]] = defaultdict(deque)
        self.n_unfinished: defaultdict[int, int] = defaultdict(int)

    def entered(self, node: int) -> None:
        self.n_steps += 1
        self.waiting[self.dag.levels[node]].append(node)
        self.n_unfinished[self.dag.levels[node]] += 1

    def find(self) -> int | None:
        while self.level < self.dag.n_levels:
            self.n_steps += 1
            node = self.first(self.waiting[self.level])
            if node is not None or self.n_unfinished[self.level]:
                return node
            del self.waiting[self.level], self.n_unfinished[self.level]
            self.level += 1
        return None

    def first(self, queue: deque[int]) -> int | None:
        """Take nodes from a queue up to the first that has not been run meanwhile."""
        while queue:
            node = queue.popleft()
            if self.states[node] == ACTIVE:
                return node
            self.n_steps += 1
        return None

    def finished(self, node: int) -> None:
        self.n_steps += 1
        self.n_unfinished[self.dag.levels[node]] -= 1

    @property
    def n_cells(self) -> int:
        return self.dag.n + sum(map(len, self.waiting.values())) + len(self.n_unfinished)


class LookAhead(LevelBased):
    """LBL(k): when its level has no more, it searches the next k levels for nodes that are not below unfinished ones.

    The search is breadth-first, from all unfinished nodes downwards at once. What it finds stays ready, so it is
    repeated only when a node has ended since.
    """

    def __init__(self, dag: Dag, states: bytearray | None = None, k: int = LEVELS_AHEAD) -> None:
        super().__init__(dag, states)
        self.k = k
        self.unfinished: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.ready: deque[int] = deque()
        self.searched = False

    def entered(self, node: int) -> None:
        super().entered(node)
        self.unfinished[self.dag.levels[node]][node] = None

    def finished(self, node: int) -> None:
        super().finished(node)
        del self.unfinished[self.dag.levels[node]][node]
        self.searched = False

    def find(self) -> int | None:
        node = super().find()
        if node is None:
            node = self.first(self.ready)
        if node is None and not self.searched:
            self.search()
            node = self.first(self.ready)
        return node

    def search(self) -> None:
        """Make ready what is active within the next k levels and not below anything unfinished."""
        self.searched = True
        levels, end = self.dag.levels, min(self.level + self.k + 1, self.dag.n_levels)
        reached: set[int] = set()
        fringe: defaultdict[int, list[int]] = defaultdict(list)
        for level in range(self.level, end):
            self.n_steps += 1 + len(self.unfinished[level])
            free = [node for node in self.unfinished[level] if node not in reached]
            self.ready.extend(node for node in free if self.states[node] == ACTIVE)
            for node in (*free, *fringe.pop(level, ())):
                self.n_steps += len(self.dag.children[node])
                for child in self.dag.children[node]:
                    if levels[child] < end and child not in reached:
                        reached.add(child)
                        fringe[levels[child]].append(child)

    @property
    def n_cells(self) -> int:
        return super().n_cells + sum(map(len, self.unfinished.values())) + len(self.ready)
