"""Hash tables that keep the rows of a column store distinct."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from engine.database import Columns
from engine.kernels.hash_tables import (
    BLOCK,
    EMPTY,
    find_pairs,
    find_rows,
    insert_pairs,
    insert_pairs_beside,
    intern_rows,
    join_pairs,
    join_pairs_beside,
    rehash_pairs,
    rehash_rows,
)
from engine.storage.memory import full

FIRST_SLOTS = 128


class Joined(NamedTuple):
    """The result of a join for the first n rows of a chunk: see `kernels.hash_tables.join_pairs`."""

    starts: np.ndarray
    lengths: np.ndarray
    n: int
    chunk: Columns
    arena: Columns
    sides: np.ndarray


class Table(Protocol):
    """Knows the rows of a store `out[:, :at]`, by position or by value; adds rows to both."""

    n_bytes: int
    working_set: int
    """The bytes that insertion goes through in no order."""

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int) -> tuple[int, int]:
        """Append the rows `rows[take, lo:hi]` it does not know; return the first not looked at, and the new `at`."""

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        """Return for each of the first n rows whether it is known."""

    def is_full(self, n: int) -> bool:
        """Return True if it may have stopped an insertion, with n rows known, for want of room of its own."""

    def grown(self, stored: Columns, n: int) -> Table:
        """Return a table with more room for the rows `stored[:, :n]`, which this one knows."""


class RowTable:
    """Rows of any shape, by their hash and position."""

    def __init__(self, slots: int = FIRST_SLOTS) -> None:
        self.slots = full(slots, EMPTY, np.uint64)

    @property
    def limit(self) -> int:
        return len(self.slots) * 5 // 8

    @property
    def n_bytes(self) -> int:
        return self.slots.nbytes

    @property
    def working_set(self) -> int:
        return self.slots.nbytes

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int) -> tuple[int, int]:
        limit = min(out.shape[1], self.limit)
        return intern_rows(self.slots, limit, rows, lo, hi, take, out, at, np.empty(hi - lo, np.int32))

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        ids = np.empty(n, np.int32)
        find_rows(self.slots, rows, n, take, stored, ids)
        return ids >= 0

    def is_full(self, n: int) -> bool:
        return n >= self.limit

    def grown(self, stored: Columns, n: int) -> Table:
        bigger = RowTable(more(len(self.slots)))
        rehash_rows(self.slots, bigger.slots)
        return bigger


class PairTable:
    """Rows of one or two int32 columns, packed into one word."""

    def __init__(self, slots: int = FIRST_SLOTS) -> None:
        self.slots = full(slots + 1, EMPTY, np.uint64)

    @property
    def limit(self) -> int:
        return (len(self.slots) - 1) * 3 // 4

    @property
    def n_bytes(self) -> int:
        return self.slots.nbytes

    @property
    def working_set(self) -> int:
        return self.slots.nbytes

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int) -> tuple[int, int]:
        return insert_pairs(self.slots, min(out.shape[1], self.limit), rows, lo, hi, take, out, at)

    def insert_beside(self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns) -> tuple[int, int]:
        """Do as `insert` while other threads do; `out` is for what is new, and the table has room for that.

        Returns the first row not looked at, and how many were new.
        """
        return insert_pairs_beside(self.slots, out.shape[1], rows, lo, hi, take, out, 0)

    def join(self, joined: Joined, i: int, j: int, out: Columns, at: int) -> tuple[int, int, int, int]:
        """Append the pairs a join makes from match j of row i on; return (next i, next j, new `at`, pairs made)."""
        limit = min(out.shape[1], self.limit)
        starts, lengths, n, chunk, arena, sides = joined
        return join_pairs(starts, lengths, n, i, j, chunk, arena, sides, self.slots, limit, out, at)

    def join_beside(self, joined: Joined, i: int, j: int, out: Columns) -> tuple[int, int, int, int]:
        """Do as `join` while other threads do, as in `insert_beside`."""
        starts, lengths, n, chunk, arena, sides = joined
        return join_pairs_beside(starts, lengths, n, i, j, chunk, arena, sides, self.slots, out.shape[1], out, 0)

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        found = np.empty(n, np.bool_)
        find_pairs(self.slots, rows, n, take, found)
        return found

    def is_full(self, n: int) -> bool:
        return n + BLOCK > self.limit

    def grown(self, stored: Columns, n: int) -> PairTable:
        bigger = PairTable(more(len(self.slots) - 1))
        rehash_pairs(self.slots, bigger.slots)
        return bigger


def more(slots: int) -> int:
    return slots * (4 if slots < 4096 else 2)


def table_of(stored: Columns, n: int, paired: bool) -> Table:
    """Return a table that knows the rows `stored[:, :n]`, which are distinct."""
    slots = FIRST_SLOTS
    while slots * 5 // 8 <= n:
        slots *= 2
    table = PairTable(slots) if paired else RowTable(slots)
    if n:
        table.insert(stored, 0, n, np.arange(len(stored)), np.empty((len(stored), n), stored.dtype), 0)
    return table
