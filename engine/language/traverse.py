"""Walking and rebuilding terms and literals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol, TypeGuard

from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Term,
    Variable,
    Wildcard,
)

LEAVES = (Variable, Constant, Wildcard)
"""The terms that hold no others: most of them."""


class HasBody(Protocol):
    @property
    def head(self) -> Atom: ...

    @property
    def body(self) -> tuple[Literal, ...]: ...


def literal_terms(literal: Literal) -> tuple[Term, ...]:
    """Return the terms that stand directly in a literal."""
    if isinstance(literal, Atom):
        return literal.arguments
    if isinstance(literal, Negation):
        return literal.atom.arguments
    return (literal.left, literal.right) if isinstance(literal, Constraint) else ()


def children(term: Term) -> tuple[Term, ...]:
    """Return the direct subterms of a term; an aggregate has none here, as its body is a scope of its own."""
    if isinstance(term, (Functor, RecordTerm)):
        return term.arguments
    if isinstance(term, HeadAggregate):
        return (*term.contributors, term.target)
    return ()


def subterms(term: Term) -> Iterator[Term]:
    """Yield a term and all terms in it, without going into aggregates."""
    yield term
    if not isinstance(term, LEAVES):
        for child in children(term):
            yield from subterms(child)


def variables_of(terms: Iterable[Term]) -> dict[str, Variable]:
    """Return the variables in the terms, outside aggregates, by name with their first occurrence."""
    found: dict[str, Variable] = {}
    for term in terms:
        if isinstance(term, Variable):
            found.setdefault(term.name, term)
        else:
            for child in children(term):
                for name, variable in variables_of((child,)).items():
                    found.setdefault(name, variable)
    return found


def aggregates_of(terms: Iterable[Term]) -> Iterator[Aggregate]:
    """Yield the aggregates in the terms, not those inside another aggregate."""
    for term in terms:
        if isinstance(term, Aggregate):
            yield term
        elif not isinstance(term, LEAVES):
            yield from aggregates_of(children(term))


def map_children(term: Term, change: Callable[[Term], Term]) -> Term:
    """Return the term with its direct subterms changed."""
    if isinstance(term, (Functor, RecordTerm)):
        if not term.arguments:
            return term
        return replace(term, arguments=tuple(map(change, term.arguments)))
    if isinstance(term, HeadAggregate):
        return replace(term, target=change(term.target), contributors=tuple(map(change, term.contributors)))
    return term


def map_atom(atom: Atom, change: Callable[[Term], Term]) -> Atom:
    return replace(atom, arguments=tuple(map(change, atom.arguments)))


def map_terms(literal: Literal, change: Callable[[Term], Term]) -> Literal:
    """Return the literal with its direct terms changed."""
    if isinstance(literal, Atom):
        return map_atom(literal, change)
    if isinstance(literal, Negation):
        return replace(literal, atom=map_atom(literal.atom, change))
    if isinstance(literal, Constraint):
        return replace(literal, left=change(literal.left), right=change(literal.right))
    return literal


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """Return the term with variables replaced, inside aggregates too."""
    if isinstance(term, Variable):
        return values.get(term.name, term)
    if isinstance(term, Aggregate):
        target = None if term.target is None else substitute(term.target, values)
        return replace(term, target=target, body=tuple(substitute_literal(literal, values) for literal in term.body))
    return map_children(term, lambda child: substitute(child, values))


def substitute_literal(literal: Literal, values: Mapping[str, Term]) -> Literal:
    return map_terms(literal, lambda term: substitute(term, values))


def is_equation(literal: Literal) -> TypeGuard[Constraint]:
    return isinstance(literal, Constraint) and literal.op == "="


def all_literals(body: Iterable[Literal]) -> Iterator[Literal]:
    """Yield the literals of a body and those inside aggregates."""
    for literal in body:
        yield literal
        for aggregate in aggregates_of(literal_terms(literal)):
            yield from all_literals(aggregate.body)


def all_atoms(clause: HasBody) -> list[Atom]:
    """Return the head, then every atom of the body, negated ones and those inside aggregates included."""
    inside_head = (literal for aggregate in aggregates_of(clause.head.arguments) for literal in aggregate.body)
    literals = (*all_literals(inside_head), *all_literals(clause.body))
    atoms = (literal.atom if isinstance(literal, Negation) else literal for literal in literals)
    return [clause.head, *(atom for atom in atoms if isinstance(atom, Atom))]
