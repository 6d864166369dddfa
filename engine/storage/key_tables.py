"""Tables from rows to dense ids."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.aggregates import bounds, find_values, intern_values
from engine.kernels.hash_tables import EMPTY, find_rows, intern_rows, rehash_rows
from engine.storage import memory

FIRST_KEYS = 64
SPARSE_VALUES = 1 << 24
"""Values below are looked up in an array, however few they are."""
Two = tuple[int, int]
Places = tuple[np.ndarray, Two, Two, Two]
"""The index of ids of dense values, or of pairs of them: index, lows, sizes, strides of `kernels.dense_extrema`."""


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

    @property
    def nbytes(self) -> int:
        """The bytes that are gone through in no order."""
        return self.table.nbytes

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


class ValueKeys:
    """Distinct values of one column, none negative and not too sparse, found by an array indexed by value.

    As `HashedKeys`; `accepts` says whether it can take more values, as it can whatever is below `few`.
    """

    __slots__ = ("columns", "n", "index", "few")

    def __init__(self, dtype: np.dtype, few: int = SPARSE_VALUES) -> None:
        self.columns: Columns = np.empty((1, FIRST_KEYS), dtype)
        self.n, self.index, self.few = 0, np.zeros(FIRST_KEYS, np.int32), few

    def accepts(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> bool:
        """Make room for the values `rows[take[0], lo:hi]`, if that pays."""
        least, greatest = bounds(rows[take[0]], lo, hi)
        if least < 0 or greatest >= max(self.few, 8 * self.n):
            return False
        if greatest >= len(self.index):
            # Untouched parts of an array of zeros take no memory.
            index = np.zeros(max(greatest + 1, 2 * len(self.index)), np.int32)
            index[: len(self.index)] = self.index
            self.index = index
        return True

    def intern(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        """Return the ids of values that are accepted; those that are new get one."""
        ids = np.empty(hi - lo, np.int32)
        self.reserve(min(self.n + hi - lo, len(self.index)))
        self.n = intern_values(self.index, rows[take[0]], lo, hi, self.columns[0], self.n, ids)
        return ids

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return the id, or -1, of each of the first n values in the column `take[0]`."""
        ids = np.empty(n, np.int32)
        find_values(self.index, rows[take[0]], n, ids)
        return ids

    def reserve(self, n: int) -> None:
        """Make room for n values."""
        self.columns = widened(self.columns, n)

    @property
    def places(self) -> Places:
        return self.index, (0, 0), (1, len(self.index)), (0, 1)

    def hashed(self) -> HashedKeys:
        """Return the same values, with the same ids, in a table of hashes."""
        return HashedKeys(1, self.columns.dtype, self.columns[:, : self.n].copy())

    @property
    def nbytes(self) -> int:
        return 4 * len(self.index)


def widened(columns: Columns, n: int) -> Columns:
    """Return columns with room for n entries; they are doubled at least if they have not."""
    if n <= columns.shape[1]:
        return columns
    bigger = np.empty((len(columns), max(n, 2 * columns.shape[1])), columns.dtype)
    bigger[:, : columns.shape[1]] = columns
    return bigger
