"""A relation: its partitions and its arrangements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock

import numpy as np

from engine.database import Columns
from engine.kernels.hash_tables import partition_of
from engine.storage.arrangement import Arrangement, Block
from engine.storage.memory import copy, for_result
from engine.storage.partition import MANY, Partition, distribute

GATHERED_ROWS = 1 << 13
"""Blocks of a delta that are smaller on average are put together: each costs a task for every rule that reads it."""
SMALL_ROWS = 1 << 12
"""Relations up to this size keep the tables that insertion needs: they may be looked up in."""
RAGGED = -1
"""Stands for the number of bits of a relation whose partitions have been split unevenly."""


class Relation:
    """Distinct rows, split over 2**bits partitions by a hash of the columns `discriminating`.

    The columns `group` tell rows apart; rows to insert have the columns `every`. `delta` are the rows of the current
    iteration's delta as blocks; `n` counts the rows up to the delta's end, and `magnitude` is its size in steps of a
    factor of eight. Who makes an arrangement, or puts one in order, while others may do so, holds the lock `arranging`.
    """

    splits = True
    """True if it can be partitioned."""
    split_when_large = True
    """True if partitions that outgrow the cache are to be split."""

    read_early = False
    """True if a rule may find pairs of the iteration that is under way, too, when it asks for whole rows."""
    is_exact = True
    """True if its rows are the same in whatever order they are inserted."""
    is_keyed = False
    """True if it sums or counts by contributor."""
    most = MANY
    """Maximum number of rows of a partition."""

    def __init__(self, name: str, arity: int, dtype: np.dtype) -> None:
        self.name, self.arity, self.dtype = name, arity, np.dtype(dtype)
        self.every = np.arange(arity)
        self.group = tuple(range(arity))
        self.arranging = RLock()
        self.clear()

    def clear(self) -> None:
        """Forget all rows and arrangements."""
        self.bits = 0
        self.discriminating = self.every
        self.partitions = [Partition(self.arity, self.dtype)]
        self.arrangements: dict[tuple[int, ...], Arrangement] = {}
        self.delta: list[Block] = []
        self.n = self.n_delta = self.magnitude = 0
        self.finished = False

    # ---- iterations

    def before_advance(self) -> list[Callable[[], None]]:
        """Return what may be done in parallel before `advance`."""
        return []

    def advance(self) -> list[Callable[[], None]]:
        """Make the new rows the delta, and the delta old; return the updates of arrangements to run before reading."""
        blocks, n_delta = [], 0
        for partition in self.partitions:
            partition.old, partition.end = partition.end, partition.n
            if partition.end > partition.old:
                blocks.append(Block(partition.rows, partition.old, partition.end))
                n_delta += partition.end - partition.old
        if len(blocks) > 1 and n_delta <= GATHERED_ROWS * len(blocks):
            gathered = np.concatenate([b.rows[:, b.lo : b.hi] for b in blocks], axis=1)
            blocks = [Block(gathered, 0, n_delta)]
        changed = bool(blocks or self.delta)
        self.delta, self.n_delta = blocks, n_delta
        self.n += n_delta
        self.magnitude = (self.n.bit_length() + 2) // 3
        return [partial(a.add, blocks) for a in self.arrangements.values()] if changed else []

    @property
    def has_new_rows(self) -> bool:
        """True if `advance` may find rows for the next delta."""
        return any(partition.n > partition.end for partition in self.partitions)

    def settle(self) -> None:
        """Make the delta old; called when nothing is new any more."""
        for partition in self.partitions:
            partition.old = partition.end
        self.delta, self.n_delta = [], 0

    # ---- reading

    def blocks(self) -> list[Block]:
        """All rows up to the end of the delta."""
        return [Block(p.rows, 0, p.end) for p in self.partitions if p.end]

    def old_blocks(self) -> list[Block]:
        return [Block(p.rows, 0, p.old) for p in self.partitions if p.old]

    def columns(self) -> Columns:
        """All rows as one array [arity, n]."""
        if len(self.partitions) == 1:
            return self.partitions[0].rows[:, : self.partitions[0].end]
        blocks, at = self.blocks(), 0
        out = for_result((self.arity, self.n), self.dtype, [block.rows for block in blocks])
        for rows, _, hi in blocks:
            copy(rows[:, :hi], out[:, at : at + hi])
            at += hi
        return out

    @property
    def n_bytes(self) -> int:
        """The memory that rows, tables and arrangements take."""
        return sum(held.n_bytes for held in (*self.partitions, *self.arrangements.values()))

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return for each of the first n rows whether the relation holds it."""
        if self.bits == 0:
            return self.partitions[0].find(rows, n, take)
        found, parts = np.empty(n, np.bool_), np.empty(n, np.int32)
        partition_of(rows, 0, n, take[self.discriminating], self.bits, parts)
        order = np.argsort(parts.astype(np.uint16), kind="stable")
        grouped, ends = rows[take][:, order], np.cumsum(np.bincount(parts, minlength=len(self.partitions)))
        lo = 0
        for partition, hi in zip(self.partitions, ends.tolist(), strict=True):
            if hi > lo:
                found[order[lo:hi]] = partition.find(np.ascontiguousarray(grouped[:, lo:hi]), hi - lo, self.every)
            lo = hi
        return found

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Arrangement:
        """Return the arrangement by the columns `key`, built on first demand and maintained from then on."""
        key = tuple(key)
        with self.arranging:
            found = self.arrangements.get(key)
            if found is None:
                found = Arrangement(key, self.arity, self.dtype, grows=not self.finished)
                found.add(self.old_blocks())
                found.add(self.delta)
                self.arrangements[key] = found
            if payload and found.arena is None:
                found.build_arena(self.old_blocks() + self.delta)
            if old:
                found.track_old(self.delta)
            if self.finished:
                found.rest()
        return found

    def private_arrangement(self, key: Sequence[int]) -> Arrangement:
        """Return an empty arrangement by the columns `key`, for rows of this relation that come together elsewhere."""
        return Arrangement(key, self.arity, self.dtype)

    # ---- writing

    def exceeds(self, n_rows: int) -> bool:
        """Return whether it holds more rows, those of the iteration under way included. They cost memory each."""
        return sum(partition.n for partition in self.partitions) > n_rows

    def hold_at_most(self, n_rows: int) -> None:
        """Let no partition grow beyond so many rows: RowsReached."""
        self.most = n_rows
        for partition in self.partitions:
            partition.most = n_rows

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add rows to an unpartitioned relation; return how many were new."""
        return self.partitions[0].insert(rows, lo, hi, take)

    def insert_beside(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Do as `insert`, at the same time as other threads where that is possible."""
        first = self.partitions[0]
        return first.insert_beside(rows, lo, hi, take) if first.is_shared else self.insert(rows, lo, hi, take)

    def split(self, bits: int) -> None:
        """Divide the rows over 2**bits partitions; the boundaries of iterations are kept."""
        self.bits = bits
        targets = [Partition(self.arity, self.dtype) for _ in range(1 << bits)]
        for source in self.partitions:
            self._distribute(source, 0, source.old, targets)
        for target in targets:
            target.old = target.n
        for source in self.partitions:
            self._distribute(source, source.old, source.end, targets)
        for target in targets:
            target.end = target.n
        for source in self.partitions:
            self._distribute(source, source.end, source.n, targets)
        self.partitions = targets
        self.hold_at_most(self.most)

    def _distribute(self, source: Partition, lo: int, hi: int, targets: Sequence[Partition]) -> None:
        if hi > lo:
            parts = np.empty(hi - lo, np.int32)
            partition_of(source.rows, lo, hi, self.discriminating, self.bits, parts)
            distribute(source, lo, hi, parts, targets)

    def position(self, columns: np.ndarray) -> np.ndarray:
        """Return the positions of columns in what a partition hashes."""
        return columns

    def replace(self, partitions: Sequence[Partition], bits: int = RAGGED) -> None:
        """Take partitions, of any shape or by `bits`, for the present ones: all rows are old. Arrangements are let go.

        A relation with partitions of any shape is read only from now on.
        """
        self.partitions, self.arrangements = list(partitions), {}
        self.bits = 0 if len(partitions) == 1 else bits
        for partition in partitions:
            partition.old = partition.end = partition.n
        self.n, self.delta, self.n_delta = sum(p.n for p in partitions), [], 0
        self.magnitude = (self.n.bit_length() + 2) // 3

    def rest(self) -> None:
        """An iteration begins, in which what is there already is read only: it may be spilled."""
        for held in (*self.partitions, *self.arrangements.values()):
            held.rest()

    def finish(self) -> Relation:
        """All rows are in: free what only insertion needs. Return the relation that is read from now on."""
        self.settle()
        self.finished = True
        for partition in self.partitions if self.n > SMALL_ROWS else ():
            partition.finish()
        for arrangement in self.arrangements.values():
            arrangement.rest()
        return self
