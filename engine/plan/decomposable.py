"""Decomposable recursion: columns by which a component's relations can be partitioned and never exchange a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.plan.rule import Match, Rule

MAX_STEPS = 10_000


def pivot(columns: Mapping[str, Sequence[int]], rules: Sequence[Rule]) -> dict[str, int] | None:
    """Return a column for each relation such that every recursive rule keeps its value from body to head, or None.

    `columns` are those that may partition a relation. The rows that derive one another then all agree on it
    (generalised pivoting, Seib and Lausen, 1991): a partition by the hash of that column reaches its fixpoint alone.
    Each recursive rule must be linear.
    """
    links = []
    for rule in rules:
        atoms = [x for x in rule.body if isinstance(x, Match) and x.relation in columns]
        if len(atoms) > 1:
            return None
        if atoms:
            links.append((atoms[0], rule))
    return Search(columns, links).complete({})


def obstacle(columns: Mapping[str, Sequence[int]], rules: Sequence[Rule]) -> tuple[Rule, str]:
    """Return the rule at which `pivot` fails, of rules for which it does, and why, as the end of a sentence."""
    rule = rules[next(i for i in range(len(rules)) if pivot(columns, rules[: i + 1]) is None)]
    recursive = [x for x in rule.body if isinstance(x, Match) and x.relation in columns]
    if len(recursive) > 1:
        return rule, f"is not linear: it reads {' and '.join(atom.relation for atom in recursive)}"
    if pivot(columns, [rule]) is None:
        return rule, f"keeps no column of {recursive[0].relation} in its head"
    return rule, "keeps other columns than the rules before it"


class Search:
    """Backtracking over the columns of one relation after the other."""

    def __init__(self, columns: Mapping[str, Sequence[int]], links: Sequence[tuple[Match, Rule]]) -> None:
        self.columns, self.links, self.left = columns, links, MAX_STEPS

    def complete(self, chosen: dict[str, int]) -> dict[str, int] | None:
        if len(chosen) == len(self.columns):
            return chosen
        relation = next(name for name in self.columns if name not in chosen)
        for column in self.columns[relation]:
            self.left -= 1
            extended = {**chosen, relation: column}
            if self.left > 0 and self.consistent(extended) and (found := self.complete(extended)):
                return found
        return None

    def consistent(self, chosen: Mapping[str, int]) -> bool:
        for atom, rule in self.links:
            if atom.relation in chosen and rule.relation in chosen:
                value = atom.terms[chosen[atom.relation]]
                if not isinstance(value, str) or rule.head[chosen[rule.relation]] != value:
                    return False
        return True
