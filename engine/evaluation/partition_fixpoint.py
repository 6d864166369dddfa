"""Partition-local fixpoints: decomposable recursion without any exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from engine.evaluation.compile_plan import Plan
from engine.evaluation.execution import SLOT_BYTES, Execution
from engine.evaluation.operators import drive
from engine.evaluation.worker_pool import Task, Worker
from engine.result import RuleStatistics
from engine.storage.memory import LEDGER
from engine.storage.partition import Partition
from engine.storage.relation import Relation

SPLIT_BITS = 4
MAX_BITS = 16
FIRST_ROWS = 1024
"""Number of rows of a delta run through the rules first, to estimate how many rows they derive."""
Planned = tuple[Plan, RuleStatistics]
Group = tuple[Partition, ...]
"""The partitions of all relations of a component with one hash of the discriminating column."""


class LocalFixpoint:
    """Runs each group of partitions to its fixpoint, on any worker; a group that outgrows the cache is split.

    Rows of a partition before its `old` have been through all rules, the others have not.
    """

    def __init__(
        self,
        relations: Sequence[Relation],
        plans: Mapping[str, Sequence[Planned]],
        execution: Execution,
    ) -> None:
        self.relations, self.execution = relations, execution
        self.plans = [plans[relation.name] for relation in relations]
        self.finished: list[Group] = []
        self.open: set[Group] = set()
        self.rounds = 0

    def run(self) -> int:
        """Run to the fixpoint; return the largest number of rounds that a group took."""
        bits = max(relation.bits for relation in self.relations)
        for relation in self.relations:
            if relation.bits != bits:
                relation.split(bits)
        groups = list(zip(*(relation.partitions for relation in self.relations), strict=True))
        self.wait(groups)
        try:
            self.execution.pool.run([partial(self.solve, group, bits, 0) for group in groups])
        finally:
            done = zip(*self.finished, *self.open, strict=True)
            for relation, partitions in zip(self.relations, done, strict=True):
                relation.replace(partitions)
        return self.rounds

    def is_large(self, group: Group) -> bool:
        """Return True if to split a group: it no longer fits in the cache and has enough to do, or memory is short."""
        options, to_do = self.execution.options, sum(part.n - part.old for part in group)
        outgrown = expected_working_set(group) > options.partition_rows * SLOT_BYTES and to_do >= options.delta_rows
        return outgrown or LEDGER.is_large(row_bytes(group))

    def wait(self, groups: Sequence[Group]) -> None:
        """Let groups wait for their turn; their rows may be spilled meanwhile."""
        self.open.update(groups)
        for group in groups:
            for part in group:
                part.rest()

    def solve(self, group: Group, bits: int, rounds: int, worker: Worker) -> Sequence[Task]:
        """Run one group, after so many rounds, to its fixpoint or until it is split."""
        for part in group:
            LEDGER.withdraw(part)
        worker.local_partitions = dict(zip(self.relations, group, strict=True))
        worker.iteration = rounds + 1
        pool, whole = self.execution.pool, 0
        try:
            while True:
                if bits < MAX_BITS and row_bytes(group) > 2 * whole and self.is_large(group):
                    if children := self.split(group, bits):
                        self.open.discard(group)
                        self.wait(children)
                        return [partial(self.solve, child, bits + SPLIT_BITS, rounds) for child in children]
                    whole = row_bytes(group)
                if not self.step(group, worker) or pool.stopped:
                    break
                rounds += 1
                worker.iteration = rounds + 1
        finally:
            worker.local_partitions = {}
        for part in group:
            part.finish()
        self.open.discard(group)
        self.finished.append(group)
        self.rounds = max(self.rounds, rounds)
        return ()

    def step(self, group: Group, worker: Worker) -> int:
        """Take what is new in each partition through the rules; return how many rows that was."""
        n_new = 0
        for part, plans in zip(group, self.plans, strict=True):
            lo, hi = part.old, part.n
            if hi - lo <= FIRST_ROWS:
                self.take(plans, part, hi, worker)
            else:
                self.take_by_portions(plans, part, group, worker)
            n_new += part.old - lo
        return n_new

    def take(self, plans: Sequence[Planned], part: Partition, hi: int, worker: Worker) -> None:
        """Take the rows of a partition up to hi through the rules."""
        lo, part.old = part.old, hi
        for plan, statistics in plans if lo < hi else ():
            begin = perf_counter()
            for chunk, n in plan.scan.chunks(worker, part.rows, lo, hi):
                drive(plan.operators, worker, chunk, n)
            self.execution.charge(statistics, worker, begin, hi - lo)

    def take_by_portions(self, plans: Sequence[Planned], part: Partition, group: Group, worker: Worker) -> None:
        """Take what is new in a partition through the rules, but stop when the group outgrows the cache.

        The rest is then better taken by parts of the group. A portion is as large as may well add as many rows as a
        partition should have, judging by the portion before.
        """
        options, end, n_rows = self.execution.options, part.n, FIRST_ROWS
        largest = 2 * max(working_set(group), options.partition_rows * SLOT_BYTES)
        while part.old < end and working_set(group) <= largest:
            before, lo = sum(other.n for other in group), part.old
            self.take(plans, part, min(end, lo + n_rows), worker)
            added = sum(other.n for other in group) - before
            n_rows = max(1, min(options.chunk_rows, options.partition_rows * (part.old - lo) // max(1, added)))

    def split(self, group: Group, bits: int) -> Sequence[Group]:
        """Divide a group by the next bits of the hash; return nothing if most rows would stay together."""
        divided = [
            part.divide(relation.position(relation.discriminating), bits + SPLIT_BITS, 1 << SPLIT_BITS)
            for part, relation in zip(group, self.relations, strict=True)
        ]
        sizes = np.array([[part.n for part in parts] for parts in divided])
        if sizes.sum(axis=0).max() > 0.9 * sizes.sum():
            return ()
        return [child for child in zip(*divided, strict=True) if any(part.n for part in child)]


def working_set(group: Group) -> int:
    """The largest working set of a group's partitions, which should fit in a cache."""
    return max(part.working_set for part in group)


