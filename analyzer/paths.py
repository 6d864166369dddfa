"""The shortest path of tainted data from a source to a sink, searched backwards after the fixpoint.

`rules/lib/finding.dl` describes the relations that the search reads. A path is realisable: calls and returns on it
match as parentheses do. The search is breadth-first over (node, stack of calls still to be entered). Among paths of
equal length the one whose steps come first by (file, line, column), read from the sink, is taken: the order of rows
does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analyzer.entities import Entities

if TYPE_CHECKING:
    import engine

MAX_DEPTH = 12
MAX_STATES = 50_000

Node = int
State = tuple[Node, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Hop:
    """A value on a path, and the way in which data came there: "source", "step", "enter" or "leave"."""

    value: int
    way: str


class Paths:
    """The steps of an evaluation, ready to be searched."""

    def __init__(self, result: engine.Result, entities: Entities) -> None:
        self._entities = entities
        self._records = result.records
        self._text = entities.text
        steps = result.relation("taint_step")
        self._steps = steps[:, np.argsort(steps[1], kind="stable")]
        self._sinks = _grouped(result.relation("sink_node"), 2)
        self._sources = _grouped(result.relation("source_node"), 1)
        self._clearing = _grouped(result.relation("clearing_step"), 1)
        self._keys: dict[Node, tuple[object, ...]] = {}

    def find(self, check: int, place: int) -> list[Hop]:
        """Return the hops from the nearest source to a sink of the check at `place`, [] where the search finds none."""
        ends = {node for (node,) in self._sources.get((check,), ())}
        cleared = set(self._clearing.get((check,), ()))
        starts = sorted({node for (node,) in self._sinks.get((check, place), ())}, key=self._key)
        level: list[State] = [(node, ()) for node in starts]
        came_from: dict[State, tuple[State, str] | None] = dict.fromkeys(level)
        while level and len(came_from) <= MAX_STATES:
            for state in level:
                if state[0] in ends:
                    return self._unwind(state, came_from)
            found: dict[State, tuple[State, str]] = {}
            for state in level:
                for before, way in self._before(state, cleared):
                    if before not in came_from and before not in found:
                        found[before] = (state, way)
            came_from |= found
            level = sorted(found, key=lambda state: (self._key(state[0]), len(state[1])))
        return []

    def _before(self, state: State, cleared: set[tuple[int, ...]]) -> Iterator[tuple[State, str]]:
        """Yield the states from which one step leads to `state`, in a fixed order."""
        node, stack = state
        first, last = np.searchsorted(self._steps[1], [node, node + 1])
        rows = self._steps[:, first:last].T.tolist()
        for source, target, way_symbol, call in sorted(rows, key=lambda row: (self._key(row[0]), row[2], row[3])):
            if (source, target, call) in cleared:
                continue
            way = self._text(way_symbol)
            if way == "step":
                yield (source, stack), way
            elif way == "leave" and len(stack) < MAX_DEPTH and call not in stack:
                yield (source, (*stack, call)), way
            elif way == "enter" and (not stack or stack[-1] == call):
                yield (source, stack[:-1]), way

    def _unwind(self, state: State, came_from: dict[State, tuple[State, str] | None]) -> list[Hop]:
        hops = [Hop(self._value(state[0]), "source")]
        while (after := came_from[state]) is not None:
            state, way = after
            hops.append(Hop(self._value(state[0]), way))
        return hops

    def _value(self, node: Node) -> int:
        return int(self._records["Node"][0][node - 1])

    def _key(self, node: Node) -> tuple[object, ...]:
        """Return what orders nodes alike in every run: place and content, no id."""
        if node not in self._keys:
            value, path, since = (int(column[node - 1]) for column in self._records["Node"])
            place = self._entities.place(value)
            where = (place.file, place.line, place.column) if place else ("", 0, 0)
            self._keys[node] = (*where, self._entities.chain(value), self._path(path), self._entities.chain(since))
        return self._keys[node]

    def _path(self, path: int) -> str:
        keys = []
        while path:
            key, path, _ = (int(column[path - 1]) for column in self._records["Path"])
            keys.append(self._text(key))
        return "\0".join(keys)


def _grouped(rows: np.ndarray, n_keys: int) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Return rows by their first columns."""
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for row in rows.T.tolist():
        groups.setdefault(tuple(row[:n_keys]), []).append(tuple(row[n_keys:]))
    return groups


def without_repeats(hops: Sequence[Hop], entities: Entities) -> list[Hop]:
    """Return the hops that a reader can see: each place once in a row, implicit values left out."""
    shown: list[Hop] = []
    for hop in hops:
        place = entities.place(hop.value)
        if place is None:
            continue
        if shown and entities.place(shown[-1].value) == place:
            if hop.way != "step":
                shown[-1] = Hop(hop.value, shown[-1].way if shown[-1].way == "source" else hop.way)
            continue
        shown.append(hop)
    return shown
