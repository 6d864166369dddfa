"""Answers about a place in the text from the relations that are maintained: values, tainted data, calls and callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analyzer.findings.entities import NIL, Entities
from analyzer.report import Place

if TYPE_CHECKING:  # Clients read answers, and load no engine.
    from engine.incremental import MaintainedProgram

MOST_ROWS = 20
"""Maximum number of values, targets or callers that are told."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program, with its place, or one of a library, without; `calls` are the places of its calls."""

    name: str
    place: Place | None = None
    calls: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Described:
    """The innermost expressions at a place: objects that they may be, functions that they run, whether tainted."""

    place: Place | None = None
    objects: tuple[str, ...] = ()
    runs: tuple[Function, ...] = ()
    tainted: bool = False


class CodeFacts:
    """The relations of a view, as far as they speak of places in the text."""

    def __init__(self, view: MaintainedProgram) -> None:
        self._view, self._entities = view, Entities(view.result())
        self._located = view.columns("location")

    def described(self, file: str, line: int, column: int) -> Described:
        """Return what is known of the innermost expressions at a position of which something is known."""
        for entities in self._around(file, line, column):
            objects, runs, tainted = self._objects(entities), self._targets(entities), self._is_tainted(entities)
            if objects or runs or tainted:
                told = tuple(sorted(objects))[:MOST_ROWS], tuple(sorted(runs, key=by_name))[:MOST_ROWS]
                return Described(self._entities.place(int(entities[0])), *told, tainted)
        return Described()

    def function_at(self, file: str, line: int, column: int) -> Function | None:
        """Return the function that a call at a position runs, or whose definition is the innermost around it."""
        around = self._around(file, line, column)
        for entities in around[:3]:
            for function in sorted(self._targets(entities), key=by_name):
                if function.place:
                    return function
        functions = self._rows("function")[0]
        for entities in around:
            if (found := np.intersect1d(entities, functions)).size:
                return self._function(int(found[0]))
        return None

    def callers(self, place: Place) -> list[Function]:
        """Return the functions that call the function at a place, ordered by place."""
        calls, functions = self._rows("call_target")
        return self._bodies(calls[np.isin(functions, self._at(place))])

    def callees(self, place: Place) -> list[Function]:
        """Return the functions that the function at a place calls, ordered by place; those of libraries come last."""
        calls, bodies, _ = self._rows("call")
        own = calls[np.isin(bodies, self._at(place))]
        places: dict[Function, list[Place]] = {}
        for call in own.tolist():
            for function in self._targets(np.array([call])):
                if at := self._entities.place(call):
                    places.setdefault(function, []).append(at)
        found = [Function(function.name, function.place, tuple(sorted(at))) for function, at in places.items()]
        return sorted(found, key=by_place)

    def _bodies(self, calls: np.ndarray) -> list[Function]:
        """Return the functions and modules whose code has these calls."""
        rows = self._rows("call")
        places: dict[int, list[Place]] = {}
        for call, body in rows[:2, np.isin(rows[0], calls)].T.tolist():
            if at := self._entities.place(call):
                places.setdefault(body, []).append(at)
        found = [(self._function(body), at) for body, at in places.items()]
        return sorted((Function(f.name, f.place, tuple(sorted(at))) for f, at in found), key=by_place)

    def _rows(self, name: str) -> np.ndarray:
        return self._view.columns(name)

    def _at(self, place: Place) -> np.ndarray:
        """Return the entities at just this place."""
        file = self._symbol(place.file)
        wanted = (file, place.line, place.column, place.end_line, place.end_column)
        rows = np.logical_and.reduce([self._located[1 + i] == value for i, value in enumerate(wanted)])
        return self._located[0, rows]

    def _around(self, file: str, line: int, column: int) -> list[np.ndarray]:
        """Return the entities around a position, innermost first, those of one place together."""
        _, files, first, left, last, right = self._located
        here = files == self._symbol(file)
        begins = (first < line) | ((first == line) & (left <= column))
        ends = (last > line) | ((last == line) & (right > column))
        rows = np.flatnonzero(here & begins & ends)
        size = (last[rows] - first[rows]).astype(np.int64) * (1 << 20) + right[rows] - left[rows]
        order = rows[np.argsort(size, kind="stable")]
        groups: dict[tuple[int, ...], list[int]] = {}
        for row in order.tolist():
            groups.setdefault(tuple(self._located[2:, row].tolist()), []).append(int(self._located[0, row]))
        return [np.array(group) for group in groups.values()]

    def _symbol(self, text: str) -> int:
        return int(self._view.symbols.intern([text])[0])

    def _text(self, symbol: int) -> str:
        return self._view.symbols.texts([symbol])[0]

    def _targets(self, entities: np.ndarray) -> set[Function]:
        """Return the functions that some of the entities, being calls, may run."""
        calls, functions = self._rows("call_target")
        found = {self._function(function) for function in functions[np.isin(calls, entities)].tolist()}
        calls, names = self._rows("calls_library")
        return found | {Function(self._text(name)) for name in names[np.isin(calls, entities)].tolist()}

    def _function(self, entity: int) -> Function:
        functions, names = self._rows("qualified_name")
        at = np.flatnonzero(functions == entity)
        name = self._text(int(names[at[0]])) if at.size else self._entities.label(entity)
        return Function(name, self._entities.place(entity))

    def _objects(self, entities: np.ndarray) -> set[str]:
        """Return what the entities may refer to."""
        values, objects = self._rows("points_to")
        return set(map(self._object_text, objects[np.isin(values, entities)].tolist()))

    def _object_text(self, object: int) -> str:
        """Return an object as people call it: its kind, its name, and where it is made."""
        kind, site, name, _ = self._view.records["Object"].columns[:, object - 1].tolist()
        parts = [self._text(kind).replace("_", " ")]
        parts += [self._text(name)] if self._text(name) else []
        place = self._entities.place(site) if site != NIL else None
        return " ".join(parts) + (f" ({place.file}:{place.line})" if place else "")

    def _is_tainted(self, entities: np.ndarray) -> bool:
        """Return True if someone else may choose the value of one of the entities."""
        nodes = self._rows("tainted")[2]
        values = self._view.records["Node"].columns[0, nodes - 1]
        return bool(np.isin(values, entities).any())


def by_name(function: Function) -> tuple[str, bool]:
    return function.name, function.place is None


def by_place(function: Function) -> tuple[bool, str, str]:
    return function.place is None, str(function.place), function.name
