"""Making strata: what holds the relations of each component of a program, among those of a view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from engine.budget import Meter
from engine.evaluation.bindings import Bindings
from engine.evaluation.declared_storage import shape_of
from engine.evaluation.value_order import Ranking
from engine.incremental.bounded_recursion import Bound, BoundedRecursion
from engine.incremental.extremal_recursion import ExtremalRecursion, best_name, tight
from engine.incremental.grouped_stratum import BodyAggregate, GroupedStratum, HeadAggregates, Surroundings
from engine.incremental.maintained_relation import MaintainedEquivalence, MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.prepared_program import COUNTED, EXTREMA, Component, Facts, PreparedProgram, Shape
from engine.incremental.recomputed_stratum import RecomputedStratum, given_name
from engine.language.checked_program import Relation as Declared
from engine.plan.rule import Rule
from engine.storage.aggregate_partition import Shape as AggregateShape

if TYPE_CHECKING:
    from engine.incremental.maintained_program import MaintainedProgram

Stratum = MaintainedStratum | RecomputedStratum | GroupedStratum | ExtremalRecursion | BoundedRecursion


def held_in(stratum: Stratum) -> Iterator[MaintainedRelation]:
    """All that holds tuples of a stratum."""
    yield from stratum.relations
    if isinstance(stratum, RecomputedStratum):
        yield from stratum.given.values()
    elif isinstance(stratum, HeadAggregates):
        yield stratum.given
    elif isinstance(stratum, ExtremalRecursion):
        yield from (*stratum.anew.given.values(), *stratum.best)
    elif isinstance(stratum, BoundedRecursion):
        for level in stratum.levels:
            yield from (*level.stratum.relations, *level.source.relations)


class StrataMaker:
    """Makes strata of a program's components; they plan by `bindings`, and are strata of a view."""

    def __init__(self, view: MaintainedProgram, prepared: PreparedProgram, bindings: Bindings) -> None:
        self.view, self.prepared, self.bindings = view, prepared, bindings

    def held(self, names: Iterable[str]) -> list[MaintainedRelation]:
        return [self.view.joined[name] for name in names]

    def stratum(self, component: Component) -> Stratum:
        """Return what holds the relations of a component."""
        if component.reason:
            return self.recomputed(component)
        if component.kind == COUNTED:
            return self.maintained(component)
        return self.extremal(component) if component.kind == EXTREMA else self.grouped(component)

    def recomputed(self, component: Component) -> RecomputedStratum:
        view = self.view
        shared = (view.symbols, view.records, view.threads, view.options, component.reason, view.budget)
        own, read = self.held(component.relations), self.held(component.reads)
        made = RecomputedStratum(own, read, component.program, *shared)
        view.add_relations({given.name: given for given in made.given.values()})
        return made

    def grouped(self, component: Component) -> GroupedStratum:
        """Return what aggregates by group, in the heads of rules or in a body."""
        (relation,), inputs = self.held(component.relations), self.held(component.reads)
        rules, around = partial(component.rules, self.view.symbols), self.surroundings()
        if not component.declared:
            return BodyAggregate(relation, inputs, range(relation.width - 1), rules, around)
        given, (declared,) = self.declare(given_name(relation.name), relation), component.declared
        return HeadAggregates(relation, inputs, given, self.shape_of(declared), rules, around)

    def extremal(self, component: Component) -> ExtremalRecursion:
        """Return what keeps the least or greatest values of a recursion up to date."""
        anew = self.recomputed(component)
        best = [self.declare(best_name(relation.name), relation) for relation in anew.relations]
        rules = partial(component.rules, self.view.symbols)
        inputs = [*anew.inputs, *anew.given.values(), *best]
        kept = self.keeping(anew.relations, inputs, lambda: [tight(rule) for rule in rules()])
        shapes = {declared.name: self.shape_of(declared) for declared in component.declared}
        return ExtremalRecursion(anew, kept, best, shapes, rules, self.surroundings())

    def shape_of(self, declared: Declared) -> AggregateShape:
        ranking = Ranking(self.prepared, self.view.symbols, self.view.records)
        return shape_of(declared, self.prepared.number_bits, ranking.order)

    def maintained(self, component: Component) -> MaintainedStratum | BoundedRecursion:
        """Return what keeps a component up to date, within its bound if it has one."""
        stored = (partial(component.rules, self.view.symbols), partial(component.facts, self.view.symbols))
        kept = self.keeping(self.held(component.relations), self.held(component.reads), *stored, component.needs)
        bound = next((bound for bound in self.view.bounds if bound.relation in kept.names), None)
        return kept if bound is None else self.bounded(kept, bound)

    def bounded(self, kept: MaintainedStratum, bound: Bound) -> BoundedRecursion:
        """Let what keeps a stratum up to date keep it within a bound, too; the facts chosen become part of it."""
        (source,) = [s for s in self.view.strata if isinstance(s, MaintainedStratum) and bound.into in s.names]
        self.view.strata.remove(source)
        return BoundedRecursion(kept, source, bound, self.declare, self.keeping)

    def declare(self, name: str, like: MaintainedRelation) -> MaintainedRelation:
        """Make a relation beside those of the program."""
        made = MaintainedRelation(name, like.width, like.dtype)
        self.view.add_relations({name: made})
        return made

    def keeping(
        self,
        relations: list[MaintainedRelation],
        inputs: list[MaintainedRelation],
        rules: Callable[[], Sequence[Rule]],
        own: Callable[[], Facts] = dict,
        needs: Sequence[Sequence[str]] = ((),),
    ) -> MaintainedStratum:
        """Return what maintains relations by rules that read inputs, and by facts of their own."""
        bindings, pool, watch, meter = self.surroundings()
        return MaintainedStratum(relations, inputs, rules, own, needs, bindings, pool, self.view.exact, watch, meter)

    def surroundings(self) -> Surroundings:
        """Return what a stratum shares with others, and a meter of its own."""
        meter = Meter(self.view.budget, self.view.symbols)

        def watch() -> None:
            self.view.watch()
            meter.watch()

        return Surroundings(self.bindings, self.view.pool, watch, meter)


def empty(shapes: Mapping[str, Shape], equivalences: Collection[str] = ()) -> dict[str, MaintainedRelation]:
    """Return relations of these shapes, of which some are equivalences."""
    return {
        name: (MaintainedEquivalence if name in equivalences else MaintainedRelation)(name, width, np.dtype(dtype))
        for name, (width, dtype) in shapes.items()
    }
