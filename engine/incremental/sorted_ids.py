"""A table from rows to their ids where most rows are sorted, as they were stored: those need no table."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.demanded_keys import find_sorted
from engine.kernels.id_tables import enter_ids
from engine.storage.id_table import IdTable

SHARE = 1 / 16
"""When so many rows have been looked up for each sorted one, a table for all of them would have paid."""


class SortedIds(IdTable):
    """Knows the rows of a store: the first `n_sorted` by their order, the others by hash and position."""

    def __init__(self, n_sorted: int, stored: Columns, width: int, n: int) -> None:
        """Know the rows `stored[:width, :n]`, with room for as many of the others again."""
        super().__init__(2 * (n - n_sorted))
        self.n_sorted, self.n_asked = n_sorted, 0
        enter_ids(self.slots, self.bits, stored, width, n_sorted, n)

    @property
    def limit(self) -> int:
        return self.n_sorted + super().limit

    @property
    def bits(self) -> int:
        return (self.n_sorted + len(self.slots)).bit_length()

    @property
    def pays(self) -> bool:
        """True as long as making a table for all rows would have taken longer."""
        return self.n_asked <= SHARE * self.n_sorted

    def grown(self, stored: Columns, width: int, n: int, room: int) -> IdTable:
        if not self.pays:
            return super().grown(stored, width, n, room)
        table = SortedIds(self.n_sorted, stored, width, n)
        table.n_asked = self.n_asked
        return table

    def give(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int, ids: np.ndarray
    ) -> tuple[int, int]:
        wanted = np.ascontiguousarray(rows[take, lo:hi])
        found = self._find_sorted(wanted, out)
        others = np.flatnonzero(found < 0)
        rest, given = np.ascontiguousarray(wanted[:, others]), np.empty(len(others), np.int32)
        done, at = super().give(rest, 0, len(others), np.arange(len(take)), out, at, given)
        found[others[:done]] = given[:done]
        n = hi - lo if done == len(others) else int(others[done])
        ids[:n] = found[:n]
        return lo + n, at

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        wanted = np.ascontiguousarray(rows[take, :n])
        found = self._find_sorted(wanted, stored)
        others = np.flatnonzero(found < 0)
        rest = np.ascontiguousarray(wanted[:, others])
        found[others] = super().find(rest, len(others), np.arange(len(take)), stored)
        return found

    def _find_sorted(self, wanted: Columns, stored: Columns) -> np.ndarray:
        """Return the ids of rows that are among the sorted ones, -1 for others."""
        n = wanted.shape[1]
        self.n_asked += n
        lows, highs = np.empty(n, np.int64), np.empty(n, np.int64)
        find_sorted(stored, self.n_sorted, wanted, n, np.arange(len(wanted)), lows, highs)
        return np.where(lows < highs, lows, -1).astype(np.int32)
