"""A set of distinct rows, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Condition, Lock
from typing import NamedTuple

import numpy as np

from engine.database import Columns
from engine.kernels.hash_tables import BLOCK, partition_of
from engine.storage import memory
from engine.storage.bit_matrix import PairMatrix, denser
from engine.storage.hash_tables import Joined, PairTable, Table, table_of

FIRST_ROWS = 64
BESIDE_ROWS = 1 << 14
"""Rows that a thread finds new, while others insert, before it appends them."""
MANY = 1 << 62


class Block(NamedTuple):
    """The rows lo … hi - 1 of a column store."""

    rows: Columns
    lo: int
    hi: int


class Partition:
    """Distinct rows in columns `rows[:, :n]`, in order of arrival, with the table that keeps them distinct.

    Rows before `old` are of earlier iterations, those from `old` to `end` are the delta of the current one, those from
    `end` on are new. Rows of one or two int32 columns are packed into one word, and become bits of a matrix where pairs
    are dense; others go through a table of hashes. `carried` is the column that the last join took from its left side.
    With more than `most` rows it does not grow: RowsReached.

    One thread at a time inserts, under the lock. Into a table of pairs several may: each adds rows to the table, for as
    many as are `promised` to it, then appends under the lock what was new. The table grows when none is `beside`.
    """

    __slots__ = (
        "rows",
        "n",
        "old",
        "end",
        "most",
        "table",
        "paired",
        "carried",
        "lock",
        "beside",
        "promised",
        "resting",
        "__weakref__",
    )

    def __init__(self, arity: int, dtype: np.dtype, capacity: int = FIRST_ROWS) -> None:
        self.rows: Columns = memory.empty((arity, max(capacity, FIRST_ROWS)), dtype)
        self.n = self.old = self.end = 0
        self.most = MANY
        self.paired = 1 <= arity <= 2 and dtype == np.int32
        self.table: Table | None = None
        self.carried = 0
        self.lock, self.resting = Condition(Lock()), False
        self.beside = self.promised = 0

    @property
    def working_set(self) -> int:
        """The bytes that insertion goes through in no order: those that should fit in a cache."""
        return 0 if self.table is None else self.table.working_set

    @property
    def matrix_axis(self) -> int | None:
        """The column that names the rows of its matrix, if it has one."""
        return self.table.axis if isinstance(self.table, PairMatrix) else None

    @property
    def is_shared(self) -> bool:
        """True if several threads can insert at the same time."""
        return self.paired and not isinstance(self.table, PairMatrix)

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add `rows[take, lo:hi]`; return how many were new. Safe to call from several threads."""
        with self.lock:
            self._be_alone()
            before = self.n
            self._need_table()
            while True:
                lo, self.n = self.table.insert(rows, lo, hi, take, self.rows, self.n)
                if lo == hi:
                    return self.n - before
                self._grow()

    def insert_joined(self, joined: Joined, i: int = 0, j: int = 0) -> tuple[int, int]:
        """Add the pairs that a join makes from match j of row i on; return how many it made, and how many were new."""
        with self.lock:
            self._be_alone()
            before, total = self.n, 0
            self.carried = int(joined.sides[0, 0])
            self._need_table()
            while True:
                i, j, self.n, made = self.table.join(joined, i, j, self.rows, self.n)
                total += made
                if i == joined.n:
                    return total, self.n - before
                self._grow()

    def insert_beside(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Do as `insert`, at the same time as other threads where that is possible."""
        added = 0
        while lo < hi and (room := self._promise()):
            out, n = np.empty((len(self.rows), room), np.int32), 0
            try:
                lo, n = self.table.insert_beside(rows, lo, hi, take, out)
            finally:
                self._keep(out, n, room)
            added += n
        return added if lo == hi else added + self.insert(rows, lo, hi, take)

    def insert_joined_beside(self, joined: Joined) -> tuple[int, int]:
        """Do as `insert_joined`, at the same time as other threads where that is possible."""
        i = j = total = added = 0
        self.carried = int(joined.sides[0, 0])
        while i < joined.n and (room := self._promise()):
            out, n = np.empty((len(self.rows), room), np.int32), 0
            try:
                i, j, n, made = self.table.join_beside(joined, i, j, out)
            finally:
                self._keep(out, n, room)
            total, added = total + made, added + n
        rest = self.insert_joined(joined, i, j) if i < joined.n else (0, 0)
        return total + rest[0], added + rest[1]

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return for each of the first n rows whether this partition holds it.

        Pairs may be inserted meanwhile, by other threads: a table that has become too small still knows what it held.
        """
        if self.table is None:
            with self.lock:
                self._need_table()
        return self.table.find(rows, n, take, self.rows)

    def extend(self, rows: Columns) -> None:
        """Append rows that are distinct and not held yet."""
        n = self.n + rows.shape[1]
        if n > self.rows.shape[1]:
            bigger = memory.empty((len(self.rows), n + n // 4), self.rows.dtype)
            memory.copy(self.rows[:, : self.n], bigger[:, : self.n])
            self.rows = bigger
        self.rows[:, self.n : n] = rows
        self.n, self.table = n, None

    def adopt(self, rows: Columns) -> None:
        """Take over an array of distinct rows; there are none so far."""
        self.rows, self.n = rows, rows.shape[1]

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        rows = 0 if memory.is_spilled(self.rows) else self.rows.nbytes
        return rows + (0 if self.table is None else self.table.n_bytes)

    def reopen(self) -> None:
        """Have all rows count as new again."""
        self.old = 0

    def take_delta(self) -> Block | None:
        """Make all rows old; return those that were not, if there are any."""
        lo, self.old = self.old, self.n
        return Block(self.rows, lo, self.n) if lo < self.n else None

    def divide(self, by: np.ndarray, bits: int, n_parts: int) -> list[Partition]:
        """Return the rows in n_parts, by the last of `bits` bits of a hash of the columns `by`; `old` is kept."""
        targets = [Partition(len(self.rows), self.rows.dtype) for _ in range(n_parts)]
        for is_old, lo, hi in ((True, 0, self.old), (False, self.old, self.n)):
            parts = np.empty(hi - lo, np.int32)
            partition_of(self.rows, lo, hi, by, bits, parts)
            distribute(self, lo, hi, parts & (n_parts - 1), targets)
            if is_old:
                for target in targets:
                    target.old = target.n
        return targets

    def finish(self) -> None:
        """All rows are in: free the table, which is built again when needed, and room for more rows."""
        self.table = None
        if self.rows.shape[1] > max(FIRST_ROWS, self.n + self.n // 8):
            exact = memory.empty((len(self.rows), self.n), self.rows.dtype)
            exact[...] = self.rows[:, : self.n]
            self.rows = exact
        self.rest()

    def rest(self) -> None:
        """Nothing is inserted for now: the rows may be spilled. Who inserts ends that."""
        self.resting = True
        memory.LEDGER.offer(self, "rows")

    def _be_alone(self) -> None:
        """Wait, under the lock, until no other thread inserts."""
        while self.beside:
            self.lock.wait()

    def _promise(self) -> int:
        """Return for how many new rows the table has room while this thread and others insert; 0 if they cannot.

        Where there is any, the thread is `beside` until it calls `_keep`.
        """
        with self.lock:
            self._need_table()
            while isinstance(self.table, PairTable):
                room = min(BESIDE_ROWS, self.table.limit - self.n - self.promised)
                if room >= BLOCK:
                    self.beside, self.promised = self.beside + 1, self.promised + room
                    return room
                if self.beside:
                    self.lock.wait()
                else:
                    self._grow()
        return 0

    def _keep(self, new: Columns, n: int, room: int) -> None:
        """Append the first n rows, which a thread has added to the table, and take back the room promised to it."""
        with self.lock:
            self.beside, self.promised = self.beside - 1, self.promised - room
            self.lock.notify_all()
            if self.n > self.most:
                raise memory.RowsReached
            while self.n + n > self.rows.shape[1]:
                self._grow_rows()
            self.rows[:, self.n : self.n + n] = new[:, :n]
            self.n += n

    def _grow(self) -> None:
        """Make room for more rows in the column store, in the table, or in both."""
        if self.n > self.most:
            raise memory.RowsReached
        if self.n + BLOCK > self.rows.shape[1]:
            self._grow_rows()
        if self.table.is_full(self.n):
            dense = denser(self.rows, self.n, self.carried) if isinstance(self.table, PairTable) else None
            self.table = dense or self.table.grown(self.rows, self.n)

    def _grow_rows(self) -> None:
        capacity = self.rows.shape[1]
        factor = 4 if capacity < 4096 else 2 if capacity < 1 << 20 else 1.5
        # Rows that have been spilled grow in their file: all but the last are seldom looked at.
        bigger = memory.for_result((len(self.rows), int(capacity * factor)), self.rows.dtype, [self.rows])
        memory.copy(self.rows[:, : self.n], bigger[:, : self.n])
        self.rows = bigger

    def _need_table(self) -> None:
        """Build the table, if need be, from the rows at hand, which are distinct; rows are no longer to be spilled."""
        if self.resting:
            memory.LEDGER.withdraw(self)
            self.resting = False
        if self.table is None:
            dense = denser(self.rows, self.n, self.carried) if self.paired else None
            self.table = dense or table_of(self.rows, self.n, self.paired)


def distribute(source: Partition, lo: int, hi: int, parts: np.ndarray, targets: Sequence[Partition]) -> None:
    """Append rows lo … hi - 1 of a partition, which are distinct, to the targets that `parts` names."""
    order = np.argsort(parts.astype(np.uint16), kind="stable")
    sizes = np.bincount(parts, minlength=len(targets))
    at = 0
    for target, size in zip(targets, sizes.tolist(), strict=True):
        if size:
            target.carried = source.carried
            target.extend(source.rows[:, lo:hi][:, order[at : at + size]])
            at += size
