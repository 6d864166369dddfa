"""Sub-joins: a wide body is cut where a variable can be projected away before the rest of it is joined.

`sg(x, y) :- sg(a, b), arc(a, x), arc(b, y)` derives a row for each pair of arcs below a row of sg. With
`sg&0(b, x) :- sg(a, b), arc(a, x)` and `sg(x, y) :- sg&0(b, x), arc(b, y)` it derives one for each arc below a row of
sg or of sg&0, of which there are no more than pairs of nodes. This is bucket elimination (Dechter, Artificial
Intelligence, 1999): a variable that the head does not read is eliminated by joining the atoms that do. A body cut as
far as that goes is a generalised hypertree decomposition (Gottlob, Leone and Scarcello, JCSS 2002).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.plan.auxiliary_relations import Auxiliaries
from engine.plan.join_order import Step
from engine.plan.rule import Absent, Compare, Literal, Match, Never, Rule


@dataclass(frozen=True, slots=True)
class Bucket:
    """The atoms that read a variable, which nothing else does but filters that they bind."""

    variable: str
    atoms: tuple[Match, ...]
    filters: tuple[Literal, ...]

    @property
    def parts(self) -> tuple[Literal, ...]:
        return *self.atoms, *self.filters


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows that a rule is expected to derive as it is, and with a bucket in an auxiliary relation.

    Where sizes are not known before the end they are those `dense` relations would lead to.
    """

    without: float
    rows: float
    dense: str = ""


@dataclass(frozen=True, slots=True)
class SubJoin:
    """An auxiliary relation, with the rule that reads it since, and what was expected of it, if that was asked."""

    name: str
    rule: Rule
    eliminated: str
    expected: Expected | None


@dataclass
class Elimination:
    """The rules of a component after wide bodies have been cut.

    `prior` are the rules of auxiliary relations that read no relation of the component: they are evaluated before it,
    in turn. `recursive` names the other auxiliary relations, whose rules stand among `rules`. `orders` has the orders
    that are known of rules that were looked at and left as they are.
    """

    rules: list[Rule] = field(default_factory=list)
    prior: list[Rule] = field(default_factory=list)
    recursive: list[str] = field(default_factory=list)
    chosen: list[SubJoin] = field(default_factory=list)
    orders: Mapping[Rule, Sequence[Step]] = field(default_factory=dict)


class Choice(Protocol):
    """Decides what is eliminated, for which it may look at `orders` of rules."""

    orders: Mapping[Rule, Sequence[Step]]

    def choose(
        self, rule: Rule, possible: Sequence[Bucket], component: Collection[str]
    ) -> tuple[Bucket, Expected | None] | None:
        """Return the bucket to join first, if any is worth it. `component` are the relations of open size."""

    def enter(self, atom: Match, bucket: Bucket) -> None:
        """Learn of the atom that stands for a bucket since, where that reads only relations of known size."""


class Always:
    """Eliminates whatever can be."""

    orders: Mapping[Rule, Sequence[Step]] = {}

    def choose(
        self, rule: Rule, possible: Sequence[Bucket], component: Collection[str]
    ) -> tuple[Bucket, Expected | None] | None:
        return possible[0], None

    def enter(self, atom: Match, bucket: Bucket) -> None:
        pass


def eliminate_variables(
    rules: Iterable[Rule],
    component: Collection[str],
    barred: Collection[str],
    auxiliaries: Auxiliaries,
    choice: Choice,
) -> Elimination:
    """Cut the rules of a component. `barred` are relations that no auxiliary relation may read."""
    found, names = Elimination(orders=choice.orders), set(component)
    for rule in rules:
        while possible := [b for b in buckets(rule) if not any(x.relation in barred for x in b.atoms)]:
            chosen = choice.choose(rule, possible, names)
            if chosen is None:
                break
            bucket, expected = chosen
            first, rule = auxiliaries.cut(rule, bucket.parts)
            atom = rule.atom(0)
            found.chosen.append(SubJoin(atom.relation, rule, bucket.variable, expected))
            moves = any(x.relation in names for x in bucket.atoms)
            if not moves:
                choice.enter(atom, bucket)
            if first is not None and moves:
                names.add(atom.relation)
                found.recursive.append(atom.relation)
                found.rules.append(first)
            elif first is not None:
                found.prior.append(first)
        found.rules.append(rule)
    return found


def buckets(rule: Rule) -> Iterator[Bucket]:
    """The ways to eliminate a variable so that atoms of the body are left."""
    if len(rule.body) < 3:
        return
    atoms = [x for x in rule.body if isinstance(x, Match)]
    if len(atoms) < 3 or any(isinstance(x, Never) for x in rule.body):
        return
    for variable in dict.fromkeys(t for x in atoms for t in x.terms if isinstance(t, str) and t not in rule.head):
        reading = tuple(x for x in atoms if variable in x.variables)
        if not 2 <= len(reading) < len(atoms):
            continue
        bound = set().union(*(x.variables for x in reading))
        filters = tuple(x for x in rule.body if isinstance(x, Compare | Absent) and x.variables <= bound)
        parts = (*reading, *filters)
        if not any(variable in x.variables for x in rule.body if x not in parts):
            yield Bucket(variable, reading, filters)
