"""Two schedulers side by side: Hybrid (Singh et al., section V) and A′ (Theorem 10)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from engine.schedule.ancestors import OverBudget
from engine.schedule.dag import Dag
from engine.schedule.interval_lists import IntervalList
from engine.schedule.level_based import LevelBased
from engine.schedule.scheduler import Scheduler


class Hybrid(Scheduler):
    """LevelBased and a heuristic look after the same nodes, each for what it knows to be ready.

    Levels are asked first, which costs next to nothing; the heuristic searches only when a worker would be idle. What
    that costs is not bounded by what the levels alone would have taken, as it is for `Raced`.
    """

    def __init__(self, dag: Dag, heuristic: Callable[[Dag, bytearray], Scheduler] = IntervalList) -> None:
        super().__init__(dag)
        self.parts = LevelBased(dag, self.states), heuristic(dag, self.states)

    def entered(self, node: int) -> None:
        for part in self.parts:
            part.entered(node)

    def finished(self, node: int) -> None:
        for part in self.parts:
            part.finished(node)

    def find(self) -> int | None:
        return next((node for part in self.parts if (node := part.find()) is not None), None)

    @property
    def n_steps(self) -> int:
        return sum(part.n_steps for part in self.parts)

    @property
    def n_queries(self) -> int:
        return sum(part.n_queries for part in self.parts)

    @property
    def n_cells(self) -> int:
        return sum(part.n_cells for part in self.parts)


class Raced:
    """A′: LevelBased and a heuristic each run everything, on half of the processors, until one of them is done.

    Half of P processors can do the work of P at half the speed, so it takes at most twice as long as the better of
    the two. When the heuristic takes more than half of `max_cells` it is dropped, and LevelBased has all processors:
    then it takes at most twice as long as LevelBased alone. Each must be able to run a node without the other noticing.
    """

    def __init__(self, dag: Dag, heuristic: Callable[[Dag, int], Scheduler], max_cells: int) -> None:
        self.max_cells = max_cells // 2
        self.levels = LevelBased(dag)
        try:
            self.heuristic: Scheduler | None = heuristic(dag, self.max_cells)
        except OverBudget:
            self.heuristic = None

    def shares(self) -> dict[Scheduler, Fraction]:
        """Return the part of the processors that each scheduler has; one that is dropped does not come back."""
        if self.heuristic is not None and self.heuristic.n_cells > self.max_cells:
            self.heuristic = None
        if self.heuristic is None:
            return {self.levels: Fraction(1)}
        return {self.heuristic: Fraction(1, 2), self.levels: Fraction(1, 2)}
