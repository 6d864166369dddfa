"""A recursion kept in bounds, and up to date: what `Widening` is to an evaluation from scratch.

An evaluation that lets a relation outgrow its limit looks at the tuples of the iteration in which that happens, adds
facts chosen by them to a relation that the recursion negates, and begins again. Here each such beginning is kept as a
*level*: the recursion on relations of its own, up to the iteration in which it outgrew the limit and no further. As
iterations are exact, its tuples are those that an evaluation from scratch would have looked at, and an update of it
gives the facts that such an evaluation would choose now; those that come or go are an update of the next level, and the
last one, which is not cut off, holds the result. A level that outgrows the limit in another iteration than before is
cut off there. Where one does not outgrow it any more, there is no going on: `CannotUpdate`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.database import Columns
from engine.evaluation.row_limit import RecursionSize
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Absent, Match, Rule


class CannotUpdate(Exception):
    """An update must give way to a bootstrap. The message says why."""


@dataclass
class Bound:
    """A relation, how many rows it and `counted` ones may have together, and what is added to `into` beyond that.

    If there is a `width`, those of its rows count whose first column is in more than so many, as in a `Widening`. When
    the recursion outgrows the i-th limit of `max_rows`, the i-th of the `choices` is given the rows that are there,
    [arity, n]; after the last one there is no limit. `max_rows` may be others for each update.
    """

    relation: str
    max_rows: Sequence[int]
    into: str
    choices: Sequence[Callable[[Columns], Columns]]
    counted: Collection[str] = ()
    width: int = 0


@dataclass
class Level:
    """A beginning: the recursion cut off, and the facts that it was given (`source`).

    `relation` is the one that has a limit, `counted` are others whose rows count.
    """

    stratum: MaintainedStratum
    source: MaintainedStratum
    relation: MaintainedRelation
    counted: Sequence[MaintainedRelation]

    @property
    def last(self) -> int:
        """The iteration in which it outgrew the limit."""
        return self.stratum.agenda.last


class BoundedRecursion:
    """A recursive stratum with a bound; `final` holds its relations, `source` the facts chosen.

    `keeping` makes what maintains relations by rules that read others, `declare` a relation like another one under a
    name of its own.
    """

    def __init__(
        self,
        final: MaintainedStratum,
        source: MaintainedStratum,
        bound: Bound,
        declare: Callable[[str, MaintainedRelation], MaintainedRelation],
        keeping: Callable[..., MaintainedStratum],
    ) -> None:
        self.final, self.source, self.bound = final, source, bound
        self.declare, self.keeping = declare, keeping
        (into,) = source.relations
        self.into = into
        self.relations = [*final.relations, into]
        self.inputs = [relation for relation in final.inputs if relation is not into]
        self.relation = next(relation for relation in final.relations if relation.name == bound.relation)
        self.counted = [each for each in final.relations if each.name in bound.counted]
        self.levels: list[Level] = []
        self.iterations = 0

    def add_level(self, last: int) -> Level:
        """Make a level that is cut off behind an iteration, without tuples."""
        suffix = f"@{len(self.levels)}"
        made = {relation.name: self.declare(relation.name + suffix, relation) for relation in self.relations}
        names = {name: relation.name for name, relation in made.items()}
        own = [made[relation.name] for relation in self.final.relations]
        inputs = [made.get(relation.name, relation) for relation in self.final.inputs]
        stratum = self.keeping(own, inputs, lambda: [renamed(rule, names) for rule in self.final.rules])
        stratum.agenda.last = last
        counted = [made[relation.name] for relation in self.counted]
        level = Level(stratum, self.keeping([made[self.into.name]], [], list), made[self.relation.name], counted)
        self.levels.append(level)
        return level

    def forget_plans(self) -> None:
        """Forget plans, which read arrangements that are no more."""
        for stratum in (self.final, self.source, *(level.stratum for level in self.levels)):
            stratum.forget_plans()

    # ---- evaluation

    def bootstrap(self, facts: Mapping[str, Columns]) -> None:
        self.source.keep()
        chosen = facts.get(self.into.name, self.into.columns())
        while True:
            self.source.bootstrap({self.into.name: chosen})
            size = RecursionSize(self.bound.width)
            self.final.bootstrap(facts, lambda size=size: self.is_outgrown(size))
            agenda = self.final.agenda
            if agenda.last is None:
                return
            level, agenda.last = self.add_level(agenda.last), None
            level.source.bootstrap({relation.name: chosen for relation in level.source.relations})
            for own, relation in zip(level.stratum.relations, self.final.relations, strict=True):
                own.adopt(relation)
            chosen = union(self.into, chosen, self.choice(len(self.levels) - 1, self.relation.columns()))
            self.final.reset()
            self.source.reset()

    def is_outgrown(self, size: RecursionSize) -> bool:
        if len(self.levels) == len(self.bound.choices):
            return False
        n_rows, *n_others = (np.count_nonzero(r.now() != ABSENT) for r in (self.relation, *self.counted))
        limit = self.bound.max_rows[len(self.levels)]
        return size.passes(limit, n_rows, sum(n_others), lambda: self.relation.columns()[0])

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        if any(self.into.name in facts for facts in (inserted, deleted)):
            raise CannotUpdate(f"{self.bound.relation} is bounded, and there are facts of {self.into.name}")
        chosen = self.levels[0].source.relations[0].columns() if self.levels else self.into.columns()
        for number, level in enumerate(self.levels):
            follow(level.source, chosen)
            level.stratum.update(self.of_level(level, inserted), self.of_level(level, deleted))
            chosen = union(self.into, chosen, self.choice(number, self.cut_off(level, self.bound.max_rows[number])))
        follow(self.source, chosen)
        self.final.update(inserted, deleted)
        self.iterations = self.final.iterations
        if self.is_outgrown(RecursionSize(self.bound.width)):
            limit = self.bound.max_rows[len(self.levels)]
            raise CannotUpdate(f"{self.bound.relation} has come to have more than {limit:,} rows")

    def of_level(self, level: Level, facts: Mapping[str, Columns]) -> dict[str, Columns]:
        """Facts of the recursion's relations, as those of a level."""
        pairs = zip(level.stratum.relations, self.final.relations, strict=True)
        return {own.name: facts[relation.name] for own, relation in pairs if relation.name in facts}

    def checkpoint(self) -> Callable[[], None]:
        """Return what undoes an update beside tuples: the iterations in which levels are cut off."""
        agendas = [(level.stratum.agenda, level.last) for level in self.levels]

        def restore() -> None:
            for agenda, last in agendas:
                agenda.last = last

        return restore

    def undo(self) -> None:
        """Drop what is left of an update that has not ended."""
        for stratum in (
            self.final,
            self.source,
            *(each for level in self.levels for each in (level.stratum, level.source)),
        ):
            stratum.undo()

    def cut_off(self, level: Level, limit: int) -> Columns:
        """Cut a level off in the iteration in which it outgrows its limit now; return its rows."""
        while (at := self.passed_in(level, limit)) is None:
            if not level.stratum.lengthen():
                raise CannotUpdate(f"{self.bound.relation} has no more than {limit:,} rows now")
        level.stratum.shorten(at)
        return level.relation.columns()

    def passed_in(self, level: Level, limit: int) -> int | None:
        """Return the iteration in which a level passes a limit, None if it does not."""
        n_iterations = level.last + 1
        counts = arrivals(level.relation, self.bound.width, n_iterations)
        for relation in level.counted:
            counts = counts + arrivals(relation, 0, n_iterations)
        at = int(np.searchsorted(np.cumsum(counts), limit, side="right"))
        return at if at < len(counts) else None

    def choice(self, number: int, rows: Columns) -> Columns:
        return np.asarray(self.bound.choices[number](rows), self.into.dtype)

    def facts(self) -> dict[str, Columns]:
        """The facts of the last state: what was chosen is none."""
        given = self.levels[0].source if self.levels else self.source
        return {self.into.name: given.relations[0].facts(), **self.final.facts()}


