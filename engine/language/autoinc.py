"""Counters: each `autoinc()` of a clause becomes a variable that the evaluation gives a number of its own.

A clause draws its numbers once for each distinct binding of the variables of its body, where each `_` in a positive
atom counts as a variable, in the order of their values. So the numbers depend on neither threads nor join orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.language.checked_program import CheckedClause, Relation, Type
from engine.language.grounding import bound_variables
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constraint,
    Functor,
    Literal,
    RecordTerm,
    Term,
    Variable,
    Wildcard,
)
from engine.language.traverse import (
    LEAVES,
    aggregates_of,
    all_literals,
    literal_terms,
    map_atom,
    map_children,
    map_terms,
    subterms,
    variables_of,
)

NUMBER = Type("number", "number")


def is_counter(term: Term) -> bool:
    return isinstance(term, Functor) and term.name == "autoinc"


def draw_counters(clause: CheckedClause, relations: Mapping[str, Relation]) -> CheckedClause:
    """Return the clause with a variable for each `autoinc()`, listed in `counters`, and for each `_` of an atom."""
    terms = (term for literal in (clause.head, *clause.body) for term in literal_terms(literal))
    made = [term for term in terms if not isinstance(term, LEAVES)]
    if not any(is_counter(part) for term in made for part in subterms(term)):
        return clause
    return Drawing(clause, relations).clause()


class Drawing:
    """The state of rewriting one clause: the variables made so far."""

    def __init__(self, clause: CheckedClause, relations: Mapping[str, Relation]) -> None:
        self.old, self.relations = clause, relations
        self.variables = dict(clause.variables)
        self.counters: list[str] = []

    def clause(self) -> CheckedClause:
        body: list[Literal] = []
        for literal in self.old.body:
            equations: list[Literal] = []
            if isinstance(literal, Atom):
                types = [column.type for column in self.relations[literal.relation].columns]
                named = [self.named(t, type_, equations) for t, type_ in zip(literal.arguments, types, strict=True)]
                literal = replace(literal, arguments=tuple(named))
            body += [map_terms(literal, self.drawn), *equations]
        head = map_atom(self.old.head, self.drawn)
        return replace(self.old, head=head, body=tuple(body), variables=self.variables, counters=tuple(self.counters))

    def drawn(self, term: Term) -> Term:
        if not is_counter(term):
            return map_children(term, self.drawn)
        self.counters.append(f"+counter{len(self.counters)}")
        self.variables[self.counters[-1]] = NUMBER
        return Variable(self.counters[-1], span=term.span)

    def named(self, term: Term, type_: Type, equations: list[Literal]) -> Term:
        """Return a variable for a term of an atom that holds a `_`."""
        if not any(isinstance(part, Wildcard) for part in subterms(term)):
            return term
        variable = Variable(f"+any{len(self.variables)}", span=term.span)
        self.variables[variable.name] = type_
        if isinstance(term, RecordTerm):
            equations.append(Constraint("=", variable, term, "record", span=term.span))
        return variable


def split(clause: CheckedClause) -> tuple[list[str], tuple[Literal, ...], tuple[Literal, ...]]:
    """Return the variables that decide how many numbers are drawn, the literals that bind them, and the others.

    The others need a counter, or a variable that only they bind.
    """
    numbered = set(clause.counters)
    known = [literal for literal in clause.body if not mentioned(literal) & numbered]
    while True:
        bound = bound_variables(known)
        later = {v for x in clause.body if x not in known for v in variables_of(literal_terms(x))} - bound
        kept = [x for x in known if set(variables_of(literal_terms(x))) <= bound and not mentioned(x) & later]
        if len(kept) == len(known):
            break
        known = kept
    names = dict.fromkeys(name for literal in known for name in variables_of(literal_terms(literal)))
    return list(names), tuple(known), tuple(literal for literal in clause.body if literal not in known)


def mentioned(literal: Literal) -> set[str]:
    """Return the variables of a literal, those inside aggregates included."""
    terms = [term for inner in all_literals([literal]) for term in literal_terms(inner)]
    targets = [aggregate.target for aggregate in aggregates_of(terms) if aggregate.target is not None]
    return set(variables_of([*terms, *targets]))


def in_aggregate(literal: Literal) -> Functor | None:
    """Return an `autoinc()` inside an aggregate of the literal, if there is one."""
    for aggregate in aggregates_of(literal_terms(literal)):
        found = _counter_inside(aggregate)
        if found is not None:
            return found
    return None


def _counter_inside(aggregate: Aggregate) -> Functor | None:
    terms = [term for literal in all_literals(aggregate.body) for term in literal_terms(literal)]
    terms += [] if aggregate.target is None else [aggregate.target]
    parts = (part for term in terms for part in subterms(term))
    return next((part for part in parts if isinstance(part, Functor) and is_counter(part)), None)
