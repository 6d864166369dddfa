"""Arrangements: a relation indexed by some of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import (
    LENGTH,
    OLD,
    ROOM,
    START,
    append,
    bounds,
    count_keys,
    expand,
    fill,
    keep_matches,
    lay_out,
    locate_dense,
    move_runs,
    reserve,
    settle,
    sort_runs,
    total_room,
)
from engine.storage import memory
from engine.storage.key_tables import HashedKeys, ValueKeys
from engine.storage.partition import Block

FIRST_KEYS = 16
VALUES_A_ROW, FEW_VALUES = 64, 1 << 20
"""Keys of one column below so much a row, and below 4 MB, are looked up in an array; a table holds fewer ones.

What is indexed is touched a page at a time: small relations by themselves would take hundreds of megabytes.
"""


class Readable:
    """Rows by key, read through `locate`, `runs` and `arena`."""

    runs: np.ndarray
    arena: Columns | None
    holds_values = True
    """True if the values of the payload stand in the arena."""

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        """Return the key id, or -1, of each of the first n rows of a chunk, whose key is in `registers`."""
        raise NotImplementedError

    def pairs(
        self, chunk: Columns, n: int, key: np.ndarray, upto: int, take: np.ndarray, payload: np.ndarray, out: Columns
    ) -> Iterator[int]:
        """Join a chunk by its registers `key`: fill `out` again and again, yield the rows written each time.

        A row is the registers `take` of the chunk, then the columns `payload` of a match. `upto` is LENGTH for all
        matches, OLD for those before the last batch. However many there are, `out` bounds what is held of them.
        """
        ids, runs, arena = self.locate(chunk, n, key), self.runs, self.arena
        i = j = 0
        while i < n:
            found, i, j = expand(ids, n, i, j, runs, upto, chunk, take, arena, payload, out)
            if found:
                yield found

    def matches(self, chunk: Columns, n: int, key: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where in the arena the matches of each row of a chunk start, and how many there are."""
        starts, lengths = np.empty(n, np.int64), np.empty(n, np.int64)
        bounds(self.locate(chunk, n, key), n, self.runs, upto, starts, lengths)
        return starts, lengths

    def keep(self, chunk: Columns, n: int, key: np.ndarray, upto: int, wanted: bool, live: np.ndarray) -> int:
        """Keep, in place, the rows of a chunk that have (or, if not `wanted`, have not) a match; return how many."""
        return keep_matches(self.locate(chunk, n, key), n, self.runs, upto, wanted, chunk, live)


