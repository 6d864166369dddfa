"""Parts of a body that share no variable with the rest of their clause."""

from __future__ import annotations

from collections.abc import Sequence

from engine.language.checked_program import CheckedClause
from engine.language.syntax import Aggregate, Atom, Constant, Literal, Variable
from engine.language.traverse import children, literal_terms


def unwanted(clause: CheckedClause) -> list[tuple[Literal, ...]]:
    """The connected parts of a body that read a relation, but nothing that the head or another part reads.

    A part of ground literals is a test already. One part stays where the head reads none.
    """
    if len(clause.body) < 2:
        return []
    wanted = names_in(clause.head)
    if not any(wanted.isdisjoint(names_in(literal)) for literal in clause.body):
        return []
    found = parts(clause.body)
    apart = [(part, names) for part, names in found if names.isdisjoint(wanted)]
    asked = [part for part, names in apart if any(map(is_open, part))]
    return asked[1:] if len(asked) == len(found) else asked


def parts(body: Sequence[Literal]) -> list[tuple[tuple[Literal, ...], set[str]]]:
    """The literals of a body that share variables, directly or by way of others, each part with its variables."""
    found: list[tuple[tuple[Literal, ...], set[str]]] = []
    for literal in body:
        part: tuple[Literal, ...] = (literal,)
        names = names_in(literal)
        apart = []
        for other, known in found:
            if names.isdisjoint(known):
                apart.append((other, known))
            else:
                part, names = (*other, *part), names | known
        found = [*apart, (part, names)]
    return found


def names_in(literal: Literal) -> set[str]:
    """The variables of a literal, those inside aggregates included."""
    found, left = set(), [*literal_terms(literal)]
    while left:
        term = left.pop()
        if isinstance(term, Variable):
            found.add(term.name)
        elif isinstance(term, Aggregate):
            left += () if term.target is None else (term.target,)
            left += (inside for inner in term.body for inside in literal_terms(inner))
        else:
            left += children(term)
    return found


def is_open(literal: Literal) -> bool:
    """Return True if a literal is an atom that may have more than one row."""
    return isinstance(literal, Atom) and not all(isinstance(term, Constant) for term in literal.arguments)
