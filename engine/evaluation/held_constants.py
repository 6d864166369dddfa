"""Atoms that ask complete relations for constants are decided before a rule is planned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from engine.plan.rule import Literal, Match, Rule
from engine.storage.relation import Relation

SEARCHED_ROWS = 1 << 16
"""A relation with more rows is not searched: an arrangement may tell in less time."""


class HeldConstants:
    """Tells whether relations that are complete have rows with the constants of atoms; of other kinds any may match."""

    def __init__(self, relations: Mapping[str, Relation], kind: type[Relation] = Relation) -> None:
        self.relations, self.kind = relations, kind
        self._known: dict[tuple[str, int, int], bool] = {}

    def matching(self, rules: Iterable[Rule], growing: Collection[str]) -> Iterator[Rule]:
        """Yield the rules that may match, without atoms that say nothing but that a relation has a row, and it has."""
        for rule in rules:
            if self.may_match(rule, growing):
                body = tuple(literal for literal in rule.body if not self._holds(literal, growing))
                yield rule if len(body) == len(rule.body) else replace(rule, body=body)

    def _holds(self, literal: Literal, growing: Collection[str]) -> bool:
        """Return True for an atom of one constant that is known to have its row."""
        if not isinstance(literal, Match) or literal.relation in growing or len(literal.terms) != 1:
            return False
        return isinstance(literal.terms[0], int) and self._is_searched(literal.relation)

    def _is_searched(self, name: str) -> bool:
        relation = self.relations[name]
        return type(relation) is self.kind and relation.n <= SEARCHED_ROWS

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
        if not self._is_searched(name):
            return True
        relation, key = self.relations[name], (name, column, value)
        if key not in self._known:
            self._known[key] = any((rows[column, lo:hi] == value).any() for rows, lo, hi in relation.blocks())
        return self._known[key]
