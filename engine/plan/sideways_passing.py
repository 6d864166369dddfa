"""Sideways information passing: which values are known when an atom of a clause is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from engine.language.grounding import is_evaluable, pattern_variables
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Constraint,
    Functor,
    Literal,
    Negation,
    Term,
    Truth,
    Variable,
)
from engine.language.traverse import is_equation, literal_terms, subterms, variables_of


@dataclass(frozen=True)
class Passing:
    """An atom at a position of a body, and the letter b or f for each of its arguments.

    `before` are the positions of the literals taken earlier that share variables, directly or through one another, with
    its bound arguments.
    """

    position: int
    atom: Atom
    adornment: str
    before: tuple[int, ...]


def pass_sideways(body: Sequence[Literal], known: Iterable[str], is_derived: Callable[[str], bool]) -> list[Passing]:
    """Return the atoms of derived relations in the order in which values are passed to them.

    Next comes a test of known values, else the atom that is connected to what is known; stored relations come before
    derived ones, as they pass more on at no cost of their own.
    """
    return Walk(body, set(known), is_derived).run()


class Walk:
    def __init__(self, body: Sequence[Literal], known: set[str], is_derived: Callable[[str], bool]) -> None:
        self.body, self.known, self.is_derived = body, known, is_derived
        self.left = list(range(len(body)))
        self.taken: list[int] = []

    def run(self) -> list[Passing]:
        found = []
        while (position := self.next()) is not None:
            literal = self.body[position]
            if isinstance(literal, Atom) and self.is_derived(literal.relation):
                adornment = "".join("b" if self.is_known(term) else "f" for term in literal.arguments)
                found.append(Passing(position, literal, adornment, self.connected(literal)))
            self.left.remove(position)
            self.taken.append(position)
            for term in literal_terms(literal) if not isinstance(literal, Negation) else ():
                self.known.update(pattern_variables(term))
        return found

    def next(self) -> int | None:
        atoms = []
        for position in self.left:
            literal = self.body[position]
            if isinstance(literal, Atom):
                atoms.append((position, literal))
            elif self.is_decided(literal):
                return position
        return min(atoms, key=lambda each: self.rank(*each))[0] if atoms else None

    def rank(self, position: int, atom: Atom) -> tuple[bool, bool, int, int]:
        n_known = sum(map(self.is_known, atom.arguments))
        return bool(atom.arguments) and not n_known, self.is_derived(atom.relation), -n_known, position

    def is_known(self, term: Term) -> bool:
        """Return True if a term stands for a value of a relation; one that has yet to be made does not count."""
        return isinstance(term, Constant) or (isinstance(term, Variable) and term.name in self.known)

    def is_decided(self, literal: Negation | Constraint | Truth) -> bool:
        """Return True if a literal holds or not by what is known, or takes known values apart."""
        terms = literal_terms(literal)
        parts = [part for term in terms for part in subterms(term)]
        if any(isinstance(part, Aggregate) or is_generator(part) for part in parts):
            return False
        if variables_of(terms).keys() <= self.known:
            return True
        if not is_equation(literal):
            return False
        has_functor = any(isinstance(part, Functor) for part in parts)
        return not has_functor and any(is_evaluable(term, self.known) and self.is_known(term) for term in terms)

    def connected(self, atom: Atom) -> tuple[int, ...]:
        reached = {term.name for term in atom.arguments if isinstance(term, Variable) and term.name in self.known}
        found: set[int] = set()
        size = -1
        while len(found) != size:
            size = len(found)
            for position in self.taken:
                own = variables_of(literal_terms(self.body[position])).keys()
                if not own.isdisjoint(reached):
                    found.add(position)
                    reached |= own
        return tuple(position for position in self.taken if position in found)


def is_generator(term: Term) -> bool:
    return isinstance(term, Functor) and term.name == "range"
