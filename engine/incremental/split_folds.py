"""Aggregates in bodies become relations of their own, which can be maintained by group.

`p(x, n) :- q(x), n = count : { r(x, _) }.` asks for a count for each x of q. It is read as

    p&asked0(x) :- q(x).
    p&fold0(x, n) :- p&asked0(x), n = count : { r(x, _) }.
    p(x, n) :- q(x), p&fold0(x, n).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from engine.plan.rule import Fold, Match, Rule


@dataclass(frozen=True, slots=True)
class Split:
    """An aggregate of a body: the rule for what is asked for, and the rule that gives it a value."""

    asked: Rule
    folded: Rule


def split_folds(rule: Rule, own: Collection[str], names: Iterator[int]) -> tuple[Rule, list[Split]] | None:
    """Return a rule without aggregates in its body, and those that it reads instead; None if there is no such rule.

    What an aggregate is asked for must be bound by atoms of relations that are not the component's `own`.
    """
    made: list[Split] = []
    while folds := [literal for literal in rule.body if isinstance(literal, Fold)]:
        found = next((split for fold in folds if (split := split_off(rule, fold, own, names))), None)
        if found is None:
            return None
        rule, split = found
        made.append(split)
    return rule, made


def split_off(rule: Rule, fold: Fold, own: Collection[str], names: Iterator[int]) -> tuple[Rule, Split] | None:
    injected = tuple(sorted(fold.injected))
    atoms = tuple(x for x in rule.body if isinstance(x, Match) and x.relation not in own)
    atoms = tuple(x for x in atoms if not fold.injected.isdisjoint(x.variables))
    bound = {variable for atom in atoms for variable in atom.variables}
    if not fold.injected <= bound or any(isinstance(literal, Fold) for literal in fold.body):
        return None
    number = next(names)
    asked, folded = f"{rule.relation}&asked{number}", f"{rule.relation}&fold{number}"
    value = Match(folded, (*injected, fold.target))
    return replace(rule, body=tuple(value if literal is fold else literal for literal in rule.body)), Split(
        replace(rule, relation=asked, head=injected, body=atoms),
        replace(rule, relation=folded, head=(*injected, fold.target), body=(Match(asked, injected), fold)),
    )
