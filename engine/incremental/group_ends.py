"""Ends of plans for relations of aggregates: what groups a batch touches, and what contributes to a group."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.evaluation.operators import Operator
from engine.storage.aggregate_partition import AggregatePartition, Shape
from engine.storage.key_tables import HashedKeys

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker


class Gather(Operator):
    """Keeps `n` registers of what is derived."""

    __slots__ = ("take", "gathered", "watch")

    def __init__(self, n: int, watch: Callable[[], None] = lambda: None) -> None:
        self.take, self.gathered, self.watch = np.zeros(n, np.int64), list[Columns](), watch

    def end(self, registers: list[int]) -> Gather:
        """End a plan, whose last registers are BEFORE and AFTER."""
        self.take = np.array(registers[: len(self.take)], np.int64)
        return self

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.watch()
        worker.produced += n
        self.gathered.append(chunk[self.take, :n])
        return 0

    def give(self) -> Columns:
        """Return what has been gathered, and begin again."""
        found, self.gathered = self.gathered, []
        none = np.empty((len(self.take), 0), np.int32)
        return np.ascontiguousarray(np.concatenate([none, *found], axis=1))


class TouchedGroups:
    """The groups that an update touches, each once."""

    def __init__(self, width: int, dtype: np.dtype) -> None:
        self.width, self.dtype, self.lock = width, dtype, Lock()
        self._keys = HashedKeys(width, dtype)

    def add(self, groups: Columns) -> None:
        """Add groups, [width, n]."""
        with self.lock:
            self._keys.intern(np.ascontiguousarray(groups, self.dtype), 0, groups.shape[1], np.arange(self.width))

    def give(self) -> Columns:
        """Return the groups, and begin again."""
        found, self._keys = self._keys, HashedKeys(self.width, self.dtype)
        return np.ascontiguousarray(found.columns[:, : found.n])


class Touch(Operator):
    """Adds the groups of the instantiations that hold in one of two states only."""

    __slots__ = ("groups", "take", "before", "after", "watch")

    def __init__(self, groups: TouchedGroups, watch: Callable[[], None], registers: list[int]) -> None:
        self.groups, self.watch = groups, watch
        *take, self.before, self.after = registers
        self.take = np.array(take, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.watch()
        worker.produced += n
        differs = np.flatnonzero(chunk[self.before, :n] != chunk[self.after, :n])
        self.groups.add(chunk[self.take[:, None], differs])
        return 0


class Contributions:
    """What has contributed to some groups."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._partition = AggregatePartition(shape)

    def add(self, rows: Columns) -> None:
        """Add contributions, [width, n] (see `Shape`)."""
        contributed = np.ascontiguousarray(rows, self.shape.dtype)
        self._partition.insert(contributed, 0, contributed.shape[1], np.arange(self.shape.width))

    def give(self) -> Columns:
        """Return a row for each group, and begin again."""
        found, self._partition = self._partition, AggregatePartition(self.shape)
        found.take_changes()
        return found.shown()


class Contribute(Operator):
    """Adds contributions."""

    __slots__ = ("to", "take", "watch")

    def __init__(self, to: Contributions, watch: Callable[[], None], take: list[int]) -> None:
        self.to, self.watch, self.take = to, watch, np.array(take, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.watch()
        worker.produced += n
        self.to.add(chunk[self.take, :n])
        return 0
