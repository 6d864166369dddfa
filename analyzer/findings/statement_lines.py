"""The lines of the statement around a place, as far as calls and operators over several lines tell."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

import facts
from analyzer.report import Place

EXPRESSIONS, DEFINITIONS = ("call", "operation"), ("function", "class")
_BEGIN, _END = slice(0, 2), slice(2, 4)


class Statements:
    """Statements by the regions of expressions and of definitions, a file at a time."""

    def __init__(self, mounted: facts.Mounted) -> None:
        self._mounted = mounted
        self._files: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    @cached_property
    def _located(self) -> np.ndarray:
        """The location of entities: entity, file, region."""
        return self._mounted.relations["location"]

    @cached_property
    def _expressions(self) -> np.ndarray:
        return self._are(EXPRESSIONS)

    @cached_property
    def _definitions(self) -> np.ndarray:
        return self._are(DEFINITIONS)

    def _are(self, kinds: Iterable[str]) -> np.ndarray:
        """Tell of each entity whether it is of one of some kinds."""
        found = np.zeros(self._mounted.entities.shape[1] + 1, np.bool_)
        for kind in kinds:
            found[self._mounted.relations[kind][0]] = True
        return found

    def lines(self, place: Place) -> set[int]:
        """Return the lines of the place, and of all expressions around it in the same function.

        The lines of functions and classes within them are not among them.
        """
        expressions, definitions = self._regions(place.file)
        here = np.array([place.line, place.column, place.end_line, place.end_column])
        around = definitions[_within(here, definitions) & (definitions != here).any(axis=1)]
        body = around[np.lexsort(around[:, _BEGIN].T[::-1])[-1]] if len(around) else None
        outer = expressions[_within(here, expressions)]
        if body is not None:
            outer = outer[_within(outer, body)]
        first, last = min([place.line, *outer[:, 0].tolist()]), max([place.end_line, *outer[:, 2].tolist()])
        lines = set(range(first, last + 1))
        for begin, _, end, _ in definitions[(definitions[:, 0] >= first) & (definitions[:, 2] <= last)].tolist():
            lines -= set(range(begin + 1, end + (end == place.end_line and begin == place.line)))
        return lines

    def _regions(self, file: str) -> tuple[np.ndarray, np.ndarray]:
        if file not in self._files:
            rows = np.flatnonzero(self._located[1] == self._mounted.symbols.index(file))
            entities, here = self._located[0, rows], self._located[2:, rows].T
            expressions, definitions = (here[kind[entities]] for kind in (self._expressions, self._definitions))
            self._files[file] = expressions, definitions
        return self._files[file]


def _within(inner: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Tell which regions, rows of line, column, end line and end column, lie in which others: one of both is a row."""
    return ~_before(inner[..., _BEGIN], outer[..., _BEGIN]) & ~_before(outer[..., _END], inner[..., _END])


def _before(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left[..., 0] < right[..., 0]) | ((left[..., 0] == right[..., 0]) & (left[..., 1] < right[..., 1]))
