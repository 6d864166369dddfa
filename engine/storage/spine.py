"""Spines: rows by key as a list of immutable batches, merged little by little as new ones arrive.

Differential dataflow's amortised trace maintenance (McSherry et al., 2020, §4.2). Where a relation does not change, the
dynamic CSR of `arrangement` is faster to read; where readers hold versions, nothing may move under them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.database import Columns
from engine.kernels.columns import compress
from engine.storage.sorted_batch import Merge, SortedBatch, batch_of

LAZY, DEFAULT, EAGER = 2, 8, None
"""Number of rows that each merge in progress moves per arriving row; None: all of them, at once.

With less than 2 a merge might not end before the batches that arrive meanwhile have become as large as its result.
"""


@dataclass
class Spine:
    """The batches of one arrangement, the larger first; of two neighbours one is more than twice the other, or they
    are being merged. So there are O(log n) of them, and a row is moved O(log n) times.

    `moved_rows` counts the rows that merges have moved, `most_moved` the most for one batch that arrived.
    """

    key: tuple[int, ...]
    effort: int | None = DEFAULT
    batches: list[SortedBatch] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    moved_rows: int = 0
    most_moved: int = 0

    def all(self) -> list[SortedBatch]:
        """All batches, those that are being merged included."""
        merging = [side for merge in self.merges for side in (merge.first, merge.second)]
        return sorted([*self.batches, *merging], key=lambda batch: -batch.n)

    def push(self, batch: SortedBatch, frontier: int) -> None:
        """Add a batch, and go on with merges in proportion to its size.

        Rows that no reader from version `frontier` on can see may be dropped.
        """
        if batch.n:
            self.batches.append(batch)
        self.work(batch.n, frontier)

    def work(self, n_rows: int, frontier: int) -> None:
        """Begin the merges that are due; move rows on in each, in proportion to n rows that arrived."""
        before = self.moved_rows
        self._begin(frontier)
        while self.merges:
            for merge in list(self.merges):
                fuel = merge.size + 1 if self.effort is None else self.effort * n_rows
                begin = merge.moved
                merged = merge.step(fuel)
                self.moved_rows += merge.moved - begin
                if merged is not None:
                    self.merges.remove(merge)
                    self.batches.append(merged)
            begun = len(self.merges)
            self._begin(frontier)
            if self.effort is not None or len(self.merges) == begun:
                break
        self.most_moved = max(self.most_moved, self.moved_rows - before)

    def _begin(self, frontier: int) -> None:
        """Begin to merge neighbours of similar size, the smallest first, and to rewrite what is half dead."""
        self.batches = sorted((b for b in self.batches if b.n), key=lambda batch: -batch.n)
        at = len(self.batches) - 1
        while at > 0:
            larger, smaller = self.batches[at - 1], self.batches[at]
            if larger.n <= 2 * smaller.n:
                self.merges.append(Merge(larger, smaller, frontier))
                del self.batches[at - 1 : at + 1]
                at -= 1
            at -= 1
        for batch in [b for b in self.batches if 2 * b.n_dead > b.n]:
            if 2 * np.count_nonzero((batch.died > 0) & (batch.died <= frontier)) > batch.n:
                self.batches.remove(batch)
                self.merges.append(Merge(batch, batch_of(batch.rows[:, :0], self.key, batch.since), frontier))

    def compact(self, frontier: int) -> None:
        """Merge all batches into one, at once, without the rows that no reader from `frontier` on can see."""
        merges, self.merges = self.merges, []
        batches = [*self.batches, *(merge.step(merge.size + 1) for merge in merges)]
        whole = batch_of(batches[0].rows[:, :0], self.key, 0) if batches else None
        for batch in sorted(batches, key=lambda batch: batch.n):
            merge = Merge(whole, batch, frontier)
            whole = merge.step(merge.size + 1)
        self.batches = [whole] if whole is not None and whole.n else []

    def remove(self, rows: Columns, version: int) -> None:
        """Let rows, each visible in one batch, be visible before a version only."""
        every = np.arange(len(rows))
        for batch in self.all():
            batch.remove(batch.places(rows, rows.shape[1], every), version)
        for merge in self.merges:
            merge.removed.append((rows, version))

    def lives(self, rows: Columns) -> np.ndarray:
        """Return for each of some rows True if it is there and has not been removed."""
        found, every = np.zeros(rows.shape[1], np.bool_), np.arange(len(rows))
        for batch in self.all():
            found |= batch.lives(batch.places(rows, rows.shape[1], every))
        return found


class Layers:
    """A spine as of a version: what an arrangement is to its readers. Safe to share between threads."""

    def __init__(
        self, key: Sequence[int], arity: int, dtype: np.dtype, batches: Sequence[SortedBatch], version: int
    ) -> None:
        self.key, self.dtype, self.version = tuple(key), dtype, version
        self.payload = np.arange(arity)
        self.batches = [batch for batch in batches if batch.n] or [batch_of(np.empty((arity, 0), dtype), key, 0)]
        largest = self.batches[0]
        # What a planner needs to sample fan-outs: the largest batch, whole, stands for all.
        self.locate, self.runs, self.arena = largest.locate, largest.runs, largest.rows

    def pairs(
        self, chunk: Columns, n: int, key: np.ndarray, upto: int, take: np.ndarray, payload: np.ndarray, out: Columns
    ) -> Iterator[int]:
        """Join a chunk with the visible rows: fill `out` again and again; yield the rows written each time."""
        for batch in self.batches:
            yield from batch.pairs(self.version, chunk, n, key, take, payload, out)

    def keep(self, chunk: Columns, n: int, key: np.ndarray, upto: int, wanted: bool, live: np.ndarray) -> int:
        """Keep, in place, the rows of a chunk that have (or, if not `wanted`, have not) a visible match."""
        mask = np.zeros(n, np.bool_)
        for batch in self.batches:
            batch.match(self.version, chunk, n, key, mask)
        return compress(mask if wanted else ~mask, n, chunk, live)
