"""Rules that ask a complete relation for a constant that it does not hold: these are not planned."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.plan.rule import Match, Rule
from engine.storage.relation import Relation

SEARCHED_ROWS = 1 << 16
"""A relation with more rows is not searched: an arrangement may tell in less time."""


class HeldConstants:
    """Tells whether relations that are complete have rows with the constants of atoms; of other kinds any may match."""

    def __init__(self, relations: Mapping[str, Relation], kind: type[Relation] = Relation) -> None:
        self.relations, self.kind = relations, kind
        self._known: dict[tuple[str, int, int], bool] = {}

    def may_match(self, rule: Rule, growing: Collection[str]) -> bool:
        """Return False if some atom matches nothing; `growing` are the relations that are not complete."""
        return all(
            self._may_hold(literal.relation, column, term)
            for literal in rule.body
            if isinstance(literal, Match) and literal.relation not in growing
            for column, term in enumerate(literal.terms)
            if isinstance(term, int)
        )

    def _may_hold(self, name: str, column: int, value: int) -> bool:
        relation = self.relations[name]
        if type(relation) is not self.kind or relation.n > SEARCHED_ROWS:
            return True
        key = name, column, value
        if key not in self._known:
            self._known[key] = any((rows[column, lo:hi] == value).any() for rows, lo, hi in relation.blocks())
        return self._known[key]
