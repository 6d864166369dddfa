"""A table from rows to their ids, which are their positions in a column store."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.id_tables import FREE, count_new, drop_old, enter_ids, find_ids, give_ids
from engine.storage.memory import full

FIRST_SLOTS = 64
FULL = 0.75
ROOMY = 0.65
"""The share of slots in use at most, and that after the table has been made anew."""


class IdTable:
    """Knows the rows of a store by their hash and position, as `RowTable` does in twice the memory.

    A table that is full is made anew from the store; it may have any number of slots.
    """

    def __init__(self, n: int = 0) -> None:
        """Make an empty table with room for n rows and some more."""
        self.slots = full(slots_for(n), FREE, np.uint32)

    @property
    def limit(self) -> int:
        """The rows it has room for. No position has all its bits set: such a slot is free."""
        return int(len(self.slots) * FULL)

    @property
    def bits(self) -> int:
        return len(self.slots).bit_length()

    @property
    def n_bytes(self) -> int:
        return self.slots.nbytes

    def give(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int, ids: np.ndarray
    ) -> tuple[int, int]:
        """Write the ids of the rows `rows[take, lo:hi]` to `ids`; new ones are appended to the first columns of `out`.

        Returns the first row not looked at, for want of room in `out` or here, and the new `at`.
        """
        return give_ids(self.slots, self.bits, min(out.shape[1], self.limit), rows, lo, hi, take, out, at, ids)

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        """Return the ids of the first n rows on the columns `take`, -1 for those that are not known."""
        ids = np.empty(n, np.int32)
        find_ids(self.slots, self.bits, rows, n, take, stored, ids)
        return ids

    def drop_old(self, rows: Columns, n: int, take: np.ndarray, stored: Columns, begin: int) -> Columns:
        """Return the first n rows on the columns `take`, but those that stand before `begin` in the store."""
        out = np.empty((len(take), n), stored.dtype)
        return out[:, : drop_old(self.slots, self.bits, stored, begin, rows, n, take, out)]

    def count_new(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int, begin: int, counts: np.ndarray
    ) -> tuple[int, int]:
        """Do as `give`, but count in `counts`, by position, how often rows from `begin` on are met."""
        limit = min(out.shape[1], self.limit)
        return count_new(self.slots, self.bits, limit, begin, rows, lo, hi, take, out, at, counts)

    def is_full(self, n: int) -> bool:
        return n >= self.limit

    def grown(self, stored: Columns, width: int, n: int, room: int) -> IdTable:
        """Return a table that knows the rows `stored[:width, :n]`, with room for `room` of them."""
        return table_for(stored, width, n, room)


def slots_for(n: int) -> int:
    """The slots that a table with room for n rows, and some more, begins with."""
    return max(FIRST_SLOTS, int(n / ROOMY))


def table_for(stored: Columns, width: int, n: int, room: int) -> IdTable:
    """Return a table that knows the rows `stored[:width, :n]`, with room for `room` of them."""
    table = IdTable(room)
    enter_ids(table.slots, table.bits, stored, width, 0, n)
    return table
