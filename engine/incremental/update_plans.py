"""The plans of a rule: over the changes of one atom, and over heads, or groups of them, that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import thread_time

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import Plan
from engine.evaluation.execution import Job
from engine.evaluation.operators import Operator
from engine.incremental.changed_rows import AskedRows, ChangedRows, Condition, conditions_of
from engine.incremental.iteration_stamps import AFTER, BEFORE, Epoch, Stamper
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.shared_worker_pool import SharedWorkerPool
from engine.plan.rule import Absent, Literal, Match, Operand, Rule
from engine.result import RuleStatistics
from engine.storage.partition import Block
from engine.storage.relation import Relation

HEAD = "#head"
POSITIVE, NEGATED, ASKED = "±", "∓", "?"
"""Purposes of feeds: changes of an atom or of a negated one, and heads that have lost their support."""

End = Callable[[list[int]], Operator]
"""Makes the operator that ends a plan, given the registers of what is wanted, of BEFORE and of AFTER."""


class Feed(Relation):
    """The input of a variant: the rows that it begins with.

    Of a relation these are tuples, their ids, and the iterations to begin from in both states; if `negated` those in
    which the tuples are not there. `reader` is one of the relations whose rules begin with it.
    """

    def __init__(self, name: str, arity: int, dtype: np.dtype, *, negated: bool = False, reader: str = "") -> None:
        super().__init__(name, arity, dtype)
        self.negated, self.reader = negated, reader

    def fill(self, rows: np.ndarray) -> None:
        """Let these rows be all there is."""
        rows = np.ascontiguousarray(rows, self.dtype)
        self.n = self.n_delta = rows.shape[1]
        self.delta = [Block(rows, 0, self.n)] if self.n else []

    def empty(self) -> None:
        """Let there be no rows."""
        self.n = self.n_delta = 0
        self.delta = []

    def blocks(self) -> list[Block]:
        return self.delta


@dataclass
class Context:
    """The shared context of a stratum's variants. Each stratum has its own feeds, since strata run concurrently."""

    bindings: Bindings
    epoch: Epoch

    def feed(self, relation: MaintainedRelation, suffix: str) -> Feed:
        return self.feed_of(f"{relation.name}{suffix}", relation.width + 3, relation.dtype, suffix == NEGATED)

    def feed_of(self, name: str, arity: int, dtype: np.dtype, negated: bool = False) -> Feed:
        reader = min(self.epoch.own)
        name = f"{name}{reader}"
        if name not in self.bindings.relations:
            self.bindings.relations[name] = Feed(name, arity, dtype, negated=negated, reader=reader)
        return self.bindings.relations[name]


class Variant:
    """One way to run a rule, from a feed: planned when it is first run.

    `given` is the atom in the rule's body that stands for the feed. It is planned again when a relation it reads has
    changed its size by an order of magnitude.
    """

    def __init__(
        self,
        rule: Rule,
        context: Context,
        statistics: RuleStatistics,
        make: Callable[[], Plan],
        given: Match,
        feed: Feed,
    ) -> None:
        self.rule, self.bindings, self.statistics = rule, context.bindings, statistics
        self._make, self.given, self.feed = make, given, feed
        self.read = [self.bindings.relations[x.relation] for x in rule.body if isinstance(x, Match) and x is not given]
        self._plan: Plan | None = None
        self._magnitudes: list[int] = []

    def plan(self) -> Plan | None:
        """Return the plan for the sizes at hand, or None if there is nothing to do."""
        if not all(relation.n for relation in self.read):
            return None
        magnitudes = [relation.magnitude for relation in self.read]
        if self._plan is None or magnitudes != self._magnitudes:
            with self.bindings.lock:
                if not self._may_match():
                    return None
                self._magnitudes, self._plan = magnitudes, self._make()
        return None if self._plan.never else self._plan

    def _may_match(self) -> bool:
        return all(AskedRows(block.rows).may_match(self.conditions) for block in self.feed.delta)

    @cached_property
    def conditions(self) -> Sequence[Condition]:
        """The conditions on rows of the feed."""
        others = [literal for literal in self.rule.body if literal is not self.given]
        return conditions_of(self.given.terms, others, self.bindings.relations)

    def blocks(self, plan: Plan) -> Sequence[Block]:
        if plan.source is None:
            return ()
        return self.feed.delta


def atoms_of(rule: Rule) -> Iterator[tuple[int, Match | Absent]]:
    """Yield the atoms in the body of a rule, positive and negated ones, with their places."""
    for at, literal in enumerate(rule.body):
        if isinstance(literal, Match | Absent):
            yield at, literal


