"""The PreM check: recursion through aggregates is accepted where the aggregate is provably premappable.

A constraint γ (keep the least, the greatest, the sum of what contributors have reached) is premappable to rules T if
γ(T(I)) = γ(T(γ(I))) (Condie et al., *Scaling-Up Reasoning and Advanced Analytics on BigData*, §2): replacing a value by
a better one loses nothing. That is shown rule by rule. An aggregated column of the recursion falls (`min`) or grows
(`max`, `sum`, `count`) while the fixpoint is computed; so do the terms computed from it by monotone arithmetic. A term
that changes may stand in comparisons that stay true, and in an aggregated column that changes the same way; nowhere
else. Sums must not fall by further contributors: their summands are provably not negative.

A relation declared `premappable` is taken at its word: its stratum is then evaluated round by round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.language.checked_program import CheckedClause, Relation, Stratum
from engine.language.clause_text import literal_text, term_text
from engine.language.diagnostics import Report
from engine.language.sign_analysis import NON_NEGATIVE, ClauseSigns, Signs
from engine.language.syntax import (
    Atom,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Negation,
    Span,
    Term,
    Variable,
)
from engine.language.traverse import all_literals, literal_terms, variables_of

FALLS, FIXED, GROWS = -1, 0, 1
ANYHOW = 2
"""Trends: how a term changes while the recursion goes on. ANYHOW: not known."""

MONOTONE = ("+", "min", "max", "itof", "utof")
HOLDS_IF = {">": (GROWS, FALLS), ">=": (GROWS, FALLS), "<": (FALLS, GROWS), "<=": (FALLS, GROWS)}
"""The trends of the two sides with which a comparison that holds goes on to hold."""


@dataclass(frozen=True, slots=True)
class Violation:
    """The reason why a clause is not premappable; `relations` are those that would have to be declared so."""

    code: str
    message: str
    span: Span
    help: str
    relations: frozenset[str]


def check_premappable(
    strata: Sequence[Stratum], relations: Mapping[str, Relation], inputs: Collection[str], bits: int, report: Report
) -> tuple[Stratum, ...]:
    """Return the strata, each saying whether it is provably premappable; what is not, and not declared, is reported."""
    concerned = [s for s in strata if s.recursive and any(relations[name].aggregated for name in s.relations)]
    if not concerned:
        return tuple(strata)
    signs = Signs(relations, (clause for stratum in strata for clause in stratum.clauses), inputs, bits)
    checked = {id(stratum): replace(stratum, premappable=True) for stratum in strata}
    for stratum in concerned:
        for violation in violations(stratum, relations, signs):
            checked[id(stratum)] = replace(stratum, premappable=False)
            if not any("premappable" in relations[name].qualifiers for name in violation.relations):
                report.error(violation.code, violation.message, violation.span, violation.help)
    return tuple(checked.values())


def violations(stratum: Stratum, relations: Mapping[str, Relation], signs: Signs) -> Iterator[Violation]:
    """Yield the violations of premappability in a recursive stratum with aggregates."""
    members = {name: relations[name] for name in stratum.relations}
    for clause in stratum.clauses:
        yield from ClauseCheck(clause, members, signs.of_clause(clause)).violations()


class ClauseCheck:
    """The trends of the variables of one clause; `members` are the relations of its recursion."""

    def __init__(self, clause: CheckedClause, members: Mapping[str, Relation], signs: ClauseSigns) -> None:
        self.clause, self.members, self.signs = clause, members, signs
        self.trends: dict[str, int] = {}
        self.origins: dict[str, frozenset[str]] = {}
        self.definitions: dict[str, Term] = {}
        for atom in self._recursive_atoms():
            for aggregate in members[atom.relation].aggregated:
                term = atom.arguments[aggregate.column]
                if isinstance(term, Variable):
                    self.trends[term.name] = FALLS if aggregate.kind == "min" else GROWS
                    self.origins[term.name] = frozenset((atom.relation,))
        self._define()

    def _recursive_atoms(self) -> list[Atom]:
        return [x for x in self.clause.body if isinstance(x, Atom) and x.relation in self.members]

    def _define(self) -> None:
        """Find the trends of variables that equations define."""
        bound = variables_of(term for x in self.clause.body if isinstance(x, Atom) for term in x.arguments).keys()
        pending = [x for x in self.clause.body if isinstance(x, Constraint) and x.op == "="]
        self.tests: list[Constraint] = []
        known = set(bound)
        progress = True
        while progress:
            progress = False
            for equation in tuple(pending):
                sides = equation.left, equation.right
                for target, term in (sides, sides[::-1]):
                    if isinstance(target, Variable) and target.name not in known and self._names(term) <= known:
                        self._set(target.name, term)
                        known.add(target.name)
                        pending.remove(equation)
                        progress = True
                        break
        self.tests = pending

    def _set(self, name: str, term: Term) -> None:
        self.definitions[name] = term
        self.trends[name] = self.trend(term)
        self.origins[name] = self._origins((term,))

    def _names(self, term: Term) -> set[str]:
        inner = [] if not hasattr(term, "body") else [t for x in all_literals(term.body) for t in literal_terms(x)]
        return set(variables_of((term, *inner)))

    def _origins(self, terms: Iterable[Term]) -> frozenset[str]:
        names = {name for term in terms for name in self._names(term)}
        return frozenset().union(*(self.origins.get(name, frozenset()) for name in names))

    # ---- trends

    def trend(self, term: Term) -> int:
        """Return the trend of a term as the aggregated columns of the recursion change."""
        if isinstance(term, Variable):
            return self.trends.get(term.name, FIXED)
        if isinstance(term, Functor):
            return self._of_functor(term)
        return FIXED if not self._changing((term,)) else ANYHOW

    def _of_functor(self, term: Functor) -> int:
        trends = [self.trend(argument) for argument in term.arguments]
        if not any(trends):
            return FIXED
        match term.name:
            case name if name in MONOTONE and term.kind != "symbol":
                return combine(trends)
            case "-":
                return combine([trends[0], opposite(trends[1])])
            case "neg":
                return opposite(trends[0])
            case "*":
                return self._of_product(term, trends)
            case "/" if trends[1] == FIXED:
                return trends[0] if self.signs.of(term.arguments[1]) >= NON_NEGATIVE else ANYHOW
        return ANYHOW

    def _of_product(self, term: Functor, trends: Sequence[int]) -> int:
        """A product changes as a factor does if the other is not negative, and opposite by a negative constant."""
        trend = FIXED
        for position, own in enumerate(trends):
            other = term.arguments[1 - position]
            if own == FIXED:
                continue
            if self.signs.of(other) < NON_NEGATIVE:
                own = opposite(own) if isinstance(other, Constant) else ANYHOW
            trend = combine([trend, own])
        return trend

    def _changing(self, terms: Iterable[Term]) -> list[str]:
        names = {name: None for term in terms for name in sorted(self._names(term))}
        return [name for name in names if self.trends.get(name, FIXED) != FIXED]

    # ---- violations

    def violations(self) -> Iterator[Violation]:
        for literal in self.clause.body:
            if isinstance(literal, Atom):
                yield from self._of_atom(literal)
            elif isinstance(literal, Negation):
                yield from self._of_fixed(
                    literal.atom.arguments, f"the negated '{literal.atom.relation}'", literal.span
                )
            elif isinstance(literal, Constraint):
                yield from self._of_constraint(literal)
        yield from self._of_head()

    def _of_atom(self, atom: Atom) -> Iterator[Violation]:
        seen = [name for other in self.clause.body if isinstance(other, Atom) for name in self._occurrences(other)]
        relation = self.members.get(atom.relation)
        aggregated = {} if relation is None else {a.column: a.kind for a in relation.aggregated}
        for column, term in enumerate(atom.arguments):
            if column in aggregated and isinstance(term, Variable) and seen.count(term.name) > 1:
                message = (
                    f"'{shown(term.name)}', a {aggregated[column]} of '{atom.relation}' that still changes, is joined"
                )
                yield self._violation(
                    "E062", message, term.span, "join after the recursion, in a later stratum", (term,)
                )
            elif column in aggregated and not isinstance(term, Variable) and variables_or_constant(term):
                message = f"a {aggregated[column]} of '{atom.relation}' that still changes is compared for equality"
                help = "compare with '<=' or '>=', or after the recursion, in a later stratum"
                relations = frozenset((atom.relation,))
                yield Violation("E062", message, term.span, help, relations)

    @staticmethod
    def _occurrences(atom: Atom) -> Iterator[str]:
        for term in atom.arguments:
            yield from variables_of((term,))

    def _of_constraint(self, literal: Constraint) -> Iterator[Violation]:
        sides = literal_terms(literal)
        if literal.op == "=" and literal not in self.tests:
            for term in sides:
                if not isinstance(term, Variable | Functor) and self._changing((term,)):
                    yield from self._of_fixed((term,), "a record or an aggregate", literal.span)
            return
        if not self._changing(sides):
            return
        if literal.op not in HOLDS_IF:
            place = "a comparison that may cease to hold"
            yield from self._of_fixed(sides, place, literal.span)
            return
        for side, other, good in zip(sides, sides[::-1], HOLDS_IF[literal.op], strict=True):
            if self.trend(side) not in (FIXED, good):
                yield self._against(literal, side, other)

    def _against(self, literal: Constraint, side: Term, other: Term) -> Violation:
        """A comparison in the wrong direction: clamp what changes, and bound and best value are kept."""
        trend = self.trend(side)
        verb = {GROWS: "grows", FALLS: "falls"}.get(trend, "changes")
        test, value = literal_text(literal), term_text(side)
        message = f"'{test}' may cease to hold as '{value}' {verb}, and what it derived would be lost"
        help = "compare the other way round, or after the recursion, in a later stratum"
        if isinstance(side, Variable) and trend != ANYHOW:
            clamp = "min" if trend == GROWS else "max"
            definition, bound = self.definitions.get(side.name), term_text(other)
            help = f"keep the value within its bound where it is derived: '… = {clamp}(…, {bound})'"
            if definition is not None:
                clamped = f"{shown(side.name)} = {clamp}({term_text(definition)}, {bound})"
                help = f"keep the value within its bound: '{clamped}'"
        return self._violation("E062", message, literal.span, help, (side,))

    def _of_fixed(self, terms: Iterable[Term], place: str, span: Span) -> Iterator[Violation]:
        """Violations of terms in a place where nothing may change."""
        terms = tuple(terms)
        for name in self._changing(terms):
            message = f"'{shown(name)}', which changes while the recursion goes on, stands in {place}"
            help = "use it after the recursion, in a later stratum"
            yield self._violation("E062", message, span, help, (Variable(name),))

    def _of_head(self) -> Iterator[Violation]:
        head = self.clause.head
        for term in head.arguments:
            if not isinstance(term, HeadAggregate):
                yield from self._of_fixed((term,), f"a column of '{head.relation}' that is not aggregated", term.span)
                continue
            yield from self._of_fixed(term.contributors, f"a contributor of '{head.relation}'", term.span)
            wanted, trend = FALLS if term.kind == "min" else GROWS, self.trend(term.target)
            if trend not in (FIXED, wanted):
                yield self._wrong_trend(term, trend)
            if term.kind == "sum" and self.signs.of(term.target) < NON_NEGATIVE:
                yield self._negative(term)

    def _wrong_trend(self, term: HeadAggregate, trend: int) -> Violation:
        verb = {GROWS: "grows", FALLS: "falls"}.get(trend, "may rise or fall")
        value = self._expanded(term.target)
        changing = " and ".join(f"'{shown(name)}'" for name in self._changing((value,)))
        better = "falling" if term.kind == "min" else "growing"
        message = f"'{term_text(value)}' {verb} as the recursion changes {changing}"
        message += f"; a recursive {term.kind} needs {better} values"
        help = "multiply and divide by what is provably not negative, add a guard such as 'w >= 0'"
        if trend != ANYHOW:
            help = f"aggregate by {'max' if trend == GROWS else 'min'}, or in a later stratum"
        return self._violation("E062", message, term.span, help, (term.target,))

    def _negative(self, term: HeadAggregate) -> Violation:
        value = term_text(self._expanded(term.target))
        unknown = [n for n in self._names(self._expanded(term.target)) if self.signs.of(Variable(n)) < NON_NEGATIVE]
        unknown = [name for name in unknown if name not in self.trends] or unknown
        guards = " and ".join(f"'{shown(name)} >= 0'" for name in sorted(unknown))
        message = f"the summand '{value}' is not provably non-negative: a recursive sum must grow with each contributor"
        help = f"add {guards} to the body, or declare the columns unsigned" if unknown else "sum in a later stratum"
        return self._violation("E063", message, term.span, help, (term.target,))

    def _expanded(self, term: Term) -> Term:
        """Return the expression that defines a variable of the head."""
        return self.definitions.get(term.name, term) if isinstance(term, Variable) else term

    def _violation(self, code: str, message: str, span: Span, help: str, terms: Iterable[Term]) -> Violation:
        return Violation(code, message, span, help, self._origins(terms) | {self.clause.head.relation})


def combine(trends: Iterable[int]) -> int:
    """The trend of a sum of terms with these trends."""
    found = {trend for trend in trends if trend != FIXED}
    return FIXED if not found else found.pop() if len(found) == 1 else ANYHOW


def opposite(trend: int) -> int:
    return trend if trend == ANYHOW else -trend


def shown(name: str) -> str:
    return name.split("#")[0]


def variables_or_constant(term: Term) -> bool:
    """Return True if matching with a term asks for equality: anything but a wildcard does."""
    return isinstance(term, Constant) or bool(variables_of((term,)))
