"""A set of distinct rows, append-only."""

from __future__ import annotations

from threading import Lock

import numpy as np

from engine.database import Columns
from engine.kernels.hashing import EMPTY, find_pairs, find_rows, insert_pairs, intern_rows, rehash_pairs, rehash_rows

FIRST_ROWS = 64
FIRST_SLOTS = 128


class Partition:
    """Distinct rows in columns `rows[:, :n]`, in order of arrival, with the hash table that keeps them distinct.

    Rows before `old` are of earlier iterations, those from `old` to `end` are the delta of the current one, those from
    `end` on are new. Rows of one or two int32 columns are packed into one word, others go through a table of hashes.
    """

    __slots__ = ("rows", "n", "old", "end", "table", "paired", "lock")

    def __init__(self, arity: int, dtype: np.dtype, capacity: int = FIRST_ROWS) -> None:
        self.rows: Columns = np.empty((arity, max(capacity, FIRST_ROWS)), dtype)
        self.n = self.old = self.end = 0
        self.paired = 1 <= arity <= 2 and dtype == np.int32
        self.table: np.ndarray | None = None
        self.lock = Lock()

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add `rows[take, lo:hi]`; return how many were new. Safe to call from several threads."""
        with self.lock:
            before = self.n
            if self.table is None:
                self._build_table()
            while True:
                limit = min(self.rows.shape[1], len(self.table) * 5 // 8)
                if self.paired:
                    lo, self.n = insert_pairs(self.table, limit, rows, lo, hi, take, self.rows, self.n)
                else:
                    ids = np.empty(hi - lo, np.int32)
                    lo, self.n = intern_rows(self.table, limit, rows, lo, hi, take, self.rows, self.n, ids)
                if lo == hi:
                    return self.n - before
                self._grow()

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return for each of the first n rows whether this partition holds it."""
        if self.table is None:
            with self.lock:
                self._build_table()
        if self.paired:
            found = np.empty(n, np.bool_)
            find_pairs(self.table, rows, n, take, found)
            return found
        ids = np.empty(n, np.int32)
        find_rows(self.table, rows, n, take, self.rows, ids)
        return ids >= 0

    def extend(self, rows: Columns) -> None:
        """Append rows that are distinct and not held yet."""
        n = self.n + rows.shape[1]
        if n > self.rows.shape[1]:
            bigger = np.empty((len(self.rows), n + n // 4), self.rows.dtype)
            bigger[:, : self.n] = self.rows[:, : self.n]
            self.rows = bigger
        self.rows[:, self.n : n] = rows
        self.n, self.table = n, None

    def finish(self) -> None:
        """All rows are in: free the hash table, which is built again when needed, and room for more rows."""
        self.table = None
        if self.rows.shape[1] > max(FIRST_ROWS, self.n + self.n // 8):
            self.rows = self.rows[:, : self.n].copy()

    def _grow(self) -> None:
        """Make room for more rows in the column store, in the table, or in both."""
        capacity = self.rows.shape[1]
        if self.n >= capacity:
            factor = 4 if capacity < 4096 else 2 if capacity < 1 << 20 else 1.5
            bigger = np.empty((len(self.rows), int(capacity * factor)), self.rows.dtype)
            bigger[:, : self.n] = self.rows[:, : self.n]
            self.rows = bigger
        if self.n >= len(self.table) * 5 // 8:
            slots = len(self.table) - self.paired
            table = self._empty_table(slots * (4 if slots < 4096 else 2))
            (rehash_pairs if self.paired else rehash_rows)(self.table, table)
            self.table = table

    def _empty_table(self, slots: int) -> np.ndarray:
        return np.full(slots + self.paired, EMPTY, np.uint64)

    def _build_table(self) -> None:
        """Hash the rows at hand, which are distinct."""
        slots = FIRST_SLOTS
        while slots * 5 // 8 <= self.n:
            slots *= 2
        table = self._empty_table(slots)
        if self.n:
            every, copy = np.arange(len(self.rows)), np.empty((len(self.rows), self.n), self.rows.dtype)
            if self.paired:
                insert_pairs(table, self.n, self.rows, 0, self.n, every, copy, 0)
            else:
                intern_rows(table, self.n, self.rows, 0, self.n, every, copy, 0, np.empty(self.n, np.int32))
        self.table = table
