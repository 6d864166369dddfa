"""Binarisation: recursive rules with at most two recursive atoms, which share a variable where the rule connects them.

A worker joins tuples that meet at one partition. So a rule that joins three recursive atoms is cut in two by an
auxiliary relation that holds the first join, and one whose two recursive atoms are connected only through other
relations by one that holds the join with these. Both are exact: an auxiliary relation is the projection of its body on
the variables that the rest of the rule reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from engine.plan.rule import Literal, Match, Operand, Rule


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A relation that binarisation has made up: its columns are variables of a rule; `wide` if any needs 64 bits."""

    name: str
    arity: int
    wide: bool


def binarise(
    rules: Iterable[Rule], recursive: Collection[str], wide: Mapping[str, bool]
) -> tuple[list[Rule], list[Auxiliary]]:
    """Return equivalent rules, and the auxiliary relations among their heads; they are recursive too.

    `wide` says of each relation whether its columns have 64 bits.
    """
    done: list[Rule] = []
    auxiliaries: list[Auxiliary] = []
    names, widths = set(recursive), dict(wide)
    for rule in rules:
        while (parts := cut(rule, names)) is not None:
            name = f"{rule.relation}&{len(auxiliaries)}"
            first, rule = divide(rule, parts, name)
            is_wide = any(first.wide.get(v, any(widths[x.relation] for x in parts)) for v in first.head)
            widths[name] = is_wide
            auxiliaries.append(Auxiliary(name, len(first.head), is_wide))
            names.add(name)
            done.append(first)
        done.append(rule)
    return done, auxiliaries


def cut(rule: Rule, recursive: Collection[str]) -> Sequence[Match] | None:
    """Return the atoms of a body to join first, or None if the rule can stay as it is."""
    atoms = [x for x in rule.body if isinstance(x, Match)]
    moving = [x for x in atoms if x.relation in recursive]
    if len(moving) < 2:
        return None
    # The pair that shares most variables; of several, the first.
    pair = max(combinations(moving, 2), key=lambda pair: len(pair[0].variables & pair[1].variables))
    if pair[0].variables & pair[1].variables:
        return pair if len(moving) > 2 else None
    path = connection(pair[0], pair[1], [x for x in atoms if x.relation not in recursive])
    if path:
        return (pair[0], *path)
    return pair if len(moving) > 2 else None


def connection(start: Match, goal: Match, atoms: Sequence[Match]) -> list[Match]:
    """Return the fewest atoms that connect two others by shared variables, or none if nothing does."""
    paths = [([], start.variables)]
    left = list(atoms)
    for path, variables in paths:
        if variables & goal.variables:
            return path
        reached = [x for x in left if x.variables & variables]
        left = [x for x in left if x not in reached]
        paths += [([*path, x], x.variables) for x in reached]
    return []


def divide(rule: Rule, parts: Sequence[Match], name: str) -> tuple[Rule, Rule]:
    """Return the rule of an auxiliary relation that joins `parts`, and the rule that reads it in their stead."""
    rest = [x for x in rule.body if x not in parts]
    head = wanted(parts, rest, rule.head)
    first = replace(rule, relation=name, head=head, body=tuple(parts))
    return first, replace(rule, body=(Match(name, head), *rest))


def wanted(parts: Sequence[Match], rest: Iterable[Literal], head: Iterable[Operand]) -> tuple[Operand, ...]:
    """The variables of `parts` that the rest of the rule reads, in order of appearance."""
    read = set(head).union(*(x.variables for x in rest))
    found = dict.fromkeys(t for x in parts for t in x.terms if isinstance(t, str) and t in read)
    return tuple(found)
