"""Rules that give the same contributors each time a group changes, only with other values.

In `rank(y, sum<(x, k)>) :- rank(x, c), matrix(x, y, d), d > 0, k = 0.85 * (c / d).` nothing but computations reads the
aggregated c. Which contributors (y, x) a group x has, and with which d, does not depend on it: as in incremental view
maintenance, these matches can be kept, so that a change of c costs the computations only.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from engine.plan.rule import GENERATORS, Compute, Literal, Match, Rule, relations_of

NUMBER = "#number"
"""Stands for the number of the group that the recursive atom matches."""


@dataclass(frozen=True)
class StableMatches:
    """A rule in two parts.

    `matches` derives for the number of a group each contribution's group and contributor, and then the values of
    `operands`. `computations` lead, in order, from these and from the aggregated columns, `values`, to `result`.
    """

    matches: Rule
    operands: tuple[str, ...]
    values: dict[str, int]
    computations: tuple[Compute, ...]
    result: str


def stable_matches(
    rule: Rule, delta: int, source: Set[int], target: int, head_columns: tuple[int, ...], recursive: Set[str]
) -> StableMatches | None:
    """Return a rule in two parts, if it can be divided.

    `source` are the aggregated columns of the atom at position `delta`, `target` is that of the head, whose
    `head_columns` are those of the group and the contributor.
    """
    atom, result = rule.atom(delta), rule.head[target]
    others = rule.body[:delta] + rule.body[delta + 1 :]
    read = [atom.terms[c] for c in source if atom.terms[c] is not None]
    values = {term: c for c in source if isinstance(term := atom.terms[c], str)}
    if len(values) < max(1, len(read)) or not recursive.isdisjoint(relations_of(others)):
        return None
    changing = closure(values.keys(), others)
    matched = [literal for literal in others if changing.isdisjoint(literal.variables)]
    computations = in_order([literal for literal in others if literal not in matched], values.keys(), changing)
    kept = [None if c in source else term for c, term in enumerate(atom.terms)]
    head = [rule.head[c] for c in head_columns]
    if computations is None or not changing.isdisjoint([*kept, *head]):
        return None
    if not isinstance(result, str) or result not in changing:
        return None
    arguments = (argument for computation in computations for argument in computation.arguments)
    operands = tuple(dict.fromkeys(x for x in arguments if isinstance(x, str) and x not in changing))
    kept[min(source)] = NUMBER
    matches = Rule(
        f"matches of {rule.text}",
        (NUMBER, *head, *operands),
        (Match(atom.relation, tuple(kept)), *matched),
        {**rule.wide, NUMBER: False},
        rule.text,
        rule.clause,
    )
    return StableMatches(matches, operands, values, computations, result)


def closure(values: Set[str], literals: tuple[Literal, ...]) -> Set[str]:
    """The variables that are computed from values, and these."""
    changing = set(values)
    while (
        more := {
            literal.target
            for literal in literals
            if isinstance(literal, Compute) and not changing.isdisjoint(literal.arguments)
        }
        - changing
    ):
        changing |= more
    return changing


def in_order(literals: list[Literal], values: Set[str], changing: Set[str]) -> tuple[Compute, ...] | None:
    """Put computations in an order in which each follows those it needs; None if some literal only tests a value."""
    ordered: list[Compute] = []
    missing = set(changing - values)
    while literals:
        ready = [
            literal
            for literal in literals
            if isinstance(literal, Compute)
            and literal.functor not in GENERATORS
            and literal.target in missing
            and missing.isdisjoint(literal.arguments)
        ]
        if not ready:
            return None
        ordered.append(ready[0])
        missing.remove(ready[0].target)
        literals = [literal for literal in literals if literal is not ready[0]]
    return tuple(ordered)
