"""Recently derived rows of a worker: partial aggregation before rows are distributed.

Of rows of a plain relation, those derived lately need not be sent again (the existence cache of Wu et al., DCDatalog,
SIGMOD 2022, §6.2.2). Of contributions to an aggregate, those that are no better than one sent before, from the same
contributor to the same group, change nothing, and a better one takes the place of one that has not left (§5.2.3, §6.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.database import Columns
from engine.kernels.aggregates import bounds
from engine.kernels.distribution import send_best, send_better, send_new
from engine.storage.accumulator import AggregatedColumn
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.relation import Relation

SLOTS = 1 << 17
"""Number of slots; they take 1 MiB, the size of an L2 cache. Unused slots take no memory."""
MAX_NUMBER = 1 << 22
"""AggregatePartition that are numbers below are looked up in an array."""
WATCHED_ROWS = 1 << 18
"""Number of rows that fill a cache; it is judged only after that."""


class Boxes(NamedTuple):
    """Rows on their way, [partition, column, room], how many there are, and how often each box was emptied, plus 1."""

    rows: np.ndarray
    counts: np.ndarray
    deliveries: np.ndarray


class SendCache:
    """A cache in front of the boxes of a channel. It `pays` as long as it keeps one row in four out of them.

    That is looked at from time to time.
    """

    def __init__(self) -> None:
        self.n_offered = self.n_kept = 0
        self.pays = True

    def send(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray, boxes: Boxes) -> int:
        """Put what others need of `rows[take, lo:hi]` into boxes; return the first row whose box is full, or hi."""
        before = boxes.counts.sum()
        at = self.choose(rows, lo, hi, take, parts, boxes)
        self.n_offered += at - lo
        self.n_kept += int(boxes.counts.sum() - before)
        if self.n_offered >= WATCHED_ROWS:
            self.pays = 4 * self.n_kept <= 3 * self.n_offered
            self.n_offered = self.n_kept = 0
        return at

    def choose(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray, boxes: Boxes) -> int:
        raise NotImplementedError


def send_cache_for(relation: Relation) -> SendCache | None:
    """Return the cache for what is derived for a relation; rows of no columns need none."""
    if not isinstance(relation, AggregateRelation):
        return KnownRows(relation.arity, relation.dtype) if relation.arity else None
    shape = relation.shape
    if len(shape.aggregated) > 1:
        return KnownRows(shape.width, shape.dtype)
    column = shape.aggregated[0]
    if shape.width == 2 and shape.dtype == np.int32:
        return BestByNumber(column)
    return BestValues(column, shape.width)


class KnownRows(SendCache):
    """Rows that have been sent."""

    def __init__(self, width: int, dtype: np.dtype) -> None:
        super().__init__()
        self.held = np.zeros((SLOTS, width), dtype)
        self.held[0] = 1

    def choose(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray, boxes: Boxes) -> int:
        return send_new(rows, lo, hi, take, parts, 0, boxes.rows, boxes.counts, self.held)


class BestValues(SendCache):
    """For each group and contributor the best value that has been sent; sums take a contributor's greatest."""

    def __init__(self, column: AggregatedColumn, width: int) -> None:
        super().__init__()
        self.column, self.native, self.least = column.column, column.native, column.kind == "min"
        self.key = np.array([c for c in range(width) if c != column.column], np.int64)
        self.held, self.best = np.zeros((SLOTS, width + 1), column.dtype), np.empty(SLOTS, self.native)

    def choose(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray, boxes: Boxes) -> int:
        values, waiting = rows[take[self.column]].view(self.native), boxes.rows[:, self.column].view(self.native)
        key = take[self.key]
        args = (rows, values, lo, hi, take, key, self.least, parts, 0, boxes.rows, waiting, boxes.counts)
        return send_better(*args, boxes.deliveries, self.held, self.best)


class BestByNumber(SendCache):
    """For each group that is one number, and not a large one, the best value that has been sent.

    Groups without any have `worst`, a value that is sent whenever it comes. Other numbers go through `sparse`.
    """

    def __init__(self, column: AggregatedColumn) -> None:
        super().__init__()
        self.column, self.least = column, column.kind == "min"
        self.worst = np.iinfo(np.int32).max if self.least else np.iinfo(np.int32).min
        self.best = np.empty(0, np.int32)
        self.sparse: BestValues | None = None

    def choose(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray, boxes: Boxes) -> int:
        keys, values = rows[take[1 - self.column.column]], rows[take[self.column.column]]
        if self.sparse is None and not self.accepts(keys, lo, hi):
            self.sparse = BestValues(self.column, 2)
        if self.sparse is not None:
            return self.sparse.choose(rows, lo, hi, take, parts, boxes)
        args = (keys, values, rows, lo, hi, take, self.least, self.worst, parts, 0, boxes.rows, boxes.counts)
        return send_best(*args, self.best)

    def accepts(self, keys: np.ndarray, lo: int, hi: int) -> bool:
        """Make room for some groups, if they are small numbers."""
        least, greatest = bounds(keys, lo, hi)
        if least < 0 or greatest >= MAX_NUMBER:
            return False
        if greatest >= len(self.best):
            known, self.best = self.best, np.full(max(greatest + 1, 2 * len(self.best)), self.worst, np.int32)
            self.best[: len(known)] = known
        return True
