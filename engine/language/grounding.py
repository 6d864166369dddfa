"""Groundedness: which variables a body binds.

A positive atom binds the variables of its arguments, also inside record patterns, but not inside functors. An equation
binds one side once the other can be evaluated. Nothing else binds (Soufflé's rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from engine.language.syntax import Aggregate, Atom, Constraint, Literal, RecordTerm, Term, Variable, Wildcard
from engine.language.traverse import children, is_equation


def is_evaluable(term: Term, bound: Set[str]) -> bool:
    """Return True if the value of a term is known when these variables are bound. Aggregates count as known."""
    if isinstance(term, Variable):
        return term.name in bound
    if isinstance(term, Wildcard):
        return False
    return isinstance(term, Aggregate) or all(is_evaluable(child, bound) for child in children(term))


def pattern_variables(term: Term) -> Iterable[str]:
    """Yield the variables that get bound when a term is matched with a value."""
    if isinstance(term, Variable):
        yield term.name
    elif isinstance(term, RecordTerm):
        for argument in term.arguments:
            yield from pattern_variables(argument)


def bound_variables(body: Iterable[Literal], given: Iterable[str] = ()) -> set[str]:
    """Return the variables that are bound after the body, when those given are bound before."""
    bound = set(given)
    equations: list[Constraint] = []
    for literal in body:
        if isinstance(literal, Atom):
            for argument in literal.arguments:
                bound.update(pattern_variables(argument))
        elif is_equation(literal):
            equations.append(literal)
    size = -1
    while equations and len(bound) != size:
        size = len(bound)
        for equation in equations:
            if is_evaluable(equation.left, bound):
                bound.update(pattern_variables(equation.right))
            if is_evaluable(equation.right, bound):
                bound.update(pattern_variables(equation.left))
    return bound
