"""Brute force: every node hears from all its parents whether anything has changed (Singh et al., section II.C)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from engine.schedule.dag import Dag
from engine.schedule.scheduler import ACTIVE, Scheduler


class SignalPropagation(Scheduler):
    """Sends a signal along every edge: O(V + E) steps, however few nodes are activated.

    A node that has heard from all its parents is ready if it is active, and otherwise tells its children so.
    """

    def __init__(self, dag: Dag) -> None:
        super().__init__(dag)
        self.missing = list(map(len, dag.parents))
        self.ready: deque[int] = deque()

    def begin(self, nodes: Iterable[int]) -> None:
        super().begin(nodes)
        self.settle([node for node in range(self.dag.n) if not self.missing[node]])

    def entered(self, node: int) -> None:
        """It will be looked at when its parents are settled."""

    def finished(self, node: int) -> None:
        self.settle(self.tell(node))

    def settle(self, nodes: list[int]) -> None:
        """Take nodes that have heard from all parents: make the active ones ready, pass by the others."""
        while nodes:
            self.n_steps += 1
            node = nodes.pop()
            if self.states[node] == ACTIVE:
                self.ready.append(node)
            else:
                nodes += self.tell(node)

    def tell(self, node: int) -> list[int]:
        """Send a signal to the children; return those that have heard from all parents by now."""
        for child in self.dag.children[node]:
            self.n_steps += 1
            self.missing[child] -= 1
        return [child for child in self.dag.children[node] if not self.missing[child]]

    def find(self) -> int | None:
        return self.ready.popleft() if self.ready else None

    @property
    def n_cells(self) -> int:
        return self.dag.n + len(self.ready)
