"""The least or greatest value of each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.database import Columns
from engine.kernels.aggregates import lift, lower
from engine.storage.accumulator import Accumulator, AggregatedColumn
from engine.storage.changed_groups import ChangedGroups, grown


class Extremum(Accumulator):
    """The least or greatest values."""

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.improve = lower if spec.kind == "min" else lift

    def reserve(self, n: int) -> None:
        super().reserve(n)
        if n > len(self.best):
            self.best = grown(self.best, n)

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        values = self.values(rows, lo, hi, take)
        to.n = self.improve(values, self.best, groups, hi - lo, known, to.dirty, to.listed, to.n)

    def current(self, groups: np.ndarray) -> np.ndarray:
        return self.best[groups]

    def parts(self, chosen: Sequence[np.ndarray]) -> list[Accumulator]:
        parts = []
        for groups in chosen:
            part = self.empty_part(groups)
            part.best[: len(groups)] = self.best[groups]
            parts.append(part)
        return parts
