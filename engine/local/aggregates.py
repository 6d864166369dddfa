"""Aggregates in a body: for each distinct binding of the outer variables, fold over the bindings of the inner body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.kernels.columns import COUNT, MAX, MIN, SUM, accumulate, compress
from engine.local.operators import Operator, Segment, drive
from engine.storage.keys import HashedKeys

if TYPE_CHECKING:
    from engine.local.team import Worker


class Fold(Operator):
    """Set a register to the aggregate of `value` over the rows that `operators` make from a row's injected registers.

    The operators start from chunks of `segment`: register 0 is the number of a distinct binding (a group), the others
    are the injected values. An empty group has the count and the sum 0, and no other aggregate: its rows are dropped.
    """

    __slots__ = (
        "aggregate",
        "is_float",
        "injected",
        "segment",
        "operators",
        "group",
        "value",
        "register",
        "live",
        "memo",
    )

    def __init__(
        self,
        aggregate: str,
        is_float: bool,
        injected: Sequence[int],
        segment: Segment,
        operators: Sequence[Operator],
        group: int,
        value: int,
        register: int,
        live: Sequence[int],
    ) -> None:
        self.aggregate, self.is_float = aggregate, is_float
        self.injected, self.segment, self.operators = np.array(injected, np.int64), segment, tuple(operators)
        self.group, self.value, self.register = group, value, register
        self.live = np.array(live, np.int64)
        self.memo: tuple[np.ndarray, np.ndarray] | None = None

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        groups = HashedKeys(len(self.injected), chunk.dtype)
        ids = groups.intern(chunk, 0, n, self.injected)
        if self.memo is not None:
            result, present = self.memo
        else:
            result, present = self.fold(worker, groups)
            if not len(self.injected):
                self.memo = result, present
        chunk[self.register, :n] = result[ids]
        return n if present.all() else compress(present[ids], n, chunk, self.live)

    def fold(self, worker: Worker, groups: HashedKeys) -> tuple[np.ndarray, np.ndarray]:
        """Return the aggregate of each group as it stands in a column, and whether it has one."""
        totals = Totals(self, groups.n)
        seeds = worker.buffer(self.segment)
        step = seeds.shape[1]
        for lo in range(0, groups.n, step):
            m = min(step, groups.n - lo)
            seeds[0, :m] = np.arange(lo, lo + m)
            seeds[1 : 1 + len(self.injected), :m] = groups.columns[:, lo : lo + m]
            drive((*self.operators, totals), worker, seeds, m)
        return totals.result()


class Totals(Operator):
    """The sink of a fold: takes rows (group, value) and keeps a total per group."""

    __slots__ = ("fold", "counts", "totals", "floats")

    def __init__(self, fold: Fold, n_groups: int) -> None:
        self.fold = fold
        self.counts = np.zeros(n_groups, np.int64)
        start = {"min": np.iinfo(np.int64).max, "max": np.iinfo(np.int64).min}.get(fold.aggregate, 0)
        if fold.is_float:
            start = {"min": np.inf, "max": -np.inf}.get(fold.aggregate, 0.0)
        self.totals = np.full(n_groups, start, np.float64 if fold.is_float else np.int64)
        self.floats: list[tuple[np.ndarray, np.ndarray]] = []

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        fold, groups = self.fold, chunk[self.fold.group]
        accumulate(COUNT, groups, groups, n, self.counts)
        if fold.aggregate == "count":
            return 0
        values = chunk[fold.value]
        if fold.is_float:
            values = values.view(np.float64)
            if fold.aggregate in ("sum", "mean"):
                self.floats.append((groups[:n].copy(), values[:n].copy()))
                return 0
        accumulate({"min": MIN, "max": MAX}.get(fold.aggregate, SUM), groups, values, n, self.totals)
        return 0

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        if self.floats:
            self._sum_floats()
        aggregate, present = self.fold.aggregate, self.counts > 0
        if aggregate == "count":
            return self.counts, np.ones_like(present)
        if aggregate == "mean":
            return (self.totals / np.maximum(self.counts, 1)).astype(np.float64).view(np.int64), present
        totals = self.totals.view(np.int64)
        return totals, np.ones_like(present) if aggregate == "sum" else present

    def _sum_floats(self) -> None:
        """Sum in the order of the values, so that the order of arrival does not show in the digits."""
        groups, values = (np.concatenate(arrays) for arrays in zip(*self.floats, strict=True))
        order = np.lexsort((values, groups))
        accumulate(SUM, groups[order], values[order], len(order), self.totals)