def changed_at(
    at: int,
    rule: Rule,
    wanted: Sequence[Operand],
    context: Context,
    statistics: RuleStatistics,
    end: End,
    *,
    current: bool = False,
) -> Variant:
    """A marked rule that begins with the tuples of the atom at a place of its body that a batch changes.

    Atoms before it must be as they were, so that each instantiation is found once, by the first that has changed. With
    `current` all others are as they are after the batch.
    """
    literal = rule.body[at]
    suffix = POSITIVE if isinstance(literal, Match) else NEGATED
    feed = context.feed(context.bindings.relations[literal.relation], suffix)
    given = Match(feed.name, (*changing_terms(literal), None, BEFORE, AFTER))
    changed = replace(rule, body=(*rule.body[:at], given, *rule.body[at + 1 :]))
    untouched = () if current else rule.body[:at]
    return begun(changed, given, feed, wanted, context, statistics, end, current, untouched)


def changing_terms(literal: Match | Absent) -> tuple[Operand | None, ...]:
    """Return the terms of an atom of a marked rule, but for the mark."""
    return literal.terms[:-1] if isinstance(literal, Match) else literal.terms


class Reading:
    """An atom of a marked rule as the place where changes come in: its variant is made once the rule can match.

    `others` are other relations of which the rule needs tuples, without those that are known to have had some.
    """

    def __init__(self, rule: Rule, at: int, statistics: RuleStatistics, context: Context) -> None:
        self.rule, self.at, self.statistics, self.context = rule, at, statistics, context
        self.literal = rule.body[at]
        needed = {x.relation for x in rule.body if isinstance(x, Match)} - {self.literal.relation}
        self.others = [context.bindings.relations[name] for name in needed]
        self._variant: Variant | None = None

    def is_live(self) -> bool:
        """Return False if there has never been a tuple of one of the other relations."""
        while self.others and self.others[-1].n:
            self.others.pop()
        return not self.others

    @cached_property
    def conditions(self) -> Sequence[Condition]:
        """The conditions on changed tuples."""
        others = [literal for literal in self.rule.body if literal is not self.literal]
        return conditions_of(changing_terms(self.literal), others, self.context.bindings.relations)

    def may_match(self, changed: ChangedRows) -> bool:
        """Return False if no changed tuple takes part in an instantiation."""
        return self.is_live() and changed.may_match(self.conditions)

    def variant(self, end: Callable[[str], End]) -> Variant:
        """Return what begins with changed tuples; `end` makes the end of the plans for a relation."""
        if self._variant is None:
            with self.context.bindings.lock:
                made = end(self.rule.relation)
                self._variant = changed_at(self.at, self.rule, self.rule.head, self.context, self.statistics, made)
        return self._variant


def support(rule: Rule, context: Context, statistics: RuleStatistics, end: End) -> Variant:
    """A marked rule from its head: all supports that given heads have as things are now (re-discovery, §3.2)."""
    feed = context.feed(context.bindings.relations[rule.relation], ASKED)
    return asking(rule, Match(feed.name, (*rule.head, HEAD, BEFORE, AFTER)), feed, (HEAD,), context, statistics, end)


def asking(
    rule: Rule,
    given: Match,
    feed: Feed,
    wanted: Sequence[Operand],
    context: Context,
    statistics: RuleStatistics,
    end: End,
) -> Variant:
    """A marked rule as things are now, from the atom `given` of a feed, which binds variables of it."""
    asked = replace(rule, body=(given, *rule.body), wide={**rule.wide, HEAD: False})
    return begun(asked, given, feed, wanted, context, statistics, end, True)


def begun(
    rule: Rule,
    given: Match,
    feed: Feed,
    wanted: Sequence[Operand],
    context: Context,
    statistics: RuleStatistics,
    end: End,
    current: bool,
    untouched: Sequence[Literal] = (),
) -> Variant:
    """A variant of a marked rule that begins with the atom `given` in its body."""

    def make() -> Plan:
        stamper = Stamper(rule, context.bindings, context.epoch, given, current)
        stamper.untouched = frozenset(map(id, untouched))
        plan, registers = stamper.plan(rule, wanted)
        return plan if plan.never else replace(plan, operators=(*plan.operators, end(registers)))

    return Variant(rule, context, statistics, make, given, feed)


def feed_changes(variants: Iterable[Variant], changed: ChangedRows) -> None:
    """Let variants begin with tuples of a relation that have changed."""
    for variant in variants:
        if not variant.feed.n:
            variant.feed.fill(changed.begun(variant.feed.negated))


def run_variants(variants: Sequence[Variant], pool: SharedWorkerPool) -> None:
    """Run variants, and empty their feeds."""
    jobs: list[Job] = []
    begin = thread_time()
    for variant in variants:
        plan = variant.plan()
        if plan is not None:
            jobs.append((plan, variant.statistics, variant.blocks(plan)))
    pool.charge_plans(thread_time() - begin)
    if jobs:
        pool.run(jobs)
    for variant in variants:
        variant.feed.empty()
