"""Least or greatest values in recursion, as the distances of shortest paths, which are kept up to date.

The final values are *best*. A tuple of a relation is a group with its best value, and its supports are the
instantiations that give just this value from best values: a program without aggregates,

    sp(y, d) :- sp(x, c), arc(x, y, w), d = c + w, sp!best(y, d).

which is kept up to date as any other, with iterations and counts. So an update has three steps. First it takes in what
has changed with the best values as they were: tuples that remain have derivations from what is there now, which do not
go in circles. Then values are improved until they are best: those of groups that have lost theirs from what remains,
others where instantiations have begun, and from there on. What remains is derivable, so that is the fixpoint. At last
the best values that have come or gone are a change like any other.

A group whose best value is derived in circles only is none that a tuple has: such programs are not strict (see
`strict_recursion`), or they round. They are bootstrapped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from engine.database import Columns
from engine.incremental.bounded_recursion import CannotUpdate, renamed
from engine.incremental.group_ends import Contribute, Contributions, Gather
from engine.incremental.grouped_stratum import NUMBER, Surroundings, follow
from engine.incremental.iteration_stamps import Epoch, marked
from engine.incremental.maintained_relation import NONE, MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.recomputed_stratum import RecomputedStratum
from engine.incremental.update_plans import ASKED, Context, End, Variant, asking, atoms_of, changed_at, run_variants
from engine.plan.rule import Match, Operand, Rule
from engine.result import RuleStatistics
from engine.storage.aggregate_partition import Shape


def best_name(relation: str) -> str:
    """Return the name of what holds the best values of a relation's groups."""
    return f"{relation}!best"


def tight(rule: Rule) -> Rule:
    """A rule as it derives best values only."""
    return replace(rule, body=(*rule.body, Match(best_name(rule.relation), rule.head)))


class Improvement:
    """The `best` values of a relation's groups while they are improved by `rules`, which read best values."""

    def __init__(
        self, best: MaintainedRelation, shape: Shape, rules: Sequence[Rule], context: Context, around: Surroundings
    ) -> None:
        self.best, self.around, self.found = best, around, Contributions(shape)
        self.group, (aggregated,) = shape.group.tolist(), shape.aggregated
        self.column, self.native = aggregated.column, aggregated.native
        self.is_better = np.less if aggregated.kind == "min" else np.greater
        self.feed = context.feed_of(f"{best.name}{ASKED}", len(self.group) + 1, best.dtype)
        columns = tuple(f"x{column}" for column in range(best.width))
        own = Rule(best.name, columns, (Match(best.name, columns),), {}, best.name)
        (marker,) = set(marked(own).body[0].variables).difference(columns)
        self.touched: list[np.ndarray] = []
        self.present = Gather(3, around.watch)
        self.standing = self.asked_for(own, (NUMBER, columns[self.column], marker), self.present.end, context)
        self.deriving = [self.asked_for(rule, rule.head, self.contribute, context) for rule in rules]

    def contribute(self, registers: list[int]) -> Contribute:
        return Contribute(self.found, self.around.watch, registers)

    def asked_for(self, rule: Rule, wanted: Sequence[Operand], end: End, context: Context) -> Variant:
        """A rule from groups of its head."""
        given = Match(self.feed.name, (*(rule.head[column] for column in self.group), NUMBER))
        rule = marked(replace(rule, wide={**rule.wide, NUMBER: False}))
        return asking(rule, given, self.feed, wanted, context, RuleStatistics(), end)

    def ask(self, rows: Columns) -> None:
        """Let variants begin with the groups of some rows."""
        self.feed.fill(np.concatenate([rows[self.group], [np.arange(rows.shape[1])]]))

    def drop(self, rows: Columns) -> list[Variant]:
        """Let values be best no more; return what finds others for their groups."""
        self.set(self.best.known(rows), NONE)
        self.ask(rows)
        return self.deriving

    def improve(self) -> np.ndarray:
        """Let what has been found be best where it is better; return the ids of these tuples."""
        rows = self.found.give()
        if not rows.shape[1]:
            return NONE
        self.ask(rows)
        run_variants([self.standing], self.around.pool)
        numbers, values, ids = self.present.give()
        is_better = np.ones(rows.shape[1], np.bool_)
        found = np.ascontiguousarray(rows[self.column, numbers]).view(self.native)
        is_better[numbers] = self.is_better(found, values.astype(rows.dtype).view(self.native))
        come = self.best.add(rows[:, is_better])
        self.set(ids[is_better[numbers]], come)
        return come

    def set(self, gone: np.ndarray, come: np.ndarray) -> None:
        self.touched += [gone, come]
        self.best.set_facts(gone, come)
        self.best.close_batch()
        self.best.arrange()

    def undo(self) -> None:
        """Drop what is left of an update that has not ended."""
        self.found.give()
        self.present.give()
        self.touched = []

    def give_touched(self) -> np.ndarray:
        """Return the ids of the tuples that have come or gone, and begin again."""
        ids, self.touched = np.unique(np.concatenate([NONE, *self.touched])), []
        return ids


