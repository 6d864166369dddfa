"""Why a tuple is not there: for each rule that could derive it, the instantiation that gets furthest.

Best are bindings under which all literals of a rule hold but one, of these those that leave least of it open. Where
there are none, the body is followed in an order of evaluation as far as any bindings lead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from engine.plan.rule import Absent, Compare, FlatAtom, Fold, Literal, Match
from engine.provenance.atoms import Pattern
from engine.provenance.body_solver import Bindings, BodySolver, OutOfSteps, value_of
from engine.provenance.derivations import Derivations
from engine.provenance.explained_rules import ExplainedRule

Found = TypeVar("Found")
STEPS = 50_000
"""Matches that the search for the furthest instantiation of a rule may take."""
TRIED = 100
"""Instantiations of a rule that are compared."""


@dataclass(frozen=True)
class Failure:
    """A rule under bindings that do not derive the tuple asked for.

    `missing` is the position of the first literal that does not hold, None if the head differs or if all hold;
    `n_missing` counts those that do not, or that were not come to.
    """

    rule: ExplainedRule
    bindings: Bindings
    missing: int | None
    n_missing: int


class Failures:
    """The failed instantiations of rules on what `derivations` are made from."""

    def __init__(self, derivations: Derivations, key: Callable[[str, Sequence[int | str | None]], object]) -> None:
        self.rules, self.key = derivations.rules, key
        self.solver = BodySolver(derivations.tuples)

    def of(self, pattern: Pattern) -> list[Failure]:
        """Return for each rule of the pattern's relation its furthest instantiation, the nearest rules first."""
        found = [self._furthest(rule, pattern) for rule in self.rules.of(pattern.relation)]
        return sorted(found, key=lambda failure: (failure.n_missing, failure.rule.number))

    def _furthest(self, rule: ExplainedRule, pattern: Pattern) -> Failure:
        bindings = rule.bound_by(pattern.values, frozenset(("sum", "count", "mean", "min", "max")))
        if bindings is None:
            return Failure(rule, {}, None, len(rule.body) + 1)
        other_rows = [Failure(rule, found, None, 0) for found in self._bounded(self.solver.solve(rule.body, bindings))]
        if other_rows:
            return min(other_rows, key=self._distance)
        lacking_one = list(self._lacking_one(rule, bindings))
        if lacking_one:
            return min(lacking_one, key=self._distance)
        tried = list(self._bounded(self._ends(list(enumerate(rule.body)), bindings)))
        return min((Failure(rule, b, at, n) for b, at, n in tried), key=self._distance)

    def _lacking_one(self, rule: ExplainedRule, bindings: Bindings) -> Iterator[Failure]:
        """Yield instantiations in which all literals hold but one."""
        for at, literal in enumerate(rule.body):
            if isinstance(literal, Match | Absent | Compare | Fold):
                others = [*rule.body[:at], *rule.body[at + 1 :]]
                for found in self._bounded(self.solver.solve(others, bindings)):
                    yield Failure(rule, found, at, 1)

    def _ends(self, body: list[tuple[int, Literal]], bindings: Bindings) -> Iterator[tuple[Bindings, int, int]]:
        """Yield bindings that lead no further, the literal that they fail at, and how many are left."""
        chosen = self.solver.next_literal([literal for _, literal in body], bindings)
        if chosen is None:
            return
        at, literal = body[chosen]
        rest = [*body[:chosen], *body[chosen + 1 :]]
        leads_on = False
        for extended in self.solver.satisfy(literal, bindings):
            leads_on = True
            yield from self._ends(rest, extended)
        if not leads_on:
            yield bindings, at, len(body)

    def _bounded(self, found: Iterator[Found]) -> Iterator[Found]:
        """Yield the first few that a search finds, as far as it comes."""
        self.solver.steps = STEPS
        try:
            yield from islice(found, TRIED)
        except OutOfSteps:
            return

    def _distance(self, failure: Failure) -> tuple:
        """Order instantiations: by what is missing, then by how much of it is open, then by content."""
        rule, missing = failure.rule.rule, None if failure.missing is None else failure.rule.body[failure.missing]
        n_open = sum(value_of(term, failure.bindings) is None for term in terms_of(missing))
        shown = [
            self.key(atom.relation, instantiated(atom, failure.bindings))
            for atom in rule.body
            if isinstance(atom, FlatAtom)
        ]
        return failure.n_missing, n_open, not isinstance(missing, Match), failure.missing or 0, shown


def terms_of(literal: Literal | None) -> list[int | str]:
    if isinstance(literal, FlatAtom):
        return [term for term in literal.terms if term is not None]
    return [literal.left, literal.right] if isinstance(literal, Compare) else []


def instantiated(atom: FlatAtom, bindings: Bindings) -> tuple[int | str | None, ...]:
    """Return the terms of an atom: values, variables that are not bound, and None for wildcards."""
    return tuple(bindings.get(term, term) if isinstance(term, str) else term for term in atom.terms)
