"""Aggregates in a body: for each distinct binding of the outer variables, fold over the bindings of the inner body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.evaluation.operators import Operator, Segment, drive
from engine.evaluation.vectorized_functors import Functors, native
from engine.kernels.columns import COUNT, MAX, MIN, SUM, accumulate, compress
from engine.storage.key_tables import HashedKeys

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker


@dataclass
class Aggregate:
    """A fold: the aggregate's name, the kind of the values folded, and the functors that decode them."""

    name: str
    kind: str
    functors: Functors

    @property
    def of_empty(self) -> bool:
        """True if there is a value for no bindings at all: the count and the sum are 0."""
        return self.name in ("count", "sum")


@dataclass
class Fold(Operator):
    """Set a register to the aggregate of the rows that `operators` make from a row's injected registers.

    The operators start from chunks of `segment`: register 0 is the number of a distinct binding (a group), the others
    are the injected values. They end with rows that have the group in register `group` and the value in `value`.
    Rows whose group has no value are dropped. If there are registers `distinct_on`, rows that agree on them count once.
    """

    aggregate: Aggregate
    injected: np.ndarray
    segment: Segment
    operators: Sequence[Operator]
    group: int
    value: int
    register: int
    live: np.ndarray
    distinct_on: np.ndarray
    memo: tuple[np.ndarray, np.ndarray] | None = None

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        groups = HashedKeys(len(self.injected), chunk.dtype)
        ids = groups.intern(chunk, 0, n, self.injected)
        result, present = self.memo or self.fold(worker, groups)
        if not len(self.injected):
            self.memo = result, present
        chunk[self.register, :n] = result[ids]
        if self.aggregate.of_empty or present.all():
            return n
        return compress(present[ids], n, chunk, self.live)

    def fold(self, worker: Worker, groups: HashedKeys) -> tuple[np.ndarray, np.ndarray]:
        """Return the aggregate of each group as it stands in a column, and whether it had any rows."""
        totals = Totals(self.group, self.value, self.aggregate, groups.n)
        ends = (Apart(self.distinct_on, (self.group, self.value)), totals) if len(self.distinct_on) else (totals,)
        seeds = worker.buffer(self.segment)
        step = seeds.shape[1]
        for lo in range(0, groups.n, step):
            m = min(step, groups.n - lo)
            seeds[0, :m] = np.arange(lo, lo + m)
            seeds[1 : 1 + len(self.injected), :m] = groups.columns[:, lo : lo + m]
            drive((*self.operators, *ends), worker, seeds, m)
        return totals.result(), totals.counts > 0


class Apart(Operator):
    """Keeps the first of all rows that agree on some registers."""

    def __init__(self, take: np.ndarray, live: Sequence[int]) -> None:
        self.take, self.live = take, np.array(live, np.int64)
        self.keys: HashedKeys | None = None

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.keys = self.keys or HashedKeys(len(self.take), chunk.dtype)
        last = self.keys.n - 1
        ids = np.maximum(self.keys.intern(chunk, 0, n, self.take), last)
        return compress(np.diff(np.maximum.accumulate(ids), prepend=last) > 0, n, chunk, self.live)


class Totals(Operator):
    """The sink of a fold: takes rows with a group and a value, in these registers, and folds the values of each group.

    Integers are folded on arrival. Floats and symbols are kept, to be folded in the order of their values: the order of
    arrival shows neither in the digits of a sum nor anywhere else.
    """

    def __init__(self, group: int, value: int, aggregate: Aggregate, n_groups: int) -> None:
        self.group, self.value, self.aggregate = group, value, aggregate
        self.counts = np.zeros(n_groups, np.int64)
        limits = np.iinfo(np.int64)
        start = {"min": limits.max, "max": limits.min}.get(self.aggregate.name, 0)
        self.totals = np.full(n_groups, start, np.int64)
        self.on_arrival = self.aggregate.kind in ("number", "unsigned") and self.aggregate.name != "mean"
        self.kept: list[tuple[np.ndarray, np.ndarray]] = []

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        groups, values, name = chunk[self.group], chunk[self.value], self.aggregate.name
        accumulate(COUNT, groups, groups, n, self.counts)
        if name == "count":
            return 0
        if self.on_arrival:
            accumulate({"min": MIN, "max": MAX}.get(name, SUM), groups, values, n, self.totals)
        else:
            self.kept.append((groups[:n].copy(), values[:n].copy()))
        return 0

    def result(self) -> np.ndarray:
        name, kind, functors = self.aggregate.name, self.aggregate.kind, self.aggregate.functors
        if name == "count":
            return functors.wrap(self.counts, "number")
        if self.on_arrival:
            return functors.wrap(self.totals.view(np.uint64) if kind == "unsigned" else self.totals, kind)
        if not self.kept:
            return self.totals
        groups, values = (np.concatenate(arrays) for arrays in zip(*self.kept, strict=True))
        if kind == "symbol":
            return self.fold_symbols(groups, values)
        numbers = native(values, kind).astype(np.float64)
        order = np.lexsort((numbers, groups))
        return functors.wrap(self.fold_floats(groups[order], numbers[order]), "float")

    def fold_floats(self, groups: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Fold floats sorted by group and value."""
        name, totals = self.aggregate.name, np.zeros(len(self.counts))
        if name in ("sum", "mean"):
            accumulate(SUM, groups, values, len(groups), totals)
            return totals / np.maximum(self.counts, 1) if name == "mean" else totals
        present, starts = np.unique(groups, return_index=True)
        totals[present] = (np.minimum if name == "min" else np.maximum).reduceat(values, starts)
        return totals

    def fold_symbols(self, groups: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Fold symbols by their rank in the order of texts."""
        ids = np.unique(values)
        texts = self.aggregate.functors.symbols.texts(ids)
        by_rank = sorted(range(len(ids)), key=texts.__getitem__)
        ranks = np.empty(len(ids), np.int64)
        ranks[by_rank] = np.arange(len(ids))
        kind = MIN if self.aggregate.name == "min" else MAX
        accumulate(kind, groups, ranks[np.searchsorted(ids, values)], len(groups), self.totals)
        best = np.where(self.counts > 0, self.totals, 0)
        return ids[np.array(by_rank)[best]]
