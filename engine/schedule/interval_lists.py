"""The scheduler of LogicBlox, as Singh et al. describe it (section VI.B): ancestors looked up in interval lists."""

from __future__ import annotations

from collections import deque

import numpy as np

from engine.schedule.ancestors import Ancestors
from engine.schedule.dag import Dag
from engine.schedule.scheduler import ACTIVE, Scheduler


class IntervalList(Scheduler):
    """A scheduler that, when nothing is ready, asks for each active node if any unfinished one is its ancestor.

    No worker is idle while a node could run. A scan makes O(n²) queries, all of them O(n³); it is repeated only when a
    node has ended since. `ancestors` are those of the graph, if they are not to be shared.
    """

    def __init__(self, dag: Dag, states: bytearray | None = None, ancestors: Ancestors | None = None) -> None:
        super().__init__(dag, states)
        self._ancestors = ancestors
        self.active: list[int] = []
        self.unfinished: dict[int, None] = {}
        self.ready: deque[int] = deque()
        self.scanned = False

    @property
    def ancestors(self) -> Ancestors:
        return self._ancestors or self.dag.ancestors

    def entered(self, node: int) -> None:
        self.n_steps += 1
        self.active.append(node)
        self.unfinished[node] = None

    def finished(self, node: int) -> None:
        self.n_steps += 1
        del self.unfinished[node]
        self.scanned = False

    def find(self) -> int | None:
        if not self.ready and not self.scanned:
            self.scan()
        while self.ready:
            self.n_steps += 1
            node = self.ready.popleft()
            if self.states[node] == ACTIVE:
                return node
        return None

    def scan(self) -> None:
        """Make ready what is active and not below anything unfinished; the others stay in the queue."""
        self.scanned = True
        self.n_steps += len(self.active)
        active, self.active = [node for node in self.active if self.states[node] == ACTIVE], []
        if not active:
            return
        numbers = np.array([self.ancestors.numbers[node] for node in self.unfinished], np.int64)
        for node in active:
            (self.active if self.is_below(node, numbers) else self.ready).append(node)

    def is_below(self, node: int, numbers: np.ndarray) -> bool:
        """Ask for one number after the other whether it is of an ancestor, up to the first that is."""
        above = self.ancestors.has(node, numbers)
        found = bool(above.any())
        self.n_queries += int(above.argmax()) + 1 if found else len(numbers)
        return found

    @property
    def n_cells(self) -> int:
        return self.dag.n + 2 * self.ancestors.n_intervals + len(self.active) + len(self.unfinished) + len(self.ready)
