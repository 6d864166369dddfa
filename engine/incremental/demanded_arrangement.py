"""Arrangements of the keys that have been asked for: an update of a few tuples asks for few.

The rows of new keys are looked for in the relation itself, sorted as it was stored: at their place, if the key is the
first columns, else in one pass. Passes over the relation add up; when they have cost what arranging all of it costs,
the other keys are added, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

import numpy as np

from engine.database import Columns
from engine.kernels.demanded_keys import find_sorted, mark_keys, marked_rows
from engine.storage.arrangement import Arrangement, Block
from engine.storage.partition import Partition

PASSES = 12
"""So many passes over a relation take about as long as arranging all of it."""
SHARE = 1 / 16
"""With so many keys for each row, it is arranged as a whole."""
BITS_PER_KEY = 16


class Stored(Protocol):
    """A relation of which the first `n_sorted` rows are sorted."""

    arity: int
    dtype: np.dtype
    partitions: list[Partition]
    n_sorted: int


class DemandedArrangement(Arrangement):
    """The rows of a relation by key, for the keys that `locate` has been asked for. Key ids stay as they are.

    Several threads may ask; keys are found by others once their rows are there.
    """

    def __init__(self, key: Sequence[int], relation: Stored) -> None:
        super().__init__(key, relation.arity, relation.dtype)
        self.can_be_dense = self.dense = False
        self.build_arena(())
        self.relation, self.lock = relation, Lock()
        self.is_complete, self.n_passed = False, 0

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        if self.is_complete:
            return super().locate(chunk, n, registers)
        with self.lock:
            ids = super().locate(chunk, n, registers)
            unknown = np.flatnonzero(ids < 0)
            if len(unknown) and not self.is_complete:
                self._demand(np.ascontiguousarray(chunk[np.ix_(registers, unknown)], self.dtype))
                ids = super().locate(chunk, n, registers)
        return ids

    def add(self, blocks: Sequence[Block]) -> None:
        """Add the rows of a batch whose keys are known; those of others are found when their keys are asked for."""
        with self.lock:
            super().add(blocks if self.is_complete else [self._known(block) for block in blocks])

    def _known(self, block: Block) -> Block:
        rows = block.rows[:, block.lo : block.hi]
        keys = np.ascontiguousarray(rows[self.key])
        kept = np.ascontiguousarray(rows[:, self.keys.find(keys, keys.shape[1], np.arange(len(keys))) >= 0])
        return Block(kept, 0, kept.shape[1])

    def _demand(self, wanted: Columns) -> None:
        """Add the rows of keys that are not known."""
        store, n_known = self.relation.partitions[0], self.keys.n
        rows, end, every = store.rows, store.end, np.arange(len(wanted))
        is_prefix = self.key.tolist() == [*range(len(self.key))]
        begin = self.relation.n_sorted if is_prefix else 0
        if wanted.shape[1] > SHARE * end or self.n_passed > PASSES * end:
            self._complete(rows, end)
            return
        self.keys.intern(wanted, 0, wanted.shape[1], every)
        self._reserve_keys(self.keys.n)
        new = np.ascontiguousarray(self.keys.columns[:, n_known : self.keys.n])
        pieces = [places(rows, begin, new)] if begin else []
        if begin < end:
            self.n_passed += end - begin
            pieces.append(self._passed(rows, begin, end, new, n_known))
        found = np.concatenate(pieces)
        super().add([Block(np.ascontiguousarray(rows[:, found]), 0, len(found))])

    def _passed(self, rows: Columns, begin: int, end: int, new: Columns, n_known: int) -> np.ndarray:
        """Return the positions of rows with new keys in a pass over the rows begin … end - 1."""
        bits = np.zeros(1 << (BITS_PER_KEY * new.shape[1]).bit_length(), np.uint8)
        mark_keys(new, new.shape[1], np.arange(len(new)), bits)
        out = np.empty(end - begin, np.int32)
        found = out[: marked_rows(rows, begin, end, self.key, bits, out)]
        keys = np.ascontiguousarray(rows[np.ix_(self.key, found)])
        return found[self.keys.find(keys, keys.shape[1], np.arange(len(keys))) >= n_known]

    def _complete(self, rows: Columns, end: int) -> None:
        """Add all other keys."""
        known = self.keys.find(rows, end, self.key) >= 0
        others = np.ascontiguousarray(rows[:, :end][:, ~known])
        super().add([Block(others, 0, others.shape[1])])
        self.is_complete = True


def places(rows: Columns, n_sorted: int, wanted: Columns) -> np.ndarray:
    """Return the positions of sorted rows that begin with one of some distinct keys, key by key."""
    n = wanted.shape[1]
    lows, highs = np.empty(n, np.int64), np.empty(n, np.int64)
    find_sorted(rows, n_sorted, wanted, n, np.arange(len(wanted)), lows, highs)
    sizes = highs - lows
    begins = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(lows - begins, sizes)
