"""Relations that are kept up to date: each tuple with its iteration and the number of its supports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.database import Columns
from engine.kernels.hashing import find_rows, intern_rows
from engine.kernels.ranks import ABSENT, differing, enter
from engine.storage.relation import Relation
from engine.storage.tables import RowTable

NONE = np.empty(0, np.int32)


WORKING = ("pending", "marked", "touched")
"""The arrays by id that are in use while an update goes on; there are zeros in them before, or nothing of use."""


class Tracked(Relation):
    """Tuples that are or have been there; the last column of a row is its position, the tuple's id.

    For each id, `later` is the iteration of its first derivation in the state that is being made, ABSENT if it has
    none, `earlier` that in the state before, and `count` its supports: the derivations in that iteration (Zhao et al.,
    §3.1, which keeps these two numbers). A given fact has the iteration 0. `width` is the arity without the id. Ids
    stay as they are: a tuple that goes leaves its row behind.
    """

    splits = False

    def __init__(self, name: str, width: int, dtype: np.dtype) -> None:
        self.width = width
        super().__init__(name, width + 1, dtype)
        self.group = tuple(range(width))

    def clear(self) -> None:
        """Forget all tuples and arrangements."""
        super().clear()
        self.table = RowTable()
        self.earlier, self.later = np.full(64, ABSENT, np.int32), np.full(64, ABSENT, np.int32)
        self.count, self.pending = np.zeros(64, np.int32), np.zeros(64, np.int32)
        self.marked, self.touched, self.n_touched = np.zeros(64, np.bool_), np.empty(64, np.int32), 0
        self.log: list[tuple[np.ndarray, np.ndarray]] = []
        self.changed = NONE
        """The ids of the tuples whose iteration is another than in the state before, once the stratum is done."""

    # ---- tuples and ids

    @property
    def n_ids(self) -> int:
        return self.partitions[0].n

    def ids_of(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the first n rows on the columns `take`, -1 for those that have never been there."""
        ids = np.empty(n, np.int32)
        find_rows(self.table.slots, rows, n, take, self.partitions[0].rows[: self.width], ids)
        return ids

    def intern(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of the first n rows on the columns `take`; new ones are absent for now."""
        store, ids, at = self.partitions[0], np.empty(n, np.int32), 0
        begin = store.n
        while True:
            limit = min(store.rows.shape[1], self.table.limit)
            at, store.n = intern_rows(
                self.table.slots, limit, rows, at, n, take, store.rows[: self.width], store.n, ids[at:]
            )
            if at == n:
                break
            if self.table.is_full(store.n):
                self.table = self.table.grown(store.rows, store.n)
            else:
                self._widen(2 * store.n)
        self._widen(store.n)
        store.rows[self.width, begin : store.n] = np.arange(begin, store.n)
        return ids

    def add(self, rows: Columns) -> np.ndarray:
        """Return the ids of whole rows, [width, n]; new ones are absent for now."""
        return self.intern(np.ascontiguousarray(rows), rows.shape[1], self.every[: self.width])

    def known(self, rows: Columns) -> np.ndarray:
        """Return the ids of whole rows, [width, n], -1 for those that have never been there."""
        return self.ids_of(np.ascontiguousarray(rows), rows.shape[1], self.every[: self.width])

    def _widen(self, capacity: int) -> None:
        """Make room for so many ids."""
        store = self.partitions[0]
        if store.rows.shape[1] < capacity:
            bigger = np.empty((self.width + 1, capacity), self.dtype)
            bigger[:, : store.n] = store.rows[:, : store.n]
            store.rows = bigger
        if len(self.later) < store.rows.shape[1]:
            size = store.rows.shape[1]
            kept = (("earlier", ABSENT), ("later", ABSENT), ("count", 0))
            for name, nothing in (*kept, *((name, 0) for name in WORKING)):
                held = getattr(self, name)
                bigger = np.empty(size, held.dtype)
                bigger[: len(held)] = held
                bigger[len(held) :] = nothing
                setattr(self, name, bigger)

    @property
    def n_bytes(self) -> int:
        """The memory that rows, numbers, table and arrangements take."""
        numbers = (self.earlier, self.later, self.count, self.pending, self.marked, self.touched)
        return super().n_bytes + self.table.n_bytes + sum(held.nbytes for held in numbers)

    # ---- states

    def present(self) -> np.ndarray:
        """The ids of the tuples that are there."""
        return np.flatnonzero(self.later[: self.n_ids] != ABSENT)

    def columns(self) -> Columns:
        """The tuples that are there, [width, n]."""
        return np.ascontiguousarray(self.partitions[0].rows[: self.width, self.present()])

    def facts(self) -> Columns:
        """The facts of the state before, [width, n]."""
        return self.partitions[0].rows[: self.width, np.flatnonzero(self.earlier[: self.n_ids] == 0)]

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of the tuples that have been inserted and deleted since the state before."""
        ids = self.changed
        was, is_now = self.earlier[ids] != ABSENT, self.later[ids] != ABSENT
        return ids[is_now & ~was], ids[was & ~is_now]

    def note(self, ids: np.ndarray) -> None:
        """Keep in mind what some tuples were before a batch that changes them."""
        self.log.append((ids, self.earlier[ids]))

    def close_batch(self, ids: np.ndarray) -> None:
        """The consequences of a batch are drawn: what has been `later` is what comes next is compared with."""
        self.earlier[ids] = self.later[ids]

    def close_stratum(self) -> None:
        """Let `earlier` be the iterations in the state before all batches."""
        for ids, was in reversed(self.log):
            self.earlier[ids] = was
        ids = np.concatenate([ids for ids, _ in self.log]) if self.log else NONE
        found = np.empty(len(ids), np.int32)
        self.changed = found[: differing(ids, self.earlier, self.later, self.marked, found)]
        self.log = []

    def begin(self) -> None:
        """Let the new state be what later ones are compared with: nothing was there before."""
        self.earlier[: self.n_ids] = self.later[: self.n_ids]
        self.log, self.changed = [], NONE

    def adopt(self, other: Tracked) -> None:
        """Take over the tuples of another relation, with their numbers; there are none so far."""
        there = other.present()
        ids = self.add(other.partitions[0].rows[: self.width, there])
        self.later[ids], self.count[ids] = other.later[there], other.count[there]
        self.arrange()
        self.begin()

    def enter(self, ids: np.ndarray, iteration: int) -> np.ndarray:
        """Let tuples be facts, of iteration 0, or (ABSENT) not be there; return those that were not."""
        changed = np.empty(len(ids), np.int32)
        return changed[: enter(ids, iteration, self.later, self.count, changed)]

    def arrange(self) -> None:
        """Add what is new to the arrangements."""
        if self.partitions[0].n > self.partitions[0].end:
            for update in self.advance():
                update()

    def close_update(self) -> None:
        """Make the new state the old one."""
        self.earlier[self.changed] = self.later[self.changed]
        self.changed = NONE

    def rows_of(self, ids: np.ndarray, *more: Sequence[int]) -> Columns:
        """Return rows with their ids, and some more columns behind them."""
        rows = self.partitions[0].rows[:, ids]
        return np.ascontiguousarray(np.concatenate([rows, np.array(more, self.dtype).reshape(len(more), -1)]))
