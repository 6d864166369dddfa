"""Units: what compiling a source yields that every program can use that has the source and its declarations.

A clause is checked against the declarations that it names, and nothing else. So where sources are added that declare
other names, the units of those that were there remain as they are, and only the new ones are read and checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.language.checked_program import CheckedClause
from engine.language.surface_syntax import Component, Init, Item
from engine.language.syntax import Clause, Declaration, TypeDeclaration


@dataclass(frozen=True, slots=True)
class Unit:
    """A source, its instances expanded and its clauses checked.

    `items` are all others, and the clauses of inlined relations; `looked_up` are inlined relations that clauses read.
    """

    items: tuple[Item, ...]
    clauses: tuple[CheckedClause, ...]
    looked_up: tuple[str, ...] = ()


def names_declared(items: Iterable[Item]) -> set[str]:
    """Return the names of what the items declare, of whatever kind."""
    found = set()
    for item in items:
        if isinstance(item, Declaration | TypeDeclaration | Init):
            found.add(item.name)
        elif isinstance(item, Component):
            found.add(item.type.name)
        if isinstance(item, TypeDeclaration):
            found.update(branch for branch, _ in item.branches)
    return found


def is_apart(new: Iterable[Item], old: Iterable[Item]) -> bool:
    """Return True if units of the old items are the same with the new ones: these declare or inline none of theirs."""
    new, known = list(new), names_declared(old)
    inlined = {item.name for item in old if isinstance(item, Declaration) and "inline" in item.qualifiers}
    heads = {item.head.relation for item in new if isinstance(item, Clause)}
    return known.isdisjoint(names_declared(new)) and inlined.isdisjoint(heads)
