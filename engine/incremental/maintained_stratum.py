"""Strata that are kept up to date: bootstrap and update of one component (Zhao et al., Algorithms 2 and 3, §3.3).

A rule instantiation derives its head one iteration after the last of its body's tuples; a tuple has the iteration of
its first derivation. An update goes through the iterations in which something is to be decided, the least first. When
iteration k is reached, all tuples of earlier ones are final; those that lose their last support in k leave it, those
that gain one in k arrive in it. Only then are the instantiations joined that these tuples take part in, in both states,
and what they change is written into the agenda, at the iterations in which they derive their heads. So each set of
Algorithm 3 is met once, when a tuple leaves it or arrives in it, instead of in every iteration: nothing is looked at in
the iterations between. A tuple that leaves asks for the supports that it has as things are then (re-discovery); later
changes to these come by the agenda.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from engine.budget import Meter
from engine.database import Columns
from engine.evaluation.bindings import Bindings
from engine.evaluation.held_constants import HeldConstants
from engine.incremental.agenda import Agenda
from engine.incremental.changed_rows import ChangedRows
from engine.incremental.counting_bootstrap import CountingBootstrap
from engine.incremental.iteration_stamps import Emit, EmitKnown, Epoch, marked
from engine.incremental.maintained_relation import NONE, MaintainedRelation
from engine.incremental.shared_worker_pool import SharedWorkerPool
from engine.incremental.update_plans import (
    Context,
    End,
    Reading,
    Variant,
    atoms_of,
    feed_changes,
    run_variants,
    support,
)
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Rule
from engine.result import RuleStatistics

Item = TypeVar("Item")
MarkedRule = tuple[Rule, RuleStatistics]
"""A rule whose atoms tell their tuples' ids, and what it costs."""
Batch = Mapping[MaintainedRelation, np.ndarray]
"""The ids of tuples whose iteration changes, by relation."""


