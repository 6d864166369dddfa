"""Partition-local fixpoints: decomposable recursion without any exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from engine.kernels.hashing import partition_of
from engine.local.build import Plan
from engine.local.execution import Execution
from engine.local.operators import drive
from engine.local.team import Task, Worker
from engine.result import RuleStatistics
from engine.storage.partition import Partition
from engine.storage.relation import Relation, distribute

SPLIT_BITS = 4
MAX_BITS = 16
SLOT_BYTES = 16
"""What a row takes in a hash table."""
Group = tuple[Partition, ...]
"""The partitions of all relations of a component with one hash of the discriminating column."""


class LocalFixpoint:
    """Runs each group of partitions to its fixpoint, on any worker; a group that outgrows the cache is split.

    Rows of a partition before its `old` have been through all rules, the others have not.
    """

    def __init__(
        self,
        relations: Sequence[Relation],
        plans: Mapping[str, Sequence[tuple[Plan, RuleStatistics]]],
        execution: Execution,
    ) -> None:
        self.relations, self.execution = relations, execution
        self.plans = [plans[relation.name] for relation in relations]
        self.finished: list[Group] = []
        self.rounds = 0

    def run(self) -> int:
        """Run to the fixpoint; return the largest number of rounds that a group took."""
        bits = max(relation.bits for relation in self.relations)
        for relation in self.relations:
            if relation.bits != bits:
                relation.split(bits)
        groups = zip(*(relation.partitions for relation in self.relations), strict=True)
        self.execution.team.run([partial(self.solve, group, bits, 0) for group in groups])
        for relation, partitions in zip(self.relations, zip(*self.finished, strict=True), strict=True):
            relation.replace(partitions)
        return self.rounds

    def solve(self, group: Group, bits: int, rounds: int, worker: Worker) -> Sequence[Task]:
        """Run one group, after so many rounds, to its fixpoint or until it is split."""
        worker.home = dict(zip(self.relations, group, strict=True))
        worker.iteration = rounds + 1
        options = self.execution.options
        limit, team = options.partition_rows * SLOT_BYTES, self.execution.team
        try:
            while (n_new := self.step(group, worker)) and not team.stopped:
                rounds += 1
                worker.iteration = rounds + 1
                if n_new >= options.delta_rows and bits < MAX_BITS and max(p.working_set for p in group) > limit:
                    if children := self.split(group, bits):
                        return [partial(self.solve, child, bits + SPLIT_BITS, rounds) for child in children]
                    limit *= 2
        finally:
            worker.home = {}
        for part in group:
            part.finish()
        self.finished.append(group)
        self.rounds = max(self.rounds, rounds)
        return ()

    def step(self, group: Group, worker: Worker) -> int:
        """Take what is new in each partition through the rules; return how many rows that was."""
        n_new = 0
        for part, plans in zip(group, self.plans, strict=True):
            lo, hi = part.old, part.n
            if lo == hi:
                continue
            n_new += hi - lo
            part.old = hi
            for plan, statistics in plans:
                begin = perf_counter()
                for chunk, n in plan.scan.chunks(worker, part.rows, lo, hi):
                    drive(plan.operators, worker, chunk, n)
                self.execution.charge(statistics, worker, begin, hi - lo)
        return n_new

    def split(self, group: Group, bits: int) -> Sequence[Group]:
        """Divide a group by the next bits of the hash; return nothing if most rows would stay together."""
        divided = [
            divide(part, relation, bits + SPLIT_BITS) for part, relation in zip(group, self.relations, strict=True)
        ]
        sizes = np.array([[part.n for part in parts] for parts in divided])
        if sizes.sum(axis=0).max() > 0.9 * sizes.sum():
            return ()
        return [child for child in zip(*divided, strict=True) if any(part.n for part in child)]


def divide(part: Partition, relation: Relation, bits: int) -> Sequence[Partition]:
    """Return the partitions a partition falls into by SPLIT_BITS more bits of the hash; `old` is kept."""
    targets = [Partition(relation.arity, relation.dtype) for _ in range(1 << SPLIT_BITS)]
    for lo, hi in ((0, part.old), (part.old, part.n)):
        parts = np.empty(hi - lo, np.int32)
        partition_of(part.rows, lo, hi, relation.discriminating, bits, parts)
        distribute(part, lo, hi, parts & (len(targets) - 1), targets)
        if lo == 0:
            for target in targets:
                target.old = target.n
    return targets
