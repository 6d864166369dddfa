"""Recursive sums whose contributors are known: a change of a group costs computations, no look-ups.

See `engine.plan.stable_matches` for the rules that this is for. Their matches are kept by target: for each contribution
the number of the group that it comes from, the contributor, and the operands, in the order of the contributors. A round
then goes through them from first to last. Only the values of the groups they come from are read in no order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from engine.database import Columns
from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import build
from engine.evaluation.execution import Execution
from engine.evaluation.worker_pool import Worker
from engine.kernels.aggregates import order_by
from engine.kernels.columns import gather
from engine.kernels.hash_tables import partition_of
from engine.plan.rule import Rule
from engine.plan.stable_matches import StableMatches, stable_matches
from engine.result import RuleStatistics
from engine.storage.aggregate_partition import AggregatePartition
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.memory import LEDGER
from engine.storage.sum_accumulator import Sum

SPARSE = 16
"""If fewer than one group in SPARSE has changed, the rule is run only for those."""


def cached_match_rule(rule: Rule, delta: int, bindings: Bindings, recursive: frozenset[str]) -> CachedMatchRule | None:
    """Return a rule that caches its matches for changes of the atom at position `delta` of its body, if it can."""
    source, target = bindings.relations[rule.body[delta].relation], bindings.relations[rule.relation]
    if not (isinstance(source, AggregateRelation) and isinstance(target, AggregateRelation)) or not target.sums_by_key:
        return None
    (summed,) = target.shape.aggregated
    given = frozenset(column.column for column in source.shape.aggregated)
    spec = stable_matches(rule, delta, given, summed.column, (*target.group, *summed.keys), recursive)
    return None if spec is None else CachedMatchRule(spec, source, target, bindings)


class CachedMatchRule:
    """A rule with its matches, as soon as they are worth keeping."""

    def __init__(
        self, spec: StableMatches, source: AggregateRelation, target: AggregateRelation, bindings: Bindings
    ) -> None:
        self.spec, self.source, self.target, self.bindings = spec, source, target, bindings
        self.computations = [
            (c.target, bindings.functors.functor(c.functor, c.kind, c.result), c.arguments) for c in spec.computations
        ]
        self.n_read = self.n_sources = self.n_matched = self.n_failures = 0
        self.partitions: Sequence[AggregatePartition] = ()
        self.parts: list[Matches] = []

    def is_ready(self, execution: Execution) -> bool:
        """Return True if a round is to use the matches; they are looked for now, if caching them pays."""
        source = self.source
        known, self.n_sources = source.n == self.n_sources, source.n
        self.n_read += source.n_delta
        if not known or source.n_delta * SPARSE < source.n:
            return False
        enough = execution.options.matched_reads * source.n << self.n_failures
        if not self.is_current and self.n_read >= enough and LEDGER.has_room(self.match_bytes):
            self.match(execution)
        return self.is_current

    @property
    def is_current(self) -> bool:
        """True if there are matches, of all groups, and the partitions that they name are still in use."""
        return self.n_matched == self.source.n and self.partitions is self.target.partitions

    @property
    def match_bytes(self) -> int:
        """About the memory that matching takes, most of it until it is done."""
        n_contributors = sum(partition.accumulators[0].n_contributors for partition in self.target.partitions)
        return 4 * 8 * len(self.spec.matches.head) * n_contributors

    def match(self, execution: Execution) -> None:
        """Find all matches. There are none to keep if one has not contributed yet, for want of a value."""
        target, spec = self.target, self.spec
        log = RowLog(len(spec.matches.head))
        relations = {**self.bindings.relations, spec.matches.relation: log}
        plan = build(spec.matches, replace(self.bindings, relations=relations), 0, frozenset([self.source.name]))
        execution.run([(plan, RuleStatistics(), self.source.numbered())], ())
        rows, at = log.rows(), 1 + np.arange(len(target.group))
        parts = np.empty(rows.shape[1], np.int32)
        partition_of(rows, 0, len(parts), at[target.position(target.discriminating)], max(0, target.bits), parts)
        order = order_by(parts, len(target.partitions))
        bounds = np.cumsum([0, *np.bincount(parts, minlength=len(target.partitions))])
        self.parts = [Matches(partition) for partition in target.partitions]
        execution.pool.run(
            [
                partial(part.find, rows, order[lo:hi])
                for part, lo, hi in zip(self.parts, bounds[:-1], bounds[1:], strict=True)
            ]
        )
        self.n_read = 0
        if all(part.complete for part in self.parts):
            self.partitions, self.n_matched = target.partitions, self.source.n
        else:
            self.parts, self.n_matched, self.n_failures = [], 0, self.n_failures + 1

    def run(self, execution: Execution, statistics: RuleStatistics) -> None:
        """Take the changes of all groups to their contributions."""
        step = execution.options.chunk_rows
        values = {name: self.source.present[column] for name, column in self.spec.values.items()}
        tasks = [partial(self.recompute, part, values, step, statistics, execution) for part in self.parts]
        is_small = sum(len(part.slots) for part in self.parts) <= execution.options.alone_rows
        execution.pool.run(tasks, 1 if is_small else None)

    def recompute(
        self,
        part: Matches,
        values: Mapping[str, np.ndarray],
        step: int,
        statistics: RuleStatistics,
        execution: Execution,
        worker: Worker,
    ) -> None:
        begin, n, before = perf_counter(), len(part.slots), part.groups.changes.n
        summed: Sum = part.groups.accumulators[0]
        for lo in range(0, n, step):
            rows = slice(lo, lo + step)
            found = {name: gather(column, part.sources[rows]) for name, column in values.items()}
            found.update((name, column[rows]) for name, column in zip(self.spec.operands, part.operands, strict=True))
            result, defined = self.compute(found)
            slots, owners = part.slots[rows], part.owners[rows]
            if defined is not None:
                result, slots, owners = result[defined], slots[defined], owners[defined]
            result = np.ascontiguousarray(result, summed.spec.dtype).view(summed.spec.native)
            summed.lift(result, slots, owners, summed.contributors.n, part.groups.changes)
        worker.produced, worker.added = n, part.groups.changes.n - before
        execution.charge(statistics, worker, begin, n)

    def compute(self, found: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
        """Run the computations; return the result, and where it is defined unless that is everywhere."""
        everywhere = None
        for name, function, arguments in self.computations:
            found[name], defined = function(*[found.get(argument, argument) for argument in arguments])
            if defined is not None and not np.all(defined):
                everywhere = defined if everywhere is None else everywhere & defined
        return found[self.spec.result], everywhere


class Matches:
    """The matches whose contributions go to one partition, in the order of their contributors.

    Each has the number of the group it comes from in `sources`, its contributor in `slots`, the group that this
    belongs to in `owners`, and its `operands`.
    """

    def __init__(self, groups: AggregatePartition) -> None:
        self.groups = groups

    def find(self, rows: Columns, chosen: np.ndarray, worker: Worker) -> None:
        """Take the chosen of rows (number of the source, group, contributor, operands)."""
        rows, summed = np.ascontiguousarray(rows[:, chosen]), self.groups.accumulators[0]
        n, first_key = len(chosen), 1 + len(self.groups.shape.group)
        first_operand = first_key + len(summed.spec.keys)
        if not summed.is_ordered:
            summed.number_in_order()
        owners = self.groups.keys.find(rows, n, np.arange(1, first_key))
        named = np.concatenate([owners[None].astype(rows.dtype), rows[first_key:first_operand]])
        slots = summed.contributors.find(named, n, np.arange(len(named)))
        self.complete = bool((slots >= 0).all())
        order = order_by(slots, summed.contributors.n) if self.complete else slots[:0]
        self.sources, self.slots, self.owners = rows[0, order].astype(np.int32), slots[order], owners[order]
        self.operands = [operand[order] for operand in rows[first_operand:]]


class RowLog:
    """Takes the place of a relation: keeps rows as they come, whether or not they are distinct."""

    bits, paired = 0, False

    def __init__(self, width: int) -> None:
        self.partitions, self.width = [self], width
        self.blocks: list[Columns] = []

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add rows. Safe to call from several threads: appending to a list is."""
        self.blocks.append(rows[take, lo:hi])
        return hi - lo

    insert_beside = insert

    def rows(self) -> Columns:
        return np.concatenate([np.empty((self.width, 0), np.int32), *self.blocks], axis=1)
