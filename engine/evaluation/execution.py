"""Running plans on the worker pool, in parallel when that pays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Lock
from time import perf_counter

import numpy as np

from engine.budget import UNMETERED, Meter
from engine.database import Columns, Widening
from engine.evaluation.compile_plan import Plan
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy
from engine.evaluation.operators import drive
from engine.evaluation.worker_pool import Task, Worker, WorkerPool
from engine.result import RuleStatistics
from engine.storage.arrangement import Block
from engine.storage.memory import LEDGER
from engine.storage.relation import SMALL_ROWS, Relation


@dataclass(frozen=True)
class Options:
    """The sizes at which the evaluator changes its ways; they change no result.

    `partition_rows`: in local fixpoints a partition with more rows is split, so that its table fits in the second-level
    cache, when its delta has `delta_rows`, for each part must keep enough to do at once. `split_rows`: in rounds a
    partition with more rows is split if threads cannot share it; each round visits all parts, so they pay only when
    they are much larger.
    `alone_rows`: less work than that is done by the calling thread alone, as are jobs of fewer than `alone_mean_rows`
    on average: threads would wait for the interpreter's lock. `beside_rows`: strata expected to touch more rows in an
    update run side by side. `wave_tasks`: full tasks between two looks at the sizes of partitions.
    `large_rows`: an evaluation that has derived more lets go of relations when they have been read. `exchange_bits`: an
    exchange begins with 2**exchange_bits partitions, but four for each worker at least; `queue_batches`: a queue's
    room. `min_sampled`: orders expected to cost fewer rows are found without samples. `matched_reads`: a rule's
    matches are cached when it has read every group so many times: what keeping them costs is spent by then.
    `large_clauses`: a recursion of so many is what other strata make way for, and those of `aside_clauses` together are
    evaluated by another process meanwhile, where a database has `aside_facts`; it is given more at its `last_clauses`.
    None begins where this one holds more than `most_copied_bytes`, for what each of both writes is soon as much again.
    `always_eliminate`: every body that can be is cut by auxiliary relations, not only where that saves rows.
    """

    chunk_rows: int = 1 << 15
    buffer_rows: int = 1 << 11
    partition_rows: int = 1 << 17
    split_rows: int = 1 << 20
    delta_rows: int = 1 << 15
    max_bits: int = 8
    exchange_bits: int = 2
    queue_batches: int = 64
    alone_rows: int = 1 << 13
    alone_mean_rows: int = 1 << 11
    beside_rows: int = 1 << 15
    wave_tasks: int = 64
    large_rows: int = 1 << 20
    min_sampled: int = 1 << 20
    matched_reads: int = 2
    large_clauses: int = 60
    aside_clauses: int = 150
    last_clauses: int = 20
    aside_facts: int = 1 << 15
    most_copied_bytes: int = 1 << 31
    always_eliminate: bool = False


MOST_TOGETHER = 32
"""Small pieces of work that are one task at most."""
SLOT_BYTES = 16
"""Bytes of a row in a hash table."""

Job = tuple[Plan, RuleStatistics, Sequence[Block]]
"""A plan to run over the rows of some blocks; over no block, if it begins with a seed."""


class Execution:
    """A worker pool with the options of an evaluation. `epoch` counts changes of the magnitude of relations.

    `row_limits` are those of `widenings` for now, by relation. Of `dated` relations it matters which rows there are in
    the iteration that passes the limit. Where another process is at work, too, as `is_accompanied` tells, that keeps a
    processor busy. `tend` is called between two iterations, when all workers rest.
    """

    def __init__(
        self, threads: int, options: Options, policy: CoordinationPolicy = GLOBAL, meter: Meter = UNMETERED
    ) -> None:
        self.options, self.policy, self.profiled, self.meter = options, policy, False, meter
        self.row_limits: dict[str, int] = {}
        self.widenings: Mapping[str, Widening] = {}
        self.dated: Collection[str] = ()
        self.pool = WorkerPool(threads, options.chunk_rows, options.buffer_rows, meter.watch)
        self.is_accompanied: Callable[[], bool] = bool
        self.tend: Callable[[], object] = bool
        self.epoch = 0
        self._lock = Lock()

    def alone(self, meter: Meter) -> Execution:
        """Return the same execution on the calling thread alone."""
        made = copy(self)
        made.tend, made.meter = bool, meter
        made.pool = WorkerPool(1, self.options.chunk_rows, self.options.buffer_rows, meter.watch)
        return made

    def run(self, jobs: Sequence[Job], targets: Iterable[Relation]) -> None:
        """Run jobs to their end; `targets` are the relations they write, split when they outgrow their partitions."""
        self.run_planned(jobs, sum(b.hi - b.lo for _, _, blocks in jobs for b in blocks), len(jobs), targets)

    def run_planned(self, jobs: Iterable[Job], n_rows: int, n_jobs: int, targets: Iterable[Relation]) -> None:
        """Run jobs that read about so many rows; where these are many, some run while others are still planned."""
        if n_rows <= max(self.options.alone_rows, self.options.alone_mean_rows * n_jobs):
            worker = self.pool.workers[0]
            for plan, statistics, blocks in jobs:
                if plan.scan is None:
                    self.run_seed(plan, statistics, worker)
                for rows, lo, hi in blocks:
                    self.run_rows(plan, statistics, rows, lo, hi, worker)
            worker.flush()
            self.account(worker)
        else:
            for wave in self.waves(jobs):
                self.pool.run(wave, self.n_workers())
                for worker in self.pool.workers:
                    self.account(worker)
                self.split(targets)
        self.split(targets)

    def n_workers(self) -> int:
        """Return the maximum number of workers of the next wave of tasks."""
        return max(1, len(self.pool.workers) - self.is_accompanied())

    def waves(self, jobs: Iterable[Job]) -> Iterator[Iterator[Task]]:
        """Yield tasks in groups that read as many rows as `wave_tasks` full ones, or more by less than one.

        A group is to be read to its end before the next one.
        """
        tasks = self.tasks(jobs)
        for first in tasks:
            yield self.wave(chain([first], tasks))

    def wave(self, tasks: Iterable[tuple[Task, int]]) -> Iterator[Task]:
        n_left = self.options.wave_tasks * self.options.chunk_rows
        for task, n_rows in tasks:
            yield task
            n_left -= n_rows
            if n_left <= 0:
                return

    def tasks(self, jobs: Iterable[Job]) -> Iterator[tuple[Task, int]]:
        """Yield tasks with the numbers of rows that they read.

        Small pieces of work are one task together: to take a task from the queue costs as much as some thousand rows.
        """
        small: list[Task] = []
        n_small, step = 0, self.options.chunk_rows
        for plan, statistics, blocks in jobs:
            if plan.scan is None:
                yield partial(self.run_seed, plan, statistics), 0
            for rows, lo, hi in blocks:
                for at in range(lo, hi, step):
                    n = min(step, hi - at)
                    piece = partial(self.run_rows, plan, statistics, rows, at, at + n)
                    if n >= step // 2:
                        yield piece, n
                        continue
                    small.append(piece)
                    n_small += n
                    if n_small >= step or len(small) >= MOST_TOGETHER:
                        yield partial(run_all, small), n_small
                        small, n_small = [], 0
        yield from ((piece, 0) for piece in small)

    def run_seed(self, plan: Plan, statistics: RuleStatistics, worker: Worker) -> None:
        """Run a plan that begins with one row of no columns."""
        begin = self.begin(worker, statistics)
        chunk = worker.buffer(plan.seed)
        drive(plan.operators, worker, chunk, 1)
        self.end(worker, statistics, begin, 0)

    def run_rows(self, plan: Plan, statistics: RuleStatistics, rows: Columns, lo: int, hi: int, worker: Worker) -> None:
        begin = self.begin(worker, statistics)
        for chunk, n in plan.scan.chunks(worker, rows, lo, hi):
            drive(plan.operators, worker, chunk, n)
        self.end(worker, statistics, begin, hi - lo)

    def load(self, relation: Relation, block: Block) -> None:
        """Insert rows that are not known to be distinct."""
        step, take = self.options.chunk_rows, relation.every
        rows, lo, hi = block
        while (hi - lo) >> relation.bits > self.options.split_rows // 2 and self.can_split(relation):
            relation.split(min(relation.bits + 4, self.options.max_bits))
        in_turn = len(self.pool.workers) == 1 or hi - lo <= self.options.alone_rows
        if relation.bits == 0 and (in_turn or not relation.partitions[0].is_shared):
            relation.insert(rows, lo, hi, take)
            return

        def put(at: int, worker: Worker) -> None:
            n = min(step, hi - at)
            worker.emit(relation, np.ascontiguousarray(rows[:, at : at + n]), n, take)

        for worker in self.pool.workers:
            worker.rule = None
        self.pool.run([partial(put, at) for at in range(lo, hi, step)])
        for worker in self.pool.workers:
            self.account(worker)

    # ---- statistics

    def begin(self, worker: Worker, statistics: RuleStatistics) -> float:
        if worker.rule is not statistics:
            worker.flush()
            self.account(worker)
            worker.rule = statistics
        return perf_counter()

    def end(self, worker: Worker, statistics: RuleStatistics, begin: float, read: int) -> None:
        with self._lock:
            statistics.charge(worker.iteration, perf_counter() - begin, read)

    def charge(self, statistics: RuleStatistics, worker: Worker, begin: float, read: int) -> None:
        """Charge a rule with all that the worker did since `begin`, on `read` rows."""
        with self._lock:
            statistics.charge(worker.iteration, perf_counter() - begin, read)
            statistics.credit(worker.iteration, worker.produced, worker.added)
        worker.produced = worker.added = 0

    def account(self, worker: Worker) -> None:
        """Charge the rows a worker has made to the rule it was running."""
        if worker.rule is not None:
            with self._lock:
                worker.rule.credit(worker.iteration, worker.produced, worker.added)
        worker.produced = worker.added = 0

    # ---- relations

    def advance(self, relations: Sequence[Relation]) -> int:
        """Advance relations to the next iteration; return the size of all deltas."""
        LEDGER.enter(0)
        self.call_all([call for relation in relations for call in relation.before_advance()])
        updates: list[tuple[list[Callable[[], None]], int]] = []
        total = 0
        for relation in relations:
            magnitude = relation.magnitude
            updates.append((relation.advance(), relation.n_delta))
            total += relation.n_delta
            self.epoch += magnitude != relation.magnitude
        updates.sort(key=lambda each: -each[1])  # The longest first: none is left to one thread at the end.
        self.call_all([call for calls, _ in updates for call in calls], alone=total <= self.options.alone_rows)
        for relation in relations:
            if relation.n > SMALL_ROWS:
                relation.rest()
        return total

    def call_all(self, calls: Sequence[Callable[[], None]], alone: bool = False) -> None:
        """Make calls that do not depend on each other, on all threads if that pays."""
        if alone or len(calls) < 2:
            for each in calls:
                each()
        else:
            self.pool.run([partial(call, each) for each in calls])

    def split(self, relations: Iterable[Relation]) -> None:
        """Split relations whose partitions have become too large."""
        options = self.options
        for relation in relations:
            if self.can_split(relation):
                largest = max(relation.partitions, key=lambda partition: partition.n)
                axis = largest.matrix_axis
                outgrown = largest.n > options.split_rows
                if axis is not None and relation.bits == 0:
                    # A row of a matrix is no longer than it is wide: no value makes a partition too large.
                    relation.discriminating = np.array([axis])
                elif axis is not None:
                    outgrown = largest.working_set > options.partition_rows * SLOT_BYTES
                if outgrown:
                    relation.split(min(relation.bits + 4, options.max_bits))

    def can_split(self, relation: Relation) -> bool:
        """Return True if a relation should be split when it grows.

        One thread inserts faster into a single table, and so do several that can share it.
        """
        first = relation.partitions[0]
        if relation.bits == 0 and first.is_shared and not LEDGER.is_large(first.n_bytes):
            return False
        return (
            len(self.pool.workers) > 1
            and relation.splits
            and relation.split_when_large
            and 0 <= relation.bits < self.options.max_bits
            and relation.arity > 0
        )


def run_all(tasks: Sequence[Task], worker: Worker) -> None:
    for task in tasks:
        task(worker)


def call(update: Callable[[], None], worker: Worker) -> None:
    update()
