"""Bit matrices that keep the pairs of a dense relation distinct."""

from __future__ import annotations

import numpy as np

from engine.database import Columns
from engine.kernels.bit_matrices import (
    AXIS,
    BIT_LOW,
    N_ROWS,
    ROW_LOW,
    WANTED,
    WANTED_BIT,
    WANTED_ROW,
    find_bits,
    insert_bits,
    join_bits,
)
from engine.storage.hash_tables import Joined, Table, table_of
from engine.storage.memory import full, zeros

WORTH_BITS = 128
"""A matrix is chosen where it takes at most so many bits for a pair: what a hash table takes on average."""
DEAR_BITS = 512
"""A matrix is given up where it takes more than that."""
FIRST_PAIRS = 1 << 12


class PairMatrix:
    """Pairs of int32 as bits: a row for each value of one column, a bit for each value in the range of the other.

    The result of a recursive query is often dense: most nodes of a random graph reach most others. Then a bit takes the
    place of two words in a hash table, and the pairs a join makes for one row meet in one cache line after the other
    (parallel bit-matrix evaluation: Fan et al., Scaling-Up In-Memory Datalog Processing, VLDB 2019).
    """

    def __init__(self, axis: int, named: tuple[int, int], other: tuple[int, int], rows: int) -> None:
        """Have room for so many rows, named by values low … high of column `axis`, and such values of the other."""
        self.words = zeros((rows, words_of(other)), np.uint64)
        self.place = full(named[1] - named[0] + 1, -1, np.int32)
        self.meta = np.zeros(7, np.int64)
        self.meta[[AXIS, ROW_LOW, BIT_LOW]] = axis, named[0], other[0]

    @property
    def n_bytes(self) -> int:
        return self.words.nbytes + self.place.nbytes

    @property
    def axis(self) -> int:
        """The column that names rows."""
        return int(self.meta[AXIS])

    @property
    def working_set(self) -> int:
        """A part only: joins mostly make pairs of one row of bits after another."""
        return self.words.nbytes // 8 + self.place.nbytes

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray, out: Columns, at: int) -> tuple[int, int]:
        return insert_bits(self.words, self.place, self.meta, rows, lo, hi, take, out, at)

    def join(self, joined: Joined, i: int, j: int, out: Columns, at: int) -> tuple[int, int, int, int]:
        starts, lengths, n, chunk, arena, sides = joined
        return join_bits(starts, lengths, n, i, j, chunk, arena, sides, self.words, self.place, self.meta, out, at)

    def find(self, rows: Columns, n: int, take: np.ndarray, stored: Columns) -> np.ndarray:
        found = np.empty(n, np.bool_)
        find_bits(self.words, self.place, self.meta, rows, n, take, found)
        return found

    def is_full(self, n: int) -> bool:
        return bool(self.meta[WANTED])

    def grown(self, stored: Columns, n: int) -> Table:
        """Make room for the pair that was wanted and others like it, or give up if that is dear."""
        self.meta[WANTED] = 0
        axis, low = self.axis, int(self.meta[ROW_LOW])
        named = widened((low, low + len(self.place) - 1), int(self.meta[WANTED_ROW]))
        low = int(self.meta[BIT_LOW])
        other = widened((low, low + 64 * self.words.shape[1] - 1), int(self.meta[WANTED_BIT]))
        rows = int(self.meta[N_ROWS]) + 1
        if cost_bits(named, other, rows) > DEAR_BITS * max(n, FIRST_PAIRS):
            return table_of(stored, n, paired=True)
        moved = PairMatrix(axis, named, other, rows + rows // 2)
        begin, at = int(self.meta[ROW_LOW]) - named[0], (int(self.meta[BIT_LOW]) - other[0]) // 64
        moved.place[begin : begin + len(self.place)] = self.place
        moved.words[: rows - 1, at : at + self.words.shape[1]] = self.words[: rows - 1]
        moved.meta[N_ROWS] = rows - 1
        return moved


def words_of(interval: tuple[int, int]) -> int:
    return (interval[1] - interval[0]) // 64 + 1


def widened(interval: tuple[int, int], value: int) -> tuple[int, int]:
    """Return an interval that holds a value, too, and when it must grow, grows by half at least. Steps are of 64."""
    low, high = interval
    size = (high - low + 1) // 2
    if value < low:
        low -= -(min(value - low, -size) // 64) * 64
    elif value > high:
        high += -(min(high - value, -size) // 64) * 64
    return low, high


def cost_bits(named: tuple[int, int], other: tuple[int, int], rows: int) -> int:
    return 32 * (named[1] - named[0] + 1) + 64 * words_of(other) * rows


def denser(stored: Columns, n: int, preferred: int) -> PairMatrix | None:
    """Return a matrix that knows the rows `stored[:, :n]`, if they are pairs and it takes less than a hash table.

    Its rows are named by the column `preferred`, or by the other if that takes less than half as much.
    """
    if n < FIRST_PAIRS or len(stored) != 2:
        return None
    ranges = [(int(column.min()), int(column.max())) for column in stored[:, :n]]
    best = None
    for axis in (preferred, 1 - preferred):
        low, high = ranges[axis]
        if 32 * (high - low) > WORTH_BITS * n:
            continue
        present = np.zeros(high - low + 1, np.bool_)
        present[stored[axis, :n] - low] = True
        rows = int(np.count_nonzero(present))
        cost = cost_bits(ranges[axis], ranges[1 - axis], rows)
        if cost <= WORTH_BITS * n and (best is None or 2 * cost < best[0]):
            best = cost, axis, rows
    if best is None:
        return None
    _, axis, rows = best
    matrix = PairMatrix(axis, ranges[axis], ranges[1 - axis], rows + rows // 4)
    matrix.insert(stored, 0, n, np.arange(2), np.empty((2, n), stored.dtype), 0)
    return matrix
