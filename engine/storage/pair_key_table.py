"""Tables from pairs of dense values to ids: matrices instead of hashes."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.aggregates import bounds
from engine.kernels.dense_extrema import intern_pairs
from engine.storage.key_tables import HashedKeys, Places, widened

SMALL_CELLS = 1 << 18
"""Pairs are looked up in an array of so many cells, however few they are."""
CELLS_PER_PAIR = 8
"""Else in an array of so many cells in use for each pair: a table of hashes takes about as much."""
MAX_CELLS = 1 << 28


class PairKeys:
    """Distinct pairs of dense values, found by a matrix of their ids. As `ValueKeys`, which see.

    Cells of pairs with the same value in column `major` stand together.
    """

    __slots__ = ("columns", "n", "major", "places")

    def __init__(self, columns: Columns, n: int, major: int, ranges: list[tuple[int, int]]) -> None:
        """Hold the pairs `columns[:, :n]`; values are within ranges (low, high)."""
        self.columns, self.n, self.major = columns, n, major
        (x_low, x_high), (y_low, y_high) = ranges
        width, height = x_high - x_low + 1, y_high - y_low + 1
        strides = (1, width) if major else (height, 1)
        self.places: Places = np.zeros(width * height, np.int32), (x_low, y_low), (width, height), strides
        cells = (columns[0, :n].astype(np.int64) - x_low) * strides[0]
        cells += (columns[1, :n].astype(np.int64) - y_low) * strides[1]
        self.places[0][cells] = np.arange(1, n + 1)

    def accepts(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> bool:
        """Return True if the pairs `rows[take, lo:hi]` have cells."""
        ranges = (bounds(rows[column], lo, hi) for column in take)
        _, lows, sizes, _ = self.places
        bounded = zip(lows, sizes, ranges, strict=True)
        return lo == hi or all(low <= least and most < low + size for low, size, (least, most) in bounded)

    def reserve(self, n: int) -> None:
        self.columns = widened(self.columns, n)

    def intern(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        ids = np.empty(hi - lo, np.int32)
        self.reserve(min(self.n + hi - lo, len(self.places[0])))
        self.n = intern_pairs(*self.places, rows, lo, hi, take, self.columns, self.n, ids)
        return ids

    def hashed(self) -> HashedKeys:
        return HashedKeys(2, self.columns.dtype, self.columns[:, : self.n].copy())

    @property
    def nbytes(self) -> int:
        """A part only: joins mostly make pairs of one row of cells after another."""
        return self.places[0].nbytes // 8


def denser(
    keys: HashedKeys | PairKeys, rows: Columns, lo: int, hi: int, take: np.ndarray, major: int
) -> PairKeys | None:
    """Return a matrix for the pairs that `keys` holds and others, if it takes no more than a table of hashes.

    It has room for a few more values in each column.
    """
    ranges, cells = [], 1
    for c, column in enumerate(take):
        known = keys.columns[c, : keys.n]
        least, most = bounds(rows[column], lo, hi)
        least, most = min(int(known.min(initial=least)), least), max(int(known.max(initial=most)), most)
        slack = (most - least) // 8
        ranges.append((least - slack if least < 0 else max(0, least - slack), most + slack))
        cells *= ranges[-1][1] - ranges[-1][0] + 1
    if cells > MAX_CELLS:
        return None
    if cells > SMALL_CELLS:
        low, high = ranges[major]
        used = np.zeros(high - low + 1, np.bool_)
        used[keys.columns[major, : keys.n] - low] = used[rows[take[major], lo:hi] - low] = True
        if np.count_nonzero(used) * (cells // len(used)) > CELLS_PER_PAIR * (keys.n + hi - lo):
            return None
    return PairKeys(keys.columns, keys.n, major, ranges)
