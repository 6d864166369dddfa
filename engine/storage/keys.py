"""Tables from rows to dense ids."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.hashing import EMPTY, find_rows, intern_rows, rehash_rows
from engine.storage import memory

FIRST_KEYS = 64


class HashedKeys:
    """Distinct rows `columns[:, :n]`, found by their values: the id of a row is its position."""

    __slots__ = ("columns", "n", "table", "_every")

    def __init__(self, arity: int, dtype: np.dtype, columns: Columns | None = None) -> None:
        """Hold the rows of `columns`, which are distinct and keep their position, or none."""
        self.columns: Columns = np.empty((arity, FIRST_KEYS), dtype) if columns is None else columns
        self.n = 0
        self.table = np.full(2 * FIRST_KEYS, EMPTY, np.uint64)
        if columns is not None and columns.shape[1]:
            self._adopt(columns)

    def intern(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of `rows[take, lo:hi]`; rows that are new get one."""
        ids = np.empty(hi - lo, np.int32)
        begin = lo
        while True:
            limit = min(self.columns.shape[1], len(self.table) * 5 // 8)
            lo, self.n = intern_rows(self.table, limit, rows, lo, hi, take, self.columns, self.n, ids[lo - begin :])
            if lo == hi:
                return ids
            self._grow()

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the id, or -1, of each of the first n rows on the columns `take`."""
        ids = np.empty(n, np.int32)
        find_rows(self.table, rows, n, take, self.columns, ids)
        return ids

    def _grow(self) -> None:
        capacity = self.columns.shape[1]
        if self.n >= capacity:
            bigger = memory.empty((len(self.columns), max(FIRST_KEYS, 2 * capacity)), self.columns.dtype)
            bigger[:, : self.n] = self.columns[:, : self.n]
            self.columns = bigger
        if self.n >= len(self.table) * 5 // 8:
            table = memory.full(len(self.table) * (4 if len(self.table) < 4096 else 2), EMPTY, np.uint64)
            rehash_rows(self.table, table)
            self.table = table

    def _adopt(self, columns: Columns) -> None:
        n, slots = columns.shape[1], len(self.table)
        while slots * 5 // 8 <= n:
            slots *= 2
        self.table = memory.full(slots, EMPTY, np.uint64)
        every, ids = np.arange(len(columns)), np.empty(n, np.int32)
        self.columns = np.empty_like(columns)
        _, self.n = intern_rows(self.table, n, columns, 0, n, every, self.columns, 0, ids)
        if self.n != n:
            raise ValueError(f"{n - self.n} of {n} rows of a record table are repeated")
