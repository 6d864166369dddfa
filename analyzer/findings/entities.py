"""Names and locations of entities, looked up for those in findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analyzer.report import Place

if TYPE_CHECKING:
    import engine

NIL, NOWHERE = 0, -1
CLASS = "class "  # before the name of a class, in its label
LINE = 1
"""The place of lines among the keys of places."""


class Entities:
    """The entities of an evaluation, by record id."""

    def __init__(self, result: engine.Result) -> None:
        self._symbols = result.symbols
        self._scopes, self._labels, self._ordinals = result.records["Entity"]
        self._located = result.relation("location")
        self._rows = np.full(len(self._labels) + 1, NOWHERE, np.int32)
        self._rows[self._located[0, ::-1]] = np.arange(self._located.shape[1])[::-1]  # The first row of an entity.
        self._chains: dict[int, str] = {NIL: ""}
        self._functions: dict[int, frozenset[int]] = {NIL: frozenset()}
        self._places: dict[int, Place | None] = {NIL: None}

    def text(self, symbol: int) -> str:
        return self._symbols.texts([symbol])[0]

    def label(self, entity: int) -> str:
        return self.text(int(self._labels[entity - 1]))

    def place(self, entity: int) -> Place | None:
        """Return the location of an entity, or of its scope for one without a location (an implicit value)."""
        if entity not in self._places:
            row = int(self._rows[entity])
            if row != NOWHERE:
                file, *numbers = self._located[1:, row].tolist()
                self._places[entity] = Place(self.text(file), *numbers)
            else:
                self._places[entity] = self.place(int(self._scopes[entity - 1]))
        return self._places[entity]

    def functions(self, entity: int) -> frozenset[int]:
        """Return the functions that an entity stands in, none for one of a module or a class."""
        if entity not in self._functions:
            scope = int(self._scopes[entity - 1])
            is_function = scope != NIL and self._scopes[scope - 1] != NIL and not self.label(scope).startswith(CLASS)
            around = self.functions(scope) if scope != NIL else frozenset()
            self._functions[entity] = around | {scope} if is_function else around
        return self._functions[entity]

    def is_located(self, entity: int) -> bool:
        """Return True if an entity has a location of its own."""
        return bool(self._rows[entity] != NOWHERE)

    def place_keys(self, entities: np.ndarray) -> list[np.ndarray]:
        """Return numbers that order entities by place: by file, line, column, and where they end."""
        at, rows = entities, self._rows[entities]
        while (is_lost := (rows == NOWHERE) & (at != NIL)).any():
            at = np.where(is_lost, self._scopes[at - 1], at)
            rows = np.where(is_lost, self._rows[at], rows)
        located = np.where(rows == NOWHERE, -1, self._located[1:, rows])
        files, positions = np.unique(located[0], return_inverse=True)
        texts = ["" if file < 0 else self.text(file) for file in files.tolist()]
        return [ranks_of(texts)[positions], *located[1:]]

    def chain(self, entity: int) -> str:
        """Return the labels and ordinals from the module, whose path is left out, down to the entity: its content."""
        if entity not in self._chains:
            scope = int(self._scopes[entity - 1])
            label = self.label(entity) if scope != NIL else ""
            self._chains[entity] = f"{self.chain(scope)}/{label}#{int(self._ordinals[entity - 1])}"
        return self._chains[entity]


def ranks_of(texts: Sequence[str]) -> np.ndarray:
    """Return the place of each text in their order."""
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks
