"""A stratum evaluated from scratch (Zhao et al., Algorithm 2): semi-naive, and each derivation counted.

Iteration k takes the tuples of iteration k - 1 as its delta: semi-naive variants meet each instantiation once, in the
iteration after the last of its tuples. Heads that are not there yet are tuples of iteration k, and how often they are
met is the number of their supports. For that to be so an atom stands for all of its tuples, also where what tells them
apart is read nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_expressions import Unsatisfiable
from engine.evaluation.compile_plan import Builder, Plan
from engine.evaluation.execution import Job
from engine.evaluation.operators import Contains, Operator
from engine.evaluation.semi_naive_variants import Variant
from engine.incremental.iteration_stamps import every_variable, marked
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.shared_worker_pool import SharedWorkerPool
from engine.kernels.columns import compress
from engine.plan.join_order import order
from engine.plan.rule import Match, Rule
from engine.result import RuleStatistics
from engine.storage.arrangement import Readable
from engine.storage.relation import Relation

if TYPE_CHECKING:
    from engine.database import Columns
    from engine.evaluation.worker_pool import Worker


class Present(Operator):
    """Keeps the rows whose tuple, in the register `marker`, is there: an input may hold tuples that have gone."""

    __slots__ = ("relation", "marker", "live")

    def __init__(self, relation: MaintainedRelation, marker: int, live: Sequence[int]) -> None:
        self.relation, self.marker, self.live = relation, marker, np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        return compress(self.relation.are_there(chunk[self.marker, :n]), n, chunk, self.live)


class Counter(Builder):
    """Builds the operators of a body whose atoms end in a term for the id of their tuple."""

    def match(self, literal: Match) -> None:
        *terms, marker = literal.terms
        unbound = [term for term in terms if term is None or not self.is_bound(term)]
        needed, relation = self.needed, self.bindings.relations[literal.relation]
        has_gone = relation.name not in self.recursive and len(relation.present()) < relation.n_ids
        if has_gone or (unbound and self.needed.isdisjoint(unbound)):
            self.needed = needed | {marker}
        super().match(literal)
        self.needed = needed
        if has_gone:
            self.operators.append(Present(relation, self.register_of(marker), self.live()))

    def exists(
        self, relation: Relation, columns: Sequence[int], key: Sequence[int], *, old: bool, wanted: bool
    ) -> None:
        if len(columns) == relation.width and relation.name not in self.recursive:
            self.operators.append(Contains(relation, key, wanted, self.live()))
        else:
            super().exists(relation, columns, key, old=old, wanted=wanted)

    def arrangement(self, relation: Relation, key: Sequence[int], *, payload: bool, old: bool) -> Readable:
        return relation.arrangement(key, payload=payload, old=old)


class Derive(Operator):
    """Ends a plan: counts the rows on some registers as derivations."""

    __slots__ = ("relation", "take", "watch")

    def __init__(self, relation: MaintainedRelation, take: Sequence[int], watch: Callable[[], None]) -> None:
        self.relation, self.take, self.watch = relation, np.array(take, np.int64), watch

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.watch()
        worker.produced += n
        self.relation.derive(chunk, n, self.take)
        return 0


class CountedRule(Variant):
    """A rule that begins with the delta of an atom, or (`delta` is None) with all tuples."""

    def __init__(
        self,
        rule: Rule,
        bindings: Bindings,
        statistics: RuleStatistics,
        watch: Callable[[], None],
        delta: int | None = None,
        recursive: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(rule, bindings, statistics, delta, recursive)
        self.watch = watch

    def _build(self) -> None:
        relation = self.bindings.relations[self.rule.relation]

        def end(take: list[int]) -> Operator:
            return Derive(relation, take, self.watch)

        with self.bindings.lock:
            self._plan = counted_plan(self.rule, self.bindings, end, self.delta, self.recursive)


def counted_plan(
    rule: Rule,
    bindings: Bindings,
    end: Callable[[list[int]], Operator],
    delta: int | None = None,
    recursive: frozenset[str] = frozenset(),
) -> Plan:
    """Return a plan of a marked rule that meets each instantiation once; `end` is given the registers of the head."""
    first = None if delta is None else rule.body[delta]
    steps = order(rule.body, first, (), every_variable(rule), bindings.sizes)
    builder = Counter(rule.wide, bindings)
    builder.recursive = recursive
    earlier = rule.body[: delta or 0]
    builder.old = frozenset(id(x) for x in earlier if isinstance(x, Match) and x.relation in recursive)
    try:
        builder.steps([step.literal for step in steps], rule.head)
        builder.current()
        take = [builder.register_of(term) for term in rule.head]
    except Unsatisfiable:
        return Plan(None, None, None, (), tuple(steps), never=True)
    return Plan(builder.source, builder.scan, builder.seed, (*builder.operators, end(take)), tuple(steps))


class CountingBootstrap:
    """The rules of a stratum, to be run until nothing new is derived."""

    def __init__(
        self,
        relations: Sequence[MaintainedRelation],
        rules: Mapping[Rule, RuleStatistics],
        bindings: Bindings,
        pool: SharedWorkerPool,
        watch: Callable[[], None],
    ) -> None:
        self.relations, self.pool = relations, pool
        names = frozenset(relation.name for relation in relations)
        self.initial: list[CountedRule] = []
        self.variants: dict[str, list[CountedRule]] = {name: [] for name in names}
        for rule, costs in rules.items():
            shared = (marked(rule), bindings, costs, watch)
            found = [(i, x.relation) for i, x in enumerate(rule.body) if isinstance(x, Match) and x.relation in names]
            if not found:
                self.initial.append(CountedRule(*shared))
            for i, name in found:
                self.variants[name].append(CountedRule(*shared, i, names))

    def run(self, enough: Callable[[], bool]) -> tuple[int, bool]:
        """Run to the fixpoint, or until there is `enough`; return the last iteration, and whether that was why."""
        iteration = 0
        is_enough = False
        ready = [*self.initial, *self.with_delta()]
        while ready and not is_enough:
            self.run_round(ready, iteration)
            if not sum([relation.next_round(iteration + 1) for relation in self.relations]):
                break
            iteration += 1
            self.pool.tend()
            is_enough, ready = enough(), self.with_delta()
        for relation in self.relations:
            relation.end_rounds()
        return iteration, is_enough

    def with_delta(self) -> list[CountedRule]:
        """The variants that have a delta to begin with."""
        return [v for relation in self.relations if relation.n_delta for v in self.variants[relation.name]]

    def run_round(self, ready: Sequence[CountedRule], iteration: int) -> None:
        jobs: list[Job] = []
        for variant in ready:
            plan = variant.plan(iteration)
            if plan is not None:
                source = plan.source
                blocks = () if source is None else source.blocks() if variant.delta is None else source.delta
                jobs.append((plan, variant.statistics, blocks))
        if jobs:
            self.pool.run(jobs)
