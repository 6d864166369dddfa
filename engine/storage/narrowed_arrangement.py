"""Parts of runs: an arrangement whose runs are in order of further columns, searched for values or between bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import START, expand, keep_matches, narrow, narrow_between
from engine.storage.arrangement import Arrangement


class OrderedRuns:
    """An arrangement read a part of a run at a time: what `narrow` finds in O(log of the length of its run).

    Joins read it through `pairs` and `keep`; `locate` and `runs` are those of the arrangement: more rows than match,
    which serve to count candidates only.
    """

    def __init__(self, base: Arrangement, key: np.ndarray) -> None:
        self.base, self.dtype, self.payload, self.key = base, base.dtype, base.payload, key

    def narrow(self, chunk: Columns, n: int, key: np.ndarray, upto: int) -> np.ndarray:
        """Return a run for each of the first n rows: of its matches, which may be none."""
        raise NotImplementedError

    @property
    def runs(self) -> np.ndarray:
        return self.base.runs

    @property
    def arena(self) -> Columns | None:
        return self.base.arena

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        return self.base.locate(chunk, n, registers[: len(self.base.key)])

    def pairs(
        self, chunk: Columns, n: int, key: np.ndarray, upto: int, take: np.ndarray, payload: np.ndarray, out: Columns
    ) -> Iterator[int]:
        runs, ids, arena = self.narrow(chunk, n, key, upto), np.arange(n, dtype=np.int32), self.arena
        i = j = 0
        while i < n:
            found, i, j = expand(ids, n, i, j, runs, upto, chunk, take, arena, payload, out)
            if found:
                yield found

    def matches(self, chunk: Columns, n: int, key: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where in the arena the matches of each row of a chunk start, and how many there are."""
        runs = self.narrow(chunk, n, key, upto).astype(np.int64)
        return runs[:, START], runs[:, upto]

    def keep(self, chunk: Columns, n: int, key: np.ndarray, upto: int, wanted: bool, live: np.ndarray) -> int:
        runs, ids = self.narrow(chunk, n, key, upto), np.arange(n, dtype=np.int32)
        return keep_matches(ids, n, runs, upto, wanted, chunk, live)


class NarrowedArrangement(OrderedRuns):
    """An arrangement read by its own key and some columns of its payload, by which its runs are in order."""

    def __init__(self, base: Arrangement, columns: Sequence[int]) -> None:
        super().__init__(base, np.append(base.key, np.array(columns, np.int64)))
        self.places = np.array([base.payload.tolist().index(c) for c in columns], np.int64)

    def narrow(self, chunk: Columns, n: int, key: np.ndarray, upto: int) -> np.ndarray:
        runs = np.zeros((n, 4), np.int32)
        at = len(self.base.key)
        narrow(self.locate(chunk, n, key), n, self.runs, upto, chunk, key[at:], self.arena, self.places, runs)
        return runs


class RangedArrangement(OrderedRuns):
    """An arrangement read by its key and by bounds on one column of numbers, by which its runs are in order.

    A bound is (register, beyond): what is read begins behind all `lows`, and ends before the first of `highs`, at the
    first number that is at least that of the register, or greater if `beyond`.
    """

    def __init__(
        self, base: Arrangement, column: int, lows: Sequence[tuple[int, int]], highs: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(base, base.key)
        self.column = column
        self.place = base.payload.tolist().index(column)
        self.lows, self.highs = (np.array(bounds, np.int64).reshape(-1, 2) for bounds in (lows, highs))

    def narrow(self, chunk: Columns, n: int, key: np.ndarray, upto: int) -> np.ndarray:
        runs = np.zeros((n, 4), np.int32)
        column, ids = self.base.arena[self.place], self.locate(chunk, n, key)
        narrow_between(ids, n, self.runs, upto, chunk, self.lows, self.highs, column, runs)
        return runs


def narrowed(arrangement: Arrangement, columns: Sequence[int]) -> NarrowedArrangement | None:
    """Return an arrangement as read by more columns of its payload, or None if its runs are in another order.

    The arrangement must not grow any more: its runs are put in order where they have none, or one that the columns
    refine (see `Arrangement.sort`).
    """
    order, wanted = arrangement.order, tuple(columns)
    if set(order[: len(wanted)]) == set(wanted):
        return NarrowedArrangement(arrangement, order[: len(wanted)])
    if order != wanted[: len(order)]:
        return None
    arrangement.sort(wanted)
    return NarrowedArrangement(arrangement, wanted)
