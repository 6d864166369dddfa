"""The interface of schedulers, and the states of nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from engine.schedule.dag import Dag

IDLE, ACTIVE, RUNNING, DONE = range(4)
"""A node is idle until it is activated, and unfinished until it is done."""


class Scheduler(ABC):
    """Says which activated nodes may run.

    It is told which nodes are activated at first (`begin`), is asked for one that an idle worker may run (`next`), and
    is told of its end with the children that its changed output activates (`complete`). A node is handed out once, when
    no ancestor of it is unfinished: then none can be activated any more, and its inputs are what they will be. While
    nodes are unfinished and none is running, `next` finds one. There are no threads and no clocks in here, and the same
    calls get the same answers.

    `n_messages` counts activations told, repeated ones included, `n_steps` what is done with nodes and levels then,
    and `n_queries` whether one node is an ancestor of another. `n_cells` is the memory taken, in numbers held. Several
    schedulers that look after the same nodes share `states`.
    """

    n_steps = 0
    n_queries = 0

    def __init__(self, dag: Dag, states: bytearray | None = None) -> None:
        self.dag = dag
        self.states = bytearray(dag.n) if states is None else states
        self.n_messages = 0

    def begin(self, nodes: Iterable[int]) -> None:
        """Take in the nodes that are activated at first."""
        self._activate(nodes)

    def next(self) -> int | None:
        """Return a node to run; None if there is none before another one is complete."""
        node = self.find()
        if node is not None:
            self.states[node] = RUNNING
        return node

    def complete(self, node: int, activated: Iterable[int] = ()) -> None:
        """Take in the end of a node and those of its children whose input it has changed."""
        self.states[node] = DONE
        self._activate(activated)
        self.finished(node)

    def _activate(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            self.n_messages += 1
            if self.states[node] == IDLE:
                self.states[node] = ACTIVE
                self.entered(node)
            elif self.states[node] != ACTIVE:
                raise ValueError(f"node {node} is activated after it has begun")

    @abstractmethod
    def entered(self, node: int) -> None:
        """A node has been activated."""

    @abstractmethod
    def find(self) -> int | None:
        """Return an active node without unfinished ancestors, if one is found."""

    @abstractmethod
    def finished(self, node: int) -> None:
        """A node is done, and its children know."""

    @property
    @abstractmethod
    def n_cells(self) -> int: ...
