"""Aggregates that are maintained by group: the groups that a change touches are aggregated again, and no others.

A change of an atom touches the groups of the instantiations that it makes or ends. What contributes to a touched group
is joined anew, from the group, as things are after the update; nothing is kept of it. So the row of a group is what an
evaluation makes of it, floats to the last digit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.budget import Meter
from engine.database import Columns
from engine.evaluation.bindings import Bindings
from engine.evaluation.body_aggregates import Aggregate, Apart, Totals
from engine.evaluation.compile_plan import has_wildcards, named
from engine.evaluation.execution import Job
from engine.incremental.counting_bootstrap import counted_plan
from engine.incremental.group_ends import Contribute, Contributions, Gather, Touch, TouchedGroups
from engine.incremental.iteration_stamps import Epoch, marked
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.recomputed_stratum import replace_rows
from engine.incremental.shared_worker_pool import SharedWorkerPool
from engine.incremental.update_plans import (
    ASKED,
    Context,
    End,
    Variant,
    asking,
    atoms_of,
    changed_at,
    feed_changes,
    run_variants,
)
from engine.plan.rule import Fold, Match, Operand, Rule
from engine.result import RuleStatistics
from engine.storage.aggregate_partition import Shape
from engine.storage.aggregate_relation import AggregateRelation

NUMBER = "#group"
"""Stands for the number of a group among those that are asked for."""


class Surroundings(NamedTuple):
    """What a stratum shares with others, what may end its work, and what is charged with it."""

    bindings: Bindings
    pool: SharedWorkerPool
    watch: Callable[[], None]
    meter: Meter


class GroupedStratum:
    """A relation with a row for each group, the values of the columns `group`. Its tuples have the iteration 0.

    `read` are the relations whose changes touch groups. Subclasses say how, and aggregate some groups.
    """

    def __init__(
        self,
        relation: MaintainedRelation,
        inputs: Sequence[MaintainedRelation],
        group: Sequence[int],
        rules: Callable[[], Sequence[Rule]],
        around: Surroundings,
    ) -> None:
        self.relation, self.relations, self.inputs, self.read = relation, [relation], [*inputs], [*inputs]
        self.group, self._rules, self.around = [*group], rules, around
        self.context = Context(around.bindings, Epoch(frozenset({relation.name})))
        self.touched = TouchedGroups(len(self.group), relation.dtype)
        self.feed = self.context.feed_of(f"{relation.name}{ASKED}", len(self.group) + 1, relation.dtype)
        self.iterations = 0

    @cached_property
    def rules(self) -> Sequence[Rule]:
        """The rules, read when there is something to do for the first time."""
        return self._rules()

    @cached_property
    def touching(self) -> dict[str, list[Variant]]:
        """By relation what finds the groups that changes of its tuples touch."""
        found = defaultdict(list)
        with self.around.bindings.lock:
            for name, variant in self.touched_by():
                found[name].append(variant)
        return found

    @cached_property
    def standing(self) -> tuple[Variant, Gather]:
        """What finds the tuples of groups, and where their ids are then."""
        columns = tuple(f"x{column}" for column in range(self.relation.width))
        rule = Rule(self.relation.name, columns, (Match(self.relation.name, columns),), {}, self.relation.name)
        (marker,) = set(marked(rule).body[0].variables).difference(columns)
        ids = Gather(1, self.around.watch)
        return self.asked_for(rule, [columns[c] for c in self.group], (marker,), ids.end), ids

    def forget_plans(self) -> None:
        """Forget plans, which read arrangements that are no more."""
        for made in ("touching", "standing", "contributing", "folding"):
            self.__dict__.pop(made, None)

    def touched_by(self) -> Iterator[tuple[str, Variant]]:
        """Yield a variant for each atom by whose changes groups are touched, and the name of its relation."""
        raise NotImplementedError

    def rows_of(self, groups: Columns) -> Columns:
        """Return the rows of some groups, aggregated anew: not all of them need have one."""
        raise NotImplementedError

    def touches(self, rule: Rule, groups: Sequence[Operand]) -> Iterator[tuple[str, Variant]]:
        """Yield what finds the values of some terms of a rule wherever its instantiations change."""

        def end(registers: list[int]) -> Touch:
            return Touch(self.touched, self.around.watch, registers)

        rule = marked(rule)
        for at, literal in atoms_of(rule):
            yield literal.relation, changed_at(at, rule, groups, self.context, RuleStatistics(), end)

    def asked_for(self, rule: Rule, groups: Sequence[Operand], wanted: Sequence[Operand], end: End) -> Variant:
        """A rule from groups, which are the values of some of its terms."""
        given = Match(self.feed.name, (*groups, NUMBER))
        rule = marked(replace(rule, wide={**rule.wide, NUMBER: False}))
        return asking(rule, given, self.feed, wanted, self.context, RuleStatistics(), end)

    def ask(self, variants: Sequence[Variant], groups: Columns) -> None:
        """Run variants from some groups, which get numbers in turn."""
        self.feed.fill(np.concatenate([groups, [np.arange(groups.shape[1])]]))
        run_variants(variants, self.around.pool)

    # ---- evaluation

    def bootstrap(self, facts: Mapping[str, Columns]) -> None:
        """Aggregate all groups; there is nothing so far."""
        with self.around.meter.over(self.relations):
            self.relation.enter(self.relation.add(self.all_rows(facts)), 0)
            self.relation.arrange()
            self.relation.trim()

    def all_rows(self, facts: Mapping[str, Columns]) -> Columns:
        """Return the rows of all groups, from given facts, too."""
        raise NotImplementedError

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        with self.around.meter.over(self.relations):
            self.give(inserted, deleted)
            moved = [relation.changed_rows for relation in self.read if relation.changed_rows.n]
            self.context.epoch.opening = frozenset(changed.relation.name for changed in moved)
            jobs: list[Variant] = []
            for changed in moved:
                changed.relation.arrange()
                touching = self.touching[changed.relation.name]
                feed_changes(touching, changed)
                jobs += touching
            run_variants(jobs, self.around.pool)
            groups = self.touched.give()
            if groups.shape[1]:
                finder, ids = self.standing
                self.ask([finder], groups)
                replace_rows(self.relation, ids.give()[0], np.asarray(self.rows_of(groups), self.relation.dtype))

    def give(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        """Take in facts of the relation itself: there are none, unless there is a place for them."""

    def undo(self) -> None:
        """Drop what is left of an update that has not ended."""
        self.touched.give()
        for finder in ("standing", "folding"):
            if finder in self.__dict__:
                _, gathered = self.__dict__[finder]
                gathered.give()

    def facts(self) -> dict[str, Columns]:
        """The facts of the last state."""
        return {}


class HeadAggregates(GroupedStratum):
    """Aggregates in the heads of rules; `given` holds the facts of the relation, which contribute, too."""

    def __init__(
        self,
        relation: MaintainedRelation,
        inputs: Sequence[MaintainedRelation],
        given: MaintainedRelation,
        shape: Shape,
        rules: Callable[[], Sequence[Rule]],
        around: Surroundings,
    ) -> None:
        super().__init__(relation, inputs, shape.group.tolist(), rules, around)
        self.given, self.contributions = given, Contributions(shape)
        self.read.append(given)

    @cached_property
    def contributing(self) -> list[Variant]:
        """What contributes to groups that are asked for."""
        with self.around.bindings.lock:
            return [self.asked_for(rule, self.groups_of(rule), rule.head, self.contribute) for rule in self.rules]

    def groups_of(self, rule: Rule) -> list[Operand]:
        return [rule.head[column] for column in self.group]

    def contribute(self, registers: list[int]) -> Contribute:
        return Contribute(self.contributions, self.around.watch, registers)

    def touched_by(self) -> Iterator[tuple[str, Variant]]:
        for rule in self.rules:
            yield from self.touches(rule, self.groups_of(rule))

    def rows_of(self, groups: Columns) -> Columns:
        self.ask(self.contributing, groups)
        return self.contributions.give()

    def all_rows(self, facts: Mapping[str, Columns]) -> Columns:
        self.give(facts, {})
        self.given.begin()
        with self.around.bindings.lock:
            plans = [counted_plan(marked(rule), self.around.bindings, self.contribute) for rule in self.rules]
        jobs: list[Job] = [
            (plan, RuleStatistics(), () if plan.source is None else plan.source.blocks())
            for plan in plans
            if not plan.never
        ]
        self.around.pool.run(jobs)
        return self.contributions.give()

    def give(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        """Let rows be facts, or be facts no more. Raises EvaluationError where facts cannot contribute."""
        come, gone = (facts.get(self.relation.name) for facts in (inserted, deleted))
        if come is not None:
            AggregateRelation(self.relation.name, self.contributions.shape).contributions(come)
        follow(self.given, come, gone)

    def undo(self) -> None:
        super().undo()
        self.contributions.give()

    def facts(self) -> dict[str, Columns]:
        return {self.relation.name: self.given.columns()}


def follow(given: MaintainedRelation, come: Columns | None, gone: Columns | None) -> None:
    """Let a relation of facts gain some rows and lose others, and close its stratum."""
    none = np.empty((given.width, 0), given.dtype)
    lost = given.known(none if gone is None else gone)
    given.set_facts(lost[lost >= 0], given.add(none if come is None else come))
    given.arrange()
    given.close_stratum()


class BodyAggregate(GroupedStratum):
    """An aggregate of a body, which has a value for what is `asked`.

    Its only rule has an atom for that, and the aggregate.
    """

    @cached_property
    def parts(self) -> tuple[Match, Fold]:
        (rule,) = self.rules
        asked, fold = rule.body
        assert isinstance(asked, Match)
        assert isinstance(fold, Fold)
        return asked, fold

    @cached_property
    def folding(self) -> tuple[Variant, Gather]:
        """What finds the rows that are aggregated: the number of a group, a value, and what tells rows apart."""
        (rule,), (asked, fold) = self.rules, self.parts
        value = () if fold.value is None else (fold.value,)
        wanted = (NUMBER, *value, *(sorted(named(fold)) if has_wildcards(fold) else ()))
        rows = Gather(len(wanted), self.around.watch)
        with self.around.bindings.lock:
            return self.asked_for(replace(rule, body=fold.body), asked.terms, wanted, rows.end), rows

    def touched_by(self) -> Iterator[tuple[str, Variant]]:
        (rule,), (asked, fold) = self.rules, self.parts
        yield from self.touches(replace(rule, body=(asked,)), asked.terms)
        for name, variant in self.touches(replace(rule, body=(asked, *fold.body)), asked.terms):
            if name != asked.relation:
                yield name, variant

    def rows_of(self, groups: Columns) -> Columns:
        asked, fold = self.parts
        relation = self.around.bindings.relations[asked.relation]
        there = relation.find(groups, groups.shape[1], np.arange(len(groups)))
        groups = np.ascontiguousarray(groups[:, there])
        variant, gathered = self.folding
        self.ask([variant], groups)
        values, has_value = self.folded(gathered.give(), groups.shape[1])
        return np.concatenate([groups, [values]])[:, has_value]

    def folded(self, rows: Columns, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the aggregate of each group, and whether it has one."""
        _, fold = self.parts
        aggregate = Aggregate(fold.aggregate, fold.kind, self.around.bindings.functors)
        every, n = np.arange(len(rows)), rows.shape[1]
        value = 0 if fold.value is None else 1
        if has_wildcards(fold):
            n = Apart(np.array([0, *every[value + 1 :]]), every).apply(None, rows, n)
        totals = Totals(0, value, aggregate, n_groups)
        totals.apply(None, rows, n)
        return totals.result(), (totals.counts > 0) | aggregate.of_empty

    def all_rows(self, facts: Mapping[str, Columns]) -> Columns:
        asked, _ = self.parts
        return self.rows_of(self.around.bindings.relations[asked.relation].columns())
