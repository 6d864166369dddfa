"""Semi-joins: rows pass that have a match, which filters behind the atom may have to let pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.evaluation.multiway_join import flow
from engine.evaluation.operators import Join, Operator
from engine.kernels.columns import compress
from engine.kernels.csr_runs import LENGTH, START, expand
from engine.storage.arrangement import Readable
from engine.storage.narrowed_arrangement import OrderedRuns

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker

FIRST = 4
"""Number of matches of each row tried first, then eight times as many."""


class SemiJoin(Operator):
    """Keep the rows for which the operators `filters` let a match of a join pass.

    A row is looked at no further when that has been found: for rows that have many matches, most of which pass, a few
    are read. The number of a row goes into the register `number`, and comes out in `found`.
    """

    __slots__ = ("join", "filters", "number", "found", "live")

    def __init__(self, join: Join, filters: Sequence[Operator], number: int, found: int, live: Sequence[int]) -> None:
        self.join, self.filters, self.number, self.found = join, tuple(filters), number, found
        self.live = np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        chunk[self.number, :n] = np.arange(n)
        passed = np.zeros(n, np.bool_)
        for matched, m in self.matches(worker, chunk, n, passed):
            for found, k in flow(self.filters, worker, matched, m):
                passed[found[self.found, :k]] = True
        return compress(passed, n, chunk, self.live)

    def matches(self, worker: Worker, chunk: Columns, n: int, passed: np.ndarray) -> Iterator[tuple[Columns, int]]:
        """Yield matches, a few of each row at a time, as long as it has not passed."""
        by, out = worker.arrangement(self.join.arrangement), worker.buffer(self.join.segment)
        if not (isinstance(by, OrderedRuns) or (isinstance(by, Readable) and by.holds_values)):
            yield from self.join.chunks(worker, chunk, n)
            return
        starts, lengths = by.matches(chunk, n, self.join.key, self.join.upto)
        arena = by.arena
        rows, tried, step = np.flatnonzero(lengths), 0, FIRST
        while len(rows):
            runs = np.zeros((len(rows), 2), np.int32)
            runs[:, START] = starts[rows] + tried
            runs[:, LENGTH] = np.minimum(lengths[rows] - tried, step)
            for m in self.expanded(worker, arena, chunk.take(rows, axis=1), runs, out):
                yield out, m
            tried, step = tried + step, 8 * step
            rows = rows[~passed[rows] & (lengths[rows] > tried)]

    def expanded(self, worker: Worker, arena: Columns, chunk: Columns, runs: np.ndarray, out: Columns) -> Iterator[int]:
        join, n, i, j = self.join, len(runs), 0, 0
        while i < n:
            m, i, j = expand(
                np.arange(n, dtype=np.int32), n, i, j, runs, LENGTH, chunk, join.take, arena, join.payload, out
            )
            worker.watch()
            if m:
                yield m
