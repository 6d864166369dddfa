"""The plans of a rule: over all tuples, over the changes of one atom, and over heads that have lost their support."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import Plan
from engine.incremental.agenda import Agenda
from engine.incremental.iteration_stamps import AFTER, BEFORE, Emit, EmitKnown, Epoch, Stamper, ended, marked
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.skip_test import may_match
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Absent, Literal, Match, Rule
from engine.result import RuleStatistics
from engine.storage.partition import Block
from engine.storage.relation import Relation

HEAD = "#head"
POSITIVE, NEGATED, ASKED = "±", "∓", "?"
"""Purposes of feeds: changes of an atom or of a negated one, and heads that have lost their support."""


class Feed(Relation):
    """The input of a variant: tuples of a relation, their ids, and the iterations to begin from in both states.

    With `negated` these are iterations in which the tuples are not there.
    """

    def __init__(self, name: str, of: MaintainedRelation, *, negated: bool = False) -> None:
        super().__init__(name, of.width + 3, of.dtype)
        self.negated = negated

    def fill(self, rows: np.ndarray) -> None:
        """Let these rows be all there is."""
        self.n = self.n_delta = rows.shape[1]
        self.delta = [Block(rows, 0, self.n)] if self.n else []

    def blocks(self) -> list[Block]:
        return self.delta


@dataclass
class Context:
    """The shared context of a stratum's variants. Each stratum has its own feeds, since strata run concurrently."""

    bindings: Bindings
    epoch: Epoch
    agenda: Agenda

    def feed(self, relation: MaintainedRelation, suffix: str) -> Feed:
        name = f"{relation.name}{suffix}{min(self.epoch.own)}"
        if name not in self.bindings.relations:
            self.bindings.relations[name] = Feed(name, relation, negated=suffix == NEGATED)
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
        return all(may_match(self.given, self.rule.body, self.bindings.relations, x.rows) for x in self.feed.delta)

    def blocks(self, plan: Plan) -> Sequence[Block]:
        if plan.source is None:
            return ()
        return self.feed.delta


def changes(rule: Rule, context: Context, statistics: RuleStatistics) -> Iterator[tuple[str, Variant]]:
    """A variant for each atom, positive or negated, that begins with the tuples of it that a batch changes.

    Atoms before it must be as they were, so that each instantiation is found once, by the first that has changed.
    """
    rule = marked(rule)
    for at, literal in enumerate(rule.body):
        if isinstance(literal, Match | Absent):
            suffix = POSITIVE if isinstance(literal, Match) else NEGATED
            feed = context.feed(context.bindings.relations[literal.relation], suffix)
            yield literal.relation, change(rule, at, feed, context, statistics)


def change(rule: Rule, at: int, feed: Feed, context: Context, statistics: RuleStatistics) -> Variant:
    literal = rule.body[at]
    columns = literal.terms[:-1] if isinstance(literal, Match) else literal.terms
    given = Match(feed.name, (*columns, None, BEFORE, AFTER))
    others: tuple[Literal, ...] = (*rule.body[:at], given, *rule.body[at + 1 :])
    changed = replace(rule, body=others)
    head = context.bindings.relations[rule.relation]

    def make() -> Plan:
        stamper = Stamper(changed, context.bindings, context.epoch, given, False)
        stamper.untouched = frozenset(id(x) for x in rule.body[:at])
        plan, registers = stamper.plan(changed, rule.head)
        return ended(plan, Emit(head, context.epoch, context.agenda, *ends(registers), False))

    return Variant(changed, context, statistics, make, given, feed)


def support(rule: Rule, context: Context, statistics: RuleStatistics) -> Variant:
    """The rule from its head: all supports that given heads have as things are now (re-discovery, §3.2)."""
    rule = marked(rule)
    feed = context.feed(context.bindings.relations[rule.relation], ASKED)
    given = Match(feed.name, (*rule.head, HEAD, BEFORE, AFTER))
    asked = replace(rule, body=(given, *rule.body), wide={**rule.wide, HEAD: False})
    head = context.bindings.relations[rule.relation]

    def make() -> Plan:
        stamper = Stamper(asked, context.bindings, context.epoch, given, True)
        plan, registers = stamper.plan(asked, (HEAD,))
        return ended(plan, EmitKnown(head, context.epoch, context.agenda, *ends(registers), True))

    return Variant(asked, context, statistics, make, given, feed)


def ends(registers: Sequence[int]) -> tuple[Sequence[int], int, int]:
    return (registers[:-2], registers[-2], registers[-1]) if registers else ((), 0, 0)


def presence(iterations: np.ndarray, negated: bool) -> np.ndarray:
    """The iterations of input tuples: 0 for those that are there (or, if negated, are not), ABSENT for the others."""
    return np.where((iterations == ABSENT) == negated, 0, ABSENT)