class Arrangement(Readable):
    """Rows by key: per key a contiguous run of the other columns in one arena (dynamic CSR, see `kernels.csr_runs`).

    A key is the values of the columns `key`; it has a dense id: the value itself where one int32 column has few gaps,
    else its position in an array indexed by value or, where keys are sparse, in a hash table. The arena is built when a
    join first asks for the payload, the lengths before the last batch are kept from when a plan first asks for them.
    `order` are the columns that runs are sorted by. To one that `grows` batches are added; else there is but one.
    """

    def __init__(self, key: Sequence[int], arity: int, dtype: np.dtype, *, grows: bool = True) -> None:
        self.key = np.array(key, np.int64)
        self.payload = np.array([c for c in range(arity) if c not in key], np.int64)
        self.dtype = dtype
        self.can_be_dense = self.dense = len(key) == 1 and dtype == np.int32
        self.keys: HashedKeys | ValueKeys = HashedKeys(len(key), dtype)
        self.n_keys = self.n_rows = self.top = self.checked = 0
        self.grows = grows
        self.runs = np.zeros((FIRST_KEYS, OLD + 1 if grows else START + 1), np.int32)
        self.arena: Columns | None = None
        self.batch: list[np.ndarray] | None = None
        self.order: tuple[int, ...] = ()

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        arrays = [self.runs, self.keys.columns, *([] if self.arena is None else [self.arena])]
        return self.keys.nbytes + sum(array.nbytes for array in arrays if not memory.is_spilled(array))

    # ---- reading

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        """Return the key id, or -1, of each of the first n rows of a chunk, whose key is in `registers`."""
        if not self.dense:
            return self.keys.find(chunk, n, registers)
        ids = np.empty(n, np.int32)
        locate_dense(chunk, registers[0], n, self.n_keys, ids)
        return ids

    def sort(self, order: Sequence[int]) -> None:
        """Put each run in the order of some columns of the payload. No rows may be added from then on.

        Other threads may read it meanwhile: who reads a run a part at a time keeps to the arena that it began with.
        """
        places = [self.payload.tolist().index(column) for column in order]
        memory.LEDGER.withdraw(self)
        arena = memory.empty(self.arena.shape, self.dtype)
        arena[...] = self.arena
        sort_runs(self.runs, self.n_keys, arena, np.array(places, np.int64))
        self.arena, self.order = arena, tuple(order)
        self.rest()

    # ---- writing

    def add(self, blocks: Sequence[Block]) -> None:
        """Add a batch of rows; the one before becomes old."""
        memory.LEDGER.withdraw(self)
        self.close_batch()
        self.n_rows += sum(block.hi - block.lo for block in blocks)
        self._choose_keys(blocks)
        batch = [self._assign(block) for block in blocks]
        if self.arena is None:
            for ids in batch:
                count_keys(self.runs, ids, len(ids))
        else:
            for block, ids in zip(blocks, batch, strict=True):
                self._append(block, ids)
        if self.batch is not None:
            self.batch = batch

    def close_batch(self) -> None:
        """Make the last batch old."""
        if self.batch:
            for ids in self.batch:
                settle(self.runs, ids, len(ids))
            self.batch = []

    def track_old(self, delta: Sequence[Block]) -> None:
        """Keep the old lengths from now on; `delta` is the last batch that was added."""
        if self.batch is None:
            self.batch = [self._assign(block) for block in delta]
            self.runs[:, OLD] = self.runs[:, LENGTH]
            for ids in self.batch:
                np.subtract.at(self.runs[:, OLD], ids, 1)

    def forget_old(self) -> None:
        """Keep the old lengths no more."""
        self.close_batch()
        self.batch = None

    def build_arena(self, blocks: Sequence[Block]) -> None:
        """Store the payload, each run as long as it is; `blocks` are all rows added so far, the last batch last.

        Other threads may read the lengths of runs meanwhile, and begin to read the arena once it is there.
        """
        if self.arena is not None:
            return
        runs = memory.empty((len(self.runs), ROOM + 1 if self.grows else START + 1), np.int32)
        top = int(lay_out(self.runs, runs))
        arena = memory.empty((len(self.payload), top + 4), self.dtype)
        for block in blocks:
            fill(arena, runs, self._assign(block), block.rows, block.lo, block.hi - block.lo, self.payload)
        self.top, self.runs = top, runs
        self.arena = arena

    def _append(self, block: Block, ids: np.ndarray) -> None:
        n = block.hi - block.lo
        if not self.grows:
            fill(self.arena, self.runs, ids, block.rows, block.lo, n, self.payload)
            return
        places = np.empty(n, np.int32)
        needed = reserve(self.runs, self.top, ids, n, places)
        if needed + 4 > self.arena.shape[1]:
            self._grow(needed)
        self.top = append(self.arena, self.runs, self.top, ids, places, block.rows, block.lo, n, self.payload)

    def _grow(self, needed: int) -> None:
        """Let the arena have room for what has been reserved. Runs move together."""
        shape = (len(self.payload), int(total_room(self.runs)) * 3 // 2 + 4)
        larger = memory.for_result(shape, self.dtype, [self.arena])
        self.top, self.arena = int(move_runs(self.arena, self.runs, larger)), larger

    def rest(self) -> None:
        """Nothing is added for now: the payload may be spilled."""
        if self.arena is not None:
            memory.LEDGER.offer(self, "arena")

    # ---- keys

    def _assign(self, block: Block) -> np.ndarray:
        """Return the key ids of a block's rows; keys that are new get one."""
        if self.dense:
            return block.rows[self.key[0], block.lo : block.hi].copy()
        if isinstance(self.keys, ValueKeys):
            self.keys.few = self._few_values()
            if not self.keys.accepts(*block, self.key):
                self.keys = self.keys.hashed()
        ids = self.keys.intern(*block, self.key)
        self._reserve_keys(self.keys.n)
        return ids

    def _reserve_keys(self, n_keys: int) -> None:
        self.n_keys = n_keys
        if n_keys > len(self.runs):
            bigger = memory.empty((max(n_keys, len(self.runs) * 3 // 2), self.runs.shape[1]), np.int32)
            bigger[: len(self.runs)], bigger[len(self.runs) :] = self.runs, 0
            self.runs = bigger

    def _choose_keys(self, blocks: Sequence[Block]) -> None:
        """Number keys by their value while that leaves few gaps, else as they come; look again as rows grow."""
        values = [b.rows[self.key[0], b.lo : b.hi] for b in blocks if b.hi > b.lo] if self.can_be_dense else []
        if not values:
            return
        low, high = min(int(v.min()) for v in values), max(int(v.max()) for v in values)
        limit = 4 * self.n_rows + 1024
        if self.dense:
            if low < 0 or high >= limit:
                self._use_table()
            else:
                self._reserve_keys(max(self.n_keys, high + 1))
        elif self.n_rows >= 2 * self.checked:
            self.checked = self.n_rows
            known = self.keys.columns[0, : self.keys.n]
            least, most = min(low, int(known.min(initial=0))), max(high, int(known.max(initial=0)))
            if least >= 0 and most < limit:
                self._use_values(most + 1)
            elif least >= 0 and most < self._few_values() and isinstance(self.keys, HashedKeys):
                self.keys = value_keys(known, self._few_values())

    def _use_table(self) -> None:
        """Go over from values as key ids to positions of values."""
        used = np.flatnonzero(self.runs[: self.n_keys, LENGTH]).astype(np.int32)
        self.dense, self.checked, self.keys = False, self.n_rows, value_keys(used, self._few_values())
        self._renumber(used, np.arange(len(used)), len(used))

    def _few_values(self) -> int:
        return min(FEW_VALUES, VALUES_A_ROW * self.n_rows)

    def _use_values(self, n_keys: int) -> None:
        """Go over from positions of values to values as key ids."""
        n = self.keys.n
        self._renumber(np.arange(n), self.keys.columns[0, :n], n_keys)
        self.dense, self.keys = True, HashedKeys(1, self.dtype)

    def _renumber(self, old_ids: np.ndarray, new_ids: np.ndarray, n_keys: int) -> None:
        moved = np.zeros((max(n_keys, FIRST_KEYS), self.runs.shape[1]), np.int32)
        moved[new_ids] = self.runs[old_ids]
        self.runs, self.n_keys = moved, n_keys


def value_keys(values: np.ndarray, few: int) -> HashedKeys | ValueKeys:
    """Return distinct values as keys, numbered as they stand: looked up in an array, if it accepts them."""
    keys: HashedKeys | ValueKeys = ValueKeys(values.dtype, few)
    block, first = Block(values[None, :], 0, len(values)), np.zeros(1, np.int64)
    if not keys.accepts(*block, first):
        keys = keys.hashed()
    keys.intern(*block, first)
    return keys
