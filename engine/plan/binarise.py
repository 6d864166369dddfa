"""Binarisation: recursive rules with at most two recursive atoms, which share a variable where the rule connects them.

A worker joins tuples that meet at one partition. So a rule that joins three recursive atoms is cut in two by an
auxiliary relation that holds the first join, and one whose two recursive atoms are connected only through other
relations by one that holds the join with these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from engine.plan.auxiliary_relations import Auxiliaries
from engine.plan.rule import Match, Rule


def binarise(rules: Iterable[Rule], recursive: Collection[str], auxiliaries: Auxiliaries) -> list[Rule]:
    """Return equivalent rules; the auxiliary relations among their heads are recursive, too."""
    done: list[Rule] = []
    names = set(recursive)
    for rule in rules:
        while (parts := cut(rule, names)) is not None:
            first, rule = auxiliaries.cut(rule, parts)
            if first is not None:
                names.add(first.relation)
                done.append(first)
        done.append(rule)
    return done


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
    paths: list[tuple[list[Match], frozenset[str]]] = [([], start.variables)]
    left = list(atoms)
    for path, variables in paths:
        if variables & goal.variables:
            return path
        reached = [x for x in left if x.variables & variables]
        left = [x for x in left if x not in reached]
        paths += [([*path, x], x.variables) for x in reached]
    return []