class ExtremalRecursion:
    """Mutually recursive relations, each with a least or greatest value for each group.

    `anew` evaluates them from scratch, and holds the facts that they were given; `tight` keeps the tuples.
    """

    def __init__(
        self,
        anew: RecomputedStratum,
        tight: MaintainedStratum,
        best: Sequence[MaintainedRelation],
        shapes: Mapping[str, Shape],
        rules: Callable[[], Sequence[Rule]],
        around: Surroundings,
    ) -> None:
        self.anew, self.tight, self.best, self.shapes, self.around = anew, tight, [*best], shapes, around
        self.relations, self.inputs, self._rules = anew.relations, anew.inputs, rules
        self.context = Context(around.bindings, Epoch(frozenset(relation.name for relation in best)))

    @property
    def iterations(self) -> int:
        return self.tight.iterations

    @cached_property
    def improving(self) -> list[Rule]:
        """The rules over best values."""
        names = {relation.name: best_name(relation.name) for relation in self.relations}
        return [renamed(rule, names) for rule in self._rules()]

    @cached_property
    def improvements(self) -> dict[str, Improvement]:
        """By name of a relation its best values."""
        made = {}
        with self.around.bindings.lock:
            for relation, best in zip(self.relations, self.best, strict=True):
                rules = [rule for rule in self.improving if rule.relation == best.name]
                made[best.name] = Improvement(best, self.shapes[relation.name], rules, self.context, self.around)
        return made

    @cached_property
    def changes(self) -> dict[str, list[Variant]]:
        """By relation what derives values from its tuples that have come, or gone where a rule negates it."""
        found = defaultdict(list)
        for rule in self.improving:
            end = self.improvements[rule.relation].contribute
            with self.around.bindings.lock:
                begun = marked(rule)
                for at, literal in atoms_of(begun):
                    variant = changed_at(at, begun, rule.head, self.context, RuleStatistics(), end, current=True)
                    found[literal.relation].append(variant)
        return found

    def forget_plans(self) -> None:
        """Forget plans, which read arrangements that are no more."""
        self.tight.forget_plans()
        for made in ("improvements", "changes"):
            self.__dict__.pop(made, None)

    # ---- evaluation

    def bootstrap(self, facts: Mapping[str, Columns]) -> None:
        self.anew.give(facts, 0)
        for given in self.anew.given.values():
            given.arrange()
        for best, (_, rows) in zip(self.best, self.anew.evaluated(), strict=True):
            best.enter(best.add(rows), 0)
            best.arrange()
        self.tight.bootstrap({})
        for relation, best in zip(self.relations, self.best, strict=True):
            ids = relation.add(best.columns())
            relation.enter(ids[~relation.are_there(ids)], 0)
            relation.arrange()
            best.trim()

    def undo(self) -> None:
        """Drop what is left of an update that has not ended."""
        self.tight.undo()
        for improvement in self.improvements.values():
            improvement.undo()

    def facts(self) -> dict[str, Columns]:
        """The facts of the last state."""
        return self.anew.facts()

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        for relation in self.relations:
            follow(self.anew.given[relation.name], inserted.get(relation.name), deleted.get(relation.name))
        with self.around.meter.over(self.relations):
            if any((relation.now() == 0).any() for relation in self.relations):
                raise CannotUpdate("best values have no derivation from others")
            self.tight.take_in({}, {})
            self.improve()
            self.tight.follow(self.best)
            if not all(map(self.is_derived, self.relations)):
                raise CannotUpdate("best values have no derivation from others any more")

    def improve(self) -> None:
        """Improve best values where they have been lost, or instantiations have begun, until nothing is better."""
        jobs: list[Variant] = []
        for relation in self.relations:
            _, lost = relation.changes()
            if len(lost):
                rows = relation.rows_at(lost)
                jobs += self.improvements[best_name(relation.name)].drop(rows)
        for relation in self.tight.inputs:
            jobs += self.changed(relation, *relation.changes())
        while jobs:
            run_variants(jobs, self.around.pool)
            improved = [(each.best, each.improve()) for each in self.improvements.values()]
            jobs = [variant for best, come in improved for variant in self.changed(best, come, NONE)]
        for best in self.best:
            best.close_stratum()

    def changed(self, relation: MaintainedRelation, come: np.ndarray, gone: np.ndarray) -> list[Variant]:
        """Let variants begin with tuples that have come, or gone where they are negated; return these."""
        jobs = []
        for variant in self.changes[relation.name] if len(come) or len(gone) else ():
            ids = gone if variant.feed.negated else come
            if len(ids):
                now = np.zeros((2, len(ids)), np.int32)
                variant.feed.fill(relation.rows_of(ids, *now))
                jobs.append(variant)
        return jobs

    def is_derived(self, relation: MaintainedRelation) -> bool:
        """Return True if the best values that an update has looked at are tuples of a relation."""
        improvement = self.improvements[best_name(relation.name)]
        ids = improvement.give_touched()
        best = improvement.best.rows_at(ids[improvement.best.are_there(ids)])
        return bool(relation.are_there(relation.add(best)).all())