def arrivals(relation: MaintainedRelation, width: int, n_iterations: int) -> np.ndarray:
    """Return how many of the rows that count begin to do so in each iteration, [n_iterations].

    The row by which a value gets more than `width` ones makes them all count.
    """
    ids = relation.present()
    iterations = relation.now()[ids]
    if not width:
        return np.bincount(iterations, minlength=n_iterations)
    values = relation.rows_at(ids)[0]
    wide = np.bincount(values)[values] > width
    values, iterations = values[wide], iterations[wide]
    order = np.lexsort((iterations, values))
    values, iterations = values[order], iterations[order]
    rank = np.arange(len(values)) - np.searchsorted(values, values)
    counts = np.where(rank == width, width + 1, rank > width)
    return np.bincount(iterations, counts, minlength=n_iterations)


def follow(source: MaintainedStratum, chosen: Columns) -> None:
    """Let a relation hold just these facts: all that it holds goes, and what is chosen comes or stays."""
    (relation,) = source.relations
    source.update({relation.name: chosen}, {relation.name: relation.columns()})


def union(relation: MaintainedRelation, rows: Columns, more: Columns) -> Columns:
    return np.unique(np.concatenate([rows, more], axis=1), axis=1).astype(relation.dtype)


def renamed(rule: Rule, names: Mapping[str, str]) -> Rule:
    """A rule over other relations."""
    body = [
        type(x)(names.get(x.relation, x.relation), x.terms) if isinstance(x, Match | Absent) else x for x in rule.body
    ]
    return replace(rule, relation=names[rule.relation], body=tuple(body))
