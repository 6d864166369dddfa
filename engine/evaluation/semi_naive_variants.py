"""Rules with their semi-naive variants, planned when they have something to do."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import Plan, build
from engine.plan.join_order import Step
from engine.plan.rule import Match, Rule, relations_of
from engine.result import RuleStatistics
from engine.storage.aggregate_relation import AggregateRelation

REPLANNED_ROWS = 128
"""A delta eight times as large as the one planned for, but at least as this, is planned for anew."""


class Variant:
    """A rule, reading the delta in one of its atoms, or (`delta` is None) all rows everywhere.

    Atoms of relations that are `advanced` with that of the delta read earlier iterations only before it in the body: so
    no two rows are joined twice. Its plan is made on first use, by `steps` where that order is known, and again when a
    relation it reads has changed its size by an order of magnitude.
    """

    def __init__(
        self,
        rule: Rule,
        bindings: Bindings,
        statistics: RuleStatistics,
        delta: int | None = None,
        recursive: frozenset[str] = frozenset(),
        advanced: frozenset[str] = frozenset(),
        steps: Sequence[Step] | None = None,
    ) -> None:
        self.rule, self.bindings, self.statistics = rule, bindings, statistics
        self.delta, self.recursive, self.advanced, self.steps = delta, recursive, advanced, steps
        atoms = [(i, x.relation) for i, x in enumerate(rule.body) if isinstance(x, Match)]
        self.required = [bindings.relations[name] for i, name in atoms if i != delta]
        earlier = [
            bindings.relations[name] for i, name in atoms if delta is not None and i < delta and name in advanced
        ]
        self.earlier = [relation for relation in earlier if not isinstance(relation, AggregateRelation)]
        self.read = [bindings.relations[name] for name in dict.fromkeys(relations_of(rule.body))]
        self.source = None if delta is None else bindings.relations[rule.body[delta].relation]
        self._plan: Plan | None = None
        self.n_plans = 0
        self._magnitudes: list[int] = []
        self._planned_rows = self._epoch = 0

    @property
    def has_work(self) -> bool:
        """False if an empty relation leaves nothing to do."""
        for relation in self.required:
            if not relation.n:
                return False
        for relation in self.earlier:
            if relation.n == relation.n_delta:
                return False
        return True

    def plan(self, epoch: int) -> Plan | None:
        """Return the plan for the sizes at hand, or None if there is nothing to do.

        `epoch` changes whenever the magnitude of a relation does.
        """
        if not self.has_work:
            return None
        n_rows = 0 if self.source is None else self.source.n_delta
        if self._plan is None or epoch != self._epoch or n_rows > 8 * self._planned_rows:
            self._epoch = epoch
            magnitudes = [relation.magnitude for relation in self.read]
            if self._plan is None or magnitudes != self._magnitudes or n_rows > 8 * self._planned_rows:
                self._magnitudes, self._planned_rows = magnitudes, max(n_rows, REPLANNED_ROWS)
                self._build()
        return None if self._plan.never else self._plan

    def last_plan(self) -> Plan:
        """The plan last used; one for the sizes at hand, if there was none."""
        if self._plan is None:
            self._build()
            self.n_plans = 0
        return self._plan

    def _build(self) -> None:
        begin = perf_counter()
        self._plan = build(self.rule, self.bindings, self.delta, self.recursive, self.advanced, self.steps)
        self.steps = None
        self.n_plans += 1
        self.statistics.planning_s += perf_counter() - begin


def variants_of(
    rule: Rule, bindings: Bindings, statistics: RuleStatistics, recursive: frozenset[str], in_turn: bool
) -> Sequence[tuple[str, Variant]]:
    """Return a variant for each atom of a recursive relation, with the name of that relation.

    Relations are advanced together, or one in turn.
    """
    return [
        (
            literal.relation,
            Variant(rule, bindings, statistics, i, recursive, frozenset([literal.relation]) if in_turn else recursive),
        )
        for i, literal in enumerate(rule.body)
        if isinstance(literal, Match) and literal.relation in recursive
    ]
