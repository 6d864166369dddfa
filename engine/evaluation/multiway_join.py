"""Joins of a row with several atoms at once: the one with the fewest matches proposes, the others confirm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.database import Columns
from engine.evaluation.operators import Expansion, Join, Operator, Segment
from engine.kernels.csr_runs import count_matches

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker


class Branch(NamedTuple):
    """The work on rows for which one atom proposes: its join, the other atoms, the registers at the end."""

    join: Join
    rest: tuple[Operator, ...]
    take: tuple[int, ...]


class Intersection(Expansion):
    """Join with the atoms of all branches: each row goes down the branch whose own atom has the fewest matches for it.

    For n rows, O(n · branches + the sum over the rows of the least number of matches) probes, however skewed the
    relations are (count, propose, intersect: Ammar, McSherry, Salihoglu and Joglekar, 2018).
    """

    __slots__ = ("branches", "segment")

    def __init__(self, branches: Sequence[Branch], segment: Segment) -> None:
        self.branches, self.segment = tuple(branches), segment

    def chunks(self, worker: Worker, chunk: Columns, n: int) -> Iterator[tuple[Columns, int]]:
        counts = np.empty((len(self.branches), n), np.int32)
        for join, own in zip((branch.join for branch in self.branches), counts, strict=True):
            by = worker.arrangement(join.arrangement)
            count_matches(by.locate(chunk, n, join.key), n, by.runs, join.upto, own)
        proposer, out = counts.argmin(axis=0), worker.buffer(self.segment)
        for number, branch in enumerate(self.branches):
            rows = np.flatnonzero(proposer == number)
            own = chunk if len(rows) == n else chunk.take(rows, axis=1)
            for proposed, m in branch.join.chunks(worker, own, len(rows)) if len(rows) else ():
                for found, k in flow(branch.rest, worker, proposed, m):
                    for register, source in enumerate(branch.take):
                        out[register, :k] = found[source, :k]
                    yield out, k


def flow(operators: Sequence[Operator], worker: Worker, chunk: Columns, n: int) -> Iterator[tuple[Columns, int]]:
    """Yield the chunks that come out of the operators for a chunk."""
    for at, operator in enumerate(operators):
        if not n:
            return
        if operator.expands:
            for expanded, m in operator.chunks(worker, chunk, n):
                yield from flow(operators[at + 1 :], worker, expanded, m)
            return
        n = operator.apply(worker, chunk, n)
    if n:
        yield chunk, n