class MaintainedStratum:
    """Mutually recursive relations, or a single one, with the rules that derive them from themselves and `inputs`.

    `rules` and `own`, the facts that stand in the program, are asked for when they are needed. Rules derive something
    only where all of one of the `needs` have tuples. `permanent` are the ids of these facts, `repeated` those among
    them that have been given, too. `watch` is called between two pieces of work; it may raise to give an update up.
    `meter` is charged with what is done.
    """

    def __init__(
        self,
        relations: Sequence[MaintainedRelation],
        inputs: Sequence[MaintainedRelation],
        rules: Callable[[], Sequence[Rule]],
        own: Callable[[], Mapping[str, Sequence[tuple[int, ...]]]],
        needs: Sequence[Sequence[str]],
        bindings: Bindings,
        pool: SharedWorkerPool,
        exact: bool,
        watch: Callable[[], None],
        meter: Meter,
    ) -> None:
        self.relations, self.inputs, self.pool, self.meter = relations, inputs, pool, meter
        self._rules, self._own, self.needs = rules, own, needs
        self.names = frozenset(relation.name for relation in relations)
        self.context, self.agenda = Context(bindings, Epoch(self.names, exact=exact)), Agenda(watch)
        self.permanent: dict[MaintainedRelation, np.ndarray] = dict.fromkeys(relations, NONE)
        self.repeated: dict[MaintainedRelation, np.ndarray] = dict.fromkeys(relations, NONE)
        self._supports: dict[str, list[Variant]] = {}
        self.iterations = 0

    @cached_property
    def rules(self) -> Sequence[Rule]:
        """The rules, read when there is something to do for the first time."""
        return self._rules()

    @cached_property
    def statistics(self) -> list[RuleStatistics]:
        return [RuleStatistics(rule=rule.text, relation=rule.relation) for rule in self.rules]

    @cached_property
    def deriving(self) -> dict[str, list[MarkedRule]]:
        """By relation the rules that derive its tuples."""
        return grouped((each[0].relation, each) for each in self.marked)

    @cached_property
    def reading(self) -> dict[str, list[Reading]]:
        """By relation the atoms of it."""
        return grouped(
            (literal.relation, Reading(rule, at, costs, self.context))
            for rule, costs in self.marked
            for at, literal in atoms_of(rule)
        )

    @cached_property
    def marked(self) -> list[MarkedRule]:
        return [(marked(rule), costs) for rule, costs in zip(self.rules, self.statistics, strict=True)]

    def may_react(self, changed: Iterable[str]) -> bool:
        """Return False if changes of these relations derive nothing: each rule that reads one needs tuples of another
        that has never had any. When that one gets some, it is asked again, and then takes in all that has changed.
        """
        return any(reading.is_live() for name in changed for reading in self.reading.get(name, ()))

    def supports(self, name: str) -> list[Variant]:
        """What finds the supports of a relation's tuples."""
        if name not in self._supports:
            with self.context.bindings.lock:
                end = partial(self.end, EmitKnown, name)
                made = [support(rule, self.context, costs, end) for rule, costs in self.deriving[name]]
            self._supports[name] = made
        return self._supports[name]

    def begun_by(self, changed: ChangedRows) -> list[Variant]:
        """Return what begins with changed tuples, which it is given."""
        readings = self.reading.get(changed.relation.name, ()) if changed.n else ()
        variants = [reading.variant(self.end_of_changes) for reading in readings if reading.may_match(changed)]
        feed_changes(variants, changed)
        return variants

    def end_of_changes(self, relation: str) -> End:
        """Return the maker of the ends of plans that begin with changes, for rules of a relation."""
        return partial(self.end, Emit, relation)

    def end(self, kind: type[Emit], relation: str, registers: list[int]) -> Emit:
        """What ends the plans of a relation's rules."""
        head = self.context.bindings.relations[relation]
        return kind(head, self.context.epoch, self.agenda, registers[:-2], *registers[-2:], kind is EmitKnown)

    def keep(self) -> None:
        """Let facts that stand in the program be there for good."""
        own = self._own()
        for relation in self.relations:
            if relation.name in own:
                rows = np.array(own[relation.name], relation.dtype).reshape(-1, relation.width).T
                self.permanent[relation], self.repeated[relation] = np.unique(relation.add(rows)), NONE
                relation.enter(self.permanent[relation], 0)

    # ---- whole evaluations

    def bootstrap(self, facts: Mapping[str, Columns], enough: Callable[[], bool] = lambda: False) -> None:
        """Derive all from inputs and facts, or until there is `enough`; there is nothing so far."""
        with self.meter.over(self.relations):
            self.derive_all(facts, enough)

    def derive_all(self, facts: Mapping[str, Columns], enough: Callable[[], bool]) -> None:
        self.keep()
        for relation in self.relations:
            self.insert(relation, facts)
            relation.arrange()
        held = self.context.bindings.relations
        derives = any(all([held[name].n for name in needed]) for needed in self.needs)
        rules = zip(self.rules, self.statistics, strict=True) if derives else ()
        constants = HeldConstants(held, MaintainedRelation)
        matching = {rule: costs for rule, costs in rules if constants.may_match(rule, self.names)}
        rounds = CountingBootstrap(self.relations, matching, self.context.bindings, self.pool, self.agenda.watch)
        self.iterations, is_enough = rounds.run(enough)
        if is_enough:
            self.agenda.last = self.iterations
        for relation in self.relations:
            relation.trim()

    def reset(self) -> None:
        """Forget all tuples. Nobody else has read them."""
        for relation in self.relations:
            relation.clear()
        self.forget_plans()

    def forget_plans(self) -> None:
        """Forget plans, which read arrangements that are no more."""
        self._supports = {}
        self.__dict__.pop("reading", None)

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        """Take in what has changed in the inputs, and facts of these relations that have been inserted and deleted."""
        with self.meter.over(self.relations):
            self.take_in(inserted, deleted)

    def take_in(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        self.iterations = 0
        own: dict[MaintainedRelation, np.ndarray] = {}
        gone: dict[MaintainedRelation, np.ndarray] = {}
        for relation in self.relations:
            lost, come = self.deleted(relation, deleted), self.given(relation, inserted)
            if len(lost) or len(come):
                relation.set_facts(lost, come)
                own[relation], gone[relation] = relation.moving.ids, np.setdiff1d(lost, come)
        self.compare(self.inputs, own, gone)

    def follow(self, inputs: Sequence[MaintainedRelation]) -> None:
        """Take in what has changed in some inputs, once an update has taken in the others."""
        for relation in self.relations:
            relation.reopen_stratum()
        self.compare(inputs, {}, {})

    def compare(self, inputs: Sequence[MaintainedRelation], own: Batch, gone: Batch) -> None:
        """Draw the consequences of what has changed in inputs, and of a batch of facts, of which some are gone."""
        batch = [ChangedRows(relation, ids, own=True) for relation, ids in own.items()]
        batch += [relation.changed_rows for relation in inputs if relation.moves]
        self.context.epoch.opening = frozenset(relation.name for relation in inputs)
        self.propagate(batch, gone)
        self.context.epoch.opening = frozenset()
        for relation in self.relations:
            relation.close_batch()
        self.go_on()
        for relation in self.relations:
            relation.close_stratum()

    def insert(self, relation: MaintainedRelation, facts: Mapping[str, Columns]) -> np.ndarray:
        """Let rows be facts; return the ids of those that were none."""
        return relation.enter(self.given(relation, facts), 0)

    def given(self, relation: MaintainedRelation, facts: Mapping[str, Columns]) -> np.ndarray:
        """The ids of given rows."""
        rows = facts.get(relation.name)
        if rows is None:
            return NONE
        ids, permanent = relation.add(rows), self.permanent[relation]
        if len(permanent):
            self.repeated[relation] = np.union1d(self.repeated[relation], np.intersect1d(ids, permanent))
        return ids

    def deleted(self, relation: MaintainedRelation, facts: Mapping[str, Columns]) -> np.ndarray:
        """The ids of given rows that are facts, and may cease to be."""
        rows = facts.get(relation.name)
        if rows is None:
            return NONE
        known = relation.known(rows)
        self.repeated[relation] = np.setdiff1d(self.repeated[relation], known)
        ids = np.setdiff1d(known, [-1, *self.permanent[relation]])
        return ids[relation.later[ids] == 0]

    def facts(self) -> dict[str, Columns]:
        """The facts of the last state that were given."""
        unasked = {r: np.setdiff1d(self.permanent[r], self.repeated[r]) for r in self.relations}
        return {relation.name: relation.facts(ids) for relation, ids in unasked.items()}

    def checkpoint(self) -> Callable[[], None]:
        """Return what undoes an update beside tuples: which facts are repeated."""
        repeated = {**self.repeated}

        def restore() -> None:
            self.repeated = repeated

        return restore

    def undo(self) -> None:
        """Drop what is left of an update that has not ended."""
        self.agenda.close()
        self.context.epoch.opening = frozenset()

    # ---- a stratum that ends behind an iteration

    def shorten(self, last: int) -> None:
        """End behind an earlier iteration than before: the tuples of later ones go. No support of others goes."""
        for relation in self.relations:
            relation.close_batch()
            relation.enter(relation.since(last + 1), ABSENT)
        self.agenda.last = last

    def lengthen(self) -> bool:
        """Derive the tuples of one more iteration; return False if there are none in the last one.

        They are what follows from the tuples of the last iteration, as if these arrived again.
        """
        last = self.agenda.last
        arriving = [ChangedRows(relation, relation.arrive_again(last), own=True) for relation in self.relations]
        self.agenda.iteration, self.agenda.last = last, last + 1
        with self.meter.over(self.relations):
            self.propagate(arriving, {})
            for relation in self.relations:
                relation.close_batch()
            self.go_on()
        for relation in self.relations:
            relation.begin()
        return any(changed.n for changed in arriving)

    # ---- iterations

    def go_on(self) -> None:
        """Decide one iteration after the other until nothing is left to decide."""
        while (iteration := self.agenda.next()) is not None:
            self.iterations += 1
            gone = dict(self.agenda.decide(iteration))
            self.propagate([ChangedRows(relation, relation.moving.ids, own=True) for relation in gone], gone)
            for relation in gone:
                relation.close_batch()
        self.agenda.close()
        for relation in self.relations:
            relation.arrange()

    def propagate(self, batch: Sequence[ChangedRows], left: Batch) -> None:
        """Join what a batch changes with all else, and look for the supports of tuples that have left."""
        for changed in batch:
            changed.relation.arrange()
        jobs = [variant for changed in batch for variant in self.begun_by(changed)]
        for relation, ids in left.items():
            for variant in self.supports(relation.name) if len(ids) else ():
                if not variant.feed.n:
                    variant.feed.fill(relation.rows_of(ids, np.zeros(len(ids)), np.zeros(len(ids))))
                jobs.append(variant)
        if jobs:
            run_variants(jobs, self.pool)


def grouped(pairs: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
    """Return items by their names."""
    found: dict[str, list[Item]] = defaultdict(list)
    for name, item in pairs:
        found[name].append(item)
    return found
