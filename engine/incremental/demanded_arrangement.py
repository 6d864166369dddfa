"""Arrangements of the keys that have been asked for: an update of a few tuples asks for few.

The rows of new keys are looked for in the relation itself, sorted as it was stored: at their place, if the key is the
first columns, else in one pass. Passes over the relation add up; when they have cost what an index takes, the relation
gets one: the positions of its rows by the hash of their key, five bytes a row where an arrangement of all takes sixty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from engine.database import Columns
from engine.kernels.demanded_keys import (
    fill_buckets,
    find_in_buckets,
    find_sorted,
    mark_keys,
    marked_rows,
    size_of_buckets,
)
from engine.storage import memory
from engine.storage.arrangement import Arrangement, Block
from engine.storage.partition import Partition

PASSES = 6
"""So many passes over a relation take about as long as an index of it."""
ROWS_PER_BUCKET = 4
BITS_PER_KEY = 16


class Stored(Protocol):
    """A relation of which the first `n_sorted` rows are sorted."""

    arity: int
    dtype: np.dtype
    partitions: list[Partition]
    n_sorted: int


class Index(NamedTuple):
    """The positions of the first n rows of a relation, in buckets by the hash of their key."""

    begins: np.ndarray
    positions: np.ndarray

    @property
    def n(self) -> int:
        return len(self.positions)

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        return self.begins.nbytes + self.positions.nbytes

    def find(self, rows: Columns, key: np.ndarray, wanted: Columns) -> np.ndarray:
        """Return the positions of the rows with some distinct keys."""
        out = np.empty(size_of_buckets(wanted, self.begins) + 1, np.int32)
        return out[: find_in_buckets(rows, key, wanted, self.begins, self.positions, out)]


class DemandedArrangement(Arrangement):
    """The rows of a relation by key, for the keys that `locate` has been asked for. Key ids stay as they are.

    Several threads may ask, and read while others do: keys are found once their rows are there, and rows that are there
    do not move. `idle` counts the rounds of `forget_idle` since it was last asked.
    """

    def __init__(self, key: Sequence[int], relation: Stored) -> None:
        self.relation, self.lock, self.idle = relation, Lock(), 0
        self.forget(key)

    def forget(self, key: Sequence[int]) -> None:
        """Begin anew, with no key."""
        super().__init__(key, self.relation.arity, self.relation.dtype)
        self.can_be_dense = self.dense = False
        self.build_arena(())
        self.index: Index | None = None
        self.n_passed = 0

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        return super().n_bytes + (0 if self.index is None else self.index.n_bytes)

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        self.idle = 0
        with self.lock:
            ids = super().locate(chunk, n, registers)
            unknown = np.flatnonzero(ids < 0)
            if len(unknown):
                self._demand(np.ascontiguousarray(chunk[np.ix_(registers, unknown)], self.dtype))
                ids = super().locate(chunk, n, registers)
        return ids

    def add(self, blocks: Sequence[Block]) -> None:
        """Add the rows of a batch whose keys are known; those of others are found when their keys are asked for."""
        with self.lock:
            super().add([self._known(block) for block in blocks])

    def _known(self, block: Block) -> Block:
        rows = block.rows[:, block.lo : block.hi]
        keys = np.ascontiguousarray(rows[self.key])
        kept = np.ascontiguousarray(rows[:, self.keys.find(keys, keys.shape[1], np.arange(len(keys))) >= 0])
        return Block(kept, 0, kept.shape[1])

    def _demand(self, wanted: Columns) -> None:
        """Add the rows of keys that are not known."""
        store, n_known = self.relation.partitions[0], self.keys.n
        self.keys.intern(wanted, 0, wanted.shape[1], np.arange(len(wanted)))
        self._reserve_keys(self.keys.n)
        new = np.ascontiguousarray(self.keys.columns[:, n_known : self.keys.n])
        found = self._positions(store.rows, store.end, new, n_known)
        super().add([Block(store.rows.take(found, axis=1), 0, len(found))])

    def _grow(self, needed: int) -> None:
        """Let the arena have room for what has been reserved. Runs stay where they are: other threads read them."""
        larger = memory.for_result((len(self.payload), needed * 3 // 2 + 4), self.dtype, [self.arena])
        larger[:, : self.top] = self.arena[:, : self.top]
        self.arena = larger

    def _positions(self, rows: Columns, end: int, new: Columns, n_known: int) -> np.ndarray:
        """Return the positions of the rows with new keys: their ids begin with `n_known`."""
        if self.n_passed > PASSES * end:
            self.index, self.n_passed = index_of(rows, end, self.key), 0
        if self.index is not None:
            begin, found = self.index.n, self.index.find(rows, self.key, new)
        else:
            begin = self.relation.n_sorted if self.key.tolist() == [*range(len(self.key))] else 0
            found = places(rows, begin, new)
        if begin == end:
            return found
        self.n_passed += end - begin
        return np.concatenate([found, self._passed(rows, begin, end, new, n_known)])

    def _passed(self, rows: Columns, begin: int, end: int, new: Columns, n_known: int) -> np.ndarray:
        """Return the positions of rows with new keys in a pass over the rows begin … end - 1."""
        bits = np.zeros(1 << (BITS_PER_KEY * new.shape[1]).bit_length(), np.uint8)
        mark_keys(new, new.shape[1], np.arange(len(new)), bits)
        out = np.empty(end - begin, np.int32)
        found = out[: marked_rows(rows, begin, end, self.key, bits, out)]
        keys = np.ascontiguousarray(rows[np.ix_(self.key, found)])
        return found[self.keys.find(keys, keys.shape[1], np.arange(len(keys))) >= n_known]


def forget_idle(arrangements: Iterable[DemandedArrangement], limit_bytes: int) -> None:
    """Let the arrangements that have not been asked for longest forget their keys, until all are within a limit.

    Nobody may be reading them. Plans that know them stay as they are.
    """
    held, n_bytes = [], 0
    for each in arrangements:
        each.idle += 1
        n_bytes += each.n_bytes
        held.append(each)
    if n_bytes <= limit_bytes:
        return
    for each in sorted(held, key=lambda each: each.idle, reverse=True):
        n_bytes -= each.n_bytes
        each.forget(each.key.tolist())
        if n_bytes <= limit_bytes // 2:
            return


def index_of(rows: Columns, n: int, key: np.ndarray) -> Index:
    """Return an index of the first n rows."""
    index = Index(np.zeros(n // ROWS_PER_BUCKET + 2, np.int32), np.empty(n, np.int32))
    fill_buckets(rows, n, key, *index)
    return index


def places(rows: Columns, n_sorted: int, wanted: Columns) -> np.ndarray:
    """Return the positions of sorted rows that begin with one of some distinct keys, key by key."""
    n = wanted.shape[1]
    lows, highs = np.empty(n, np.int64), np.empty(n, np.int64)
    find_sorted(rows, n_sorted, wanted, n, np.arange(len(wanted)), lows, highs)
    sizes = highs - lows
    begins = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(lows - begins, sizes)
