"""Answers about a place in the text from the relations that are maintained: values, tainted data, calls and callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analyzer.findings.entities import NIL, Entities
from analyzer.report import Place

if TYPE_CHECKING:  # Clients read answers, and load no engine.
    from engine.incremental import MaintainedProgram

MOST_ROWS, MOST_SOURCES = 20, 3
"""Maximum number of values, targets or callers that are told; of sources."""
READS = {
    **dict.fromkeys(("assign", "merge", "cast", "await", "iterate", "iterate_key", "enter", "unpack", "element"), (1,)),
    **dict.fromkeys(("load_attribute", "load_slice", "load_pointer", "returns_at", "branch"), (1,)),
    **dict.fromkeys(("load_index", "item"), (1, 2)),
    **dict.fromkeys(("argument", "keyword_argument", "rest_argument", "call", "operand", "position_item"), (2,)),
    "store_cell": (2,),
    "keyword_rest_argument": (1,),
    "store_attribute": (1, 3),
    "store_index": (1, 2, 3),
}
"""The columns of facts in which are the values that the expression or block in the first one reads."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program, with its place, or one of a library, without; `calls` are the places of its calls."""

    name: str
    place: Place | None = None
    calls: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A place where data comes in that someone else chooses, and its label."""

    label: str
    place: Place


@dataclass(frozen=True, slots=True)
class Described:
    """The name or the innermost expressions at a place: objects that they may be, functions that they run, and whether
    they are tainted, by data of which sources.

    A name has no place of its own.
    """

    place: Place | None = None
    objects: tuple[str, ...] = ()
    runs: tuple[Function, ...] = ()
    tainted: bool = False
    sources: tuple[Source, ...] = ()


class CodeFacts:
    """The relations of a view, as far as they speak of places in the text."""

    def __init__(self, view: MaintainedProgram) -> None:
        self._view, self._entities = view, Entities(view.result())
        self._located = view.columns("location")

    def described(self, file: str, line: int, column: int, name: str = "") -> Described:
        """Return what is known of the name at a position, or of the innermost expressions there."""
        around = self._around(file, line, column)
        if name and not self._is_just(around, name) and (values := self._named(around, name)).size:
            return self._known(values, None) or Described()
        for entities in around:
            if found := self._known(entities, self._entities.place(int(entities[0]))):
                return found
        return Described()

    def _known(self, entities: np.ndarray, place: Place | None) -> Described | None:
        """Return what is known of some entities, or None if nothing is."""
        objects, runs, nodes = self._objects(entities), self._targets(entities), self._tainted_nodes(entities)
        if not (objects or runs or nodes.size):
            return None
        told = tuple(sorted(objects))[:MOST_ROWS], tuple(sorted(runs, key=by_name))[:MOST_ROWS]
        return Described(place, *told, bool(nodes.size), self._sources(nodes))

    # ---- names

    def _is_just(self, around: list[np.ndarray], name: str) -> bool:
        """Return True if the innermost expression is a name, and no more."""
        place = self._entities.place(int(around[0][0])) if around else None
        return place is not None and place.end_line == place.line and place.end_column - place.column == len(name)

    def _named(self, around: list[np.ndarray], name: str) -> np.ndarray:
        """Return the values that a name stands for.

        They are those of that name that the innermost expression reads which reads any; else those that the name is
        bound to in the innermost scope which binds it.
        """
        labels = self._view.symbols.intern([name, f"φ {name}"])
        has_name = np.flatnonzero(np.isin(self._view.records["Entity"].columns[1], labels)) + 1
        for entities in around:
            if (values := np.intersect1d(self._read_by(entities), has_name)).size:
                return values
        bound, scopes, names, _ = self._rows("binds")
        for entities in around:
            values = bound[np.isin(scopes, entities) & (names == labels[0])]
            if values.size:
                return np.union1d(values, has_name[np.isin(self._scopes(has_name), entities)])
        return np.empty(0, np.int64)

    def _read_by(self, entities: np.ndarray) -> np.ndarray:
        """Return the values that some expressions read, at least in part."""
        found = []
        for relation, columns in READS.items():
            rows = self._rows(relation)
            found.append(rows[list(columns)][:, np.isin(rows[0], entities)].reshape(-1))
        return np.concatenate(found)

    def _scopes(self, entities: np.ndarray) -> np.ndarray:
        scopes: np.ndarray = self._view.records["Entity"].columns[0]
        return scopes[entities - 1]

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
        named = self._text(name) or (self._function(site).name if self._text(kind) == "function" else "")
        parts = [self._text(kind).replace("_", " "), *([named] if named else [])]
        place = self._entities.place(site) if site != NIL else None
        return " ".join(parts) + (f" ({place.file}:{place.line})" if place else "")

    # ---- taint

    def _tainted_nodes(self, entities: np.ndarray) -> np.ndarray:
        """Return the nodes at which someone else may choose a value of one of the entities, or what it holds."""
        nodes = np.unique(self._rows("tainted")[2])
        return nodes[np.isin(self._values(nodes), entities)]

    def _values(self, nodes: np.ndarray) -> np.ndarray:
        values: np.ndarray = self._view.records["Node"].columns[0]
        return values[nodes - 1]

    def _sources(self, nodes: np.ndarray) -> tuple[Source, ...]:
        """Return sources from which steps lead to nodes: those that no step leads to, if there are such."""
        before, after = self._rows("taint_step")[:2]
        reached = nodes
        while nodes.size:
            nodes = np.setdiff1d(before[np.isin(after, nodes)], reached)
            reached = np.union1d(reached, nodes)
        first = reached[~np.isin(reached, after)]
        return (self._origins(first) or self._origins(reached))[:MOST_SOURCES]

    def _origins(self, nodes: np.ndarray) -> tuple[Source, ...]:
        """Return the sources that stand at nodes, ordered by place."""
        labels, values = self._rows("origin")
        rows = np.flatnonzero(np.isin(values, self._values(nodes))).tolist()
        places = ((self._text(labels[row]), self._entities.place(int(values[row]))) for row in rows)
        return tuple(sorted({Source(label, place) for label, place in places if place}, key=by_origin))


def by_origin(source: Source) -> tuple[Place, str]:
    return source.place, source.label


def by_name(function: Function) -> tuple[str, bool]:
    return function.name, function.place is None


def by_place(function: Function) -> tuple[bool, str, str]:
    return function.place is None, str(function.place), function.name
