"""Right-linear recursion: a recursive atom whose rows the head passes on unchanged, but for its bound columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from engine.language.checked_program import CheckedClause
from engine.language.grounding import pattern_variables
from engine.language.syntax import Aggregate, Atom, Functor, Term, Variable
from engine.language.traverse import literal_terms, subterms
from engine.plan.sideways_passing import pass_sideways


def recursive_position(clause: CheckedClause) -> int | None:
    """The position of the first atom in the body of a clause that reads the relation of its head."""
    own = (i for i, x in enumerate(clause.body) if isinstance(x, Atom) and x.relation == clause.head.relation)
    return next(own, None)


def is_right_linear(clauses: Iterable[CheckedClause], adornment: str, is_derived: Callable[[str], bool]) -> bool:
    """Return True if the clauses of a relation, recursive through itself alone, are right-linear where recursive.

    What a functor makes in a bound column of a head cannot be compared with the demand: then they are not.
    """
    clauses = list(clauses)
    recursive = [(clause, at) for clause in clauses if (at := recursive_position(clause)) is not None]
    bound = (term for clause in clauses for term in given_terms(clause, adornment))
    if not recursive or any(isinstance(part, Functor) for term in bound for part in subterms(term)):
        return False
    return all(passes_on(clause, at, adornment, is_derived) for clause, at in recursive)


def given_terms(clause: CheckedClause, adornment: str) -> list[Term]:
    return [term for term, letter in zip(clause.head.arguments, adornment, strict=True) if letter == "b"]


def passes_on(clause: CheckedClause, at: int, adornment: str, is_derived: Callable[[str], bool]) -> bool:
    """Return True if the one recursive atom is asked as the head is, and its free arguments serve the head alone."""
    atom = clause.body[at]
    assert isinstance(atom, Atom)
    known = {name for term in given_terms(clause, adornment) for name in pattern_variables(term)}
    passings = pass_sideways(clause.body, known, is_derived)
    own = [passing.adornment for passing in passings if passing.atom.relation == atom.relation]
    free = [i for i, letter in enumerate(adornment) if letter == "f"]
    passed_on = [atom.arguments[i] for i in free]
    uses = Counter(name for literal in (clause.head, *clause.body) for name in names(literal_terms(literal)))
    return (
        own == [adornment]
        and passed_on == [clause.head.arguments[i] for i in free]
        and all(isinstance(term, Variable) and uses[term.name] == 2 for term in passed_on)
    )


def names(terms: Iterable[Term]) -> Iterator[str]:
    """The variables of terms, once for each time they occur, inside aggregates too."""
    for part in (part for term in terms for part in subterms(term)):
        if isinstance(part, Variable):
            yield part.name
        elif isinstance(part, Aggregate):
            yield from names(() if part.target is None else (part.target,))
            for literal in part.body:
                yield from names(literal_terms(literal))