def expected_working_set(group: Group) -> int:
    """The same, also of partitions whose tables are not built yet."""
    return max(SLOT_BYTES * part.n if part.table is None else part.working_set for part in group)


def row_bytes(group: Group) -> int:
    """The size of the rows of a group."""
    return sum(part.rows.nbytes for part in group)


class GroupFixpoint(LocalFixpoint):
    """The same with aggregate relations, whose partitions give the groups that changed; none is spilled."""

    def run(self) -> int:
        bits = max(relation.bits for relation in self.relations)
        for relation in self.relations:
            if relation.bits != bits:
                relation.split(bits)
        for relation in self.relations:
            for partition in relation.partitions:
                partition.reopen()
        groups = zip(*(relation.partitions for relation in self.relations), strict=True)
        self.execution.pool.run([partial(self.solve, group, bits, 0) for group in groups])
        for relation, partitions in zip(self.relations, zip(*self.finished, strict=True), strict=True):
            relation.replace(partitions)
        return self.rounds

    def solve(self, group: Group, bits: int, rounds: int, worker: Worker) -> Sequence[Task]:
        """Run one group to its fixpoint, or until it is split; several workers share the first one."""
        worker.local_partitions = dict(zip(self.relations, group, strict=True))
        pool, options = self.execution.pool, self.execution.options
        is_shared = bits == 0 and len(pool.workers) > 1
        limit = 0 if is_shared else options.partition_rows * SLOT_BYTES
        try:
            while (n_new := self.step(group, worker)) and not pool.stopped:
                rounds += 1
                worker.iteration = rounds + 1
                if n_new >= options.delta_rows and bits < MAX_BITS and working_set(group) > limit:
                    if children := self.split(group, bits):
                        return [partial(self.solve, child, bits + SPLIT_BITS, rounds) for child in children]
                    limit = 2 * working_set(group)
        finally:
            worker.local_partitions = {}
        for part in group:
            part.finish()
        self.finished.append(group)
        self.rounds = max(self.rounds, rounds)
        return ()

    def step(self, group: Group, worker: Worker) -> int:
        """Take what has changed in each partition through the rules; return how many rows that was."""
        n_new = 0
        for part, plans in zip(group, self.plans, strict=True):
            delta = part.take_delta()
            if delta is None:
                continue
            rows, lo, hi = delta
            n_new += hi - lo
            for plan, statistics in plans:
                begin = perf_counter()
                for chunk, n in plan.scan.chunks(worker, rows, lo, hi):
                    drive(plan.operators, worker, chunk, n)
                self.execution.charge(statistics, worker, begin, hi - lo)
        return n_new
