"""Trying what would be found if other tuples were there: facts inserted into maintained relations, and taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.incremental import MaintainedProgram

FLOW, SINK, SOURCE, HARM = "shared_step", "sink", "origin", "taint_path"
"""The relations of which an obstacle is a missing tuple: a step, a sink, a source, and harm done by data at a sink."""
WANTED = (
    *(FLOW, SINK, SOURCE, HARM, "begins", "reaches_sink", "halts", "sink_there", "harmless_there", "could_be_sink"),
    *("could_be_source", "unreported", "remedy", "call_target", "harmless_source", "open_for", "tainted", "arrives"),
    "label_exempt",
)
"""The relations that are read or tried."""
GIVEN = frozenset({"begins", FLOW, SINK, SOURCE, HARM, "in_question"})
NIL = 0

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A tuple that is missing: `words` say why, of data at `value` that does not come to `target`.

    `before` are obstacles to be overcome before this one, nearest to the source first.
    """

    relation: str
    row: Row
    rank: int
    words: str
    name: str
    value: int
    target: int
    before: tuple[Obstacle, ...] = ()

    @property
    def all(self) -> tuple[Obstacle, ...]:
        return (*self.before, self)


@dataclass
class Trial:
    """A check at a place in question, on a view that is asked what would be if other tuples were there.

    `places` are the entities there, `check` is its symbol.
    """

    view: MaintainedProgram
    check: int
    places: np.ndarray

    def __enter__(self) -> Trial:
        self.insert("in_question", [(place,) for place in self.places.tolist()])
        return self

    def __exit__(self, *_: object) -> None:
        self.delete("in_question", [(place,) for place in self.places.tolist()])

    # ---- what there is

    def rows(self, relation: str) -> np.ndarray:
        return self.view.columns(relation)

    def listed(self, relation: str) -> list[Row]:
        return [tuple(row) for row in self.rows(relation).T.tolist()]

    def text(self, symbol: int) -> str:
        return self.view.symbols.texts([symbol])[0]

    def is_found(self) -> bool:
        """Return True if the check reports the place."""
        checks, entities, _ = self.rows("finding")
        return bool(np.any((checks == self.check) & np.isin(entities, self.places)))

    def reaching(self) -> set[int]:
        """Return the roots whose data reaches a sink at the place."""
        roots, _, places, _, _ = self.rows("reaches_sink")
        return set(roots[np.isin(places, self.places)].tolist())

    def root(self, value: int) -> int:
        """Return the root that stands for a value: its own node."""
        return self.node((value, NIL, NIL))

    def node(self, fields: Row) -> int:
        table = self.view.records["Node"]
        return int(table.construct(np.array([fields], table.dtype).T.copy(), 1, np.arange(3))[0])

    # ---- what would be

    def insert(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({relation: rows}, {})

    def delete(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({}, {relation: rows})

    def update(self, inserted: Mapping[str, Iterable[Row]], deleted: Mapping[str, Iterable[Row]]) -> None:
        self.view.update(columns_of(inserted), columns_of(deleted))

    def would_find(self, obstacles: Sequence[Obstacle]) -> bool:
        """Return True if the check reports the place once these tuples are there."""
        rows: dict[str, set[Row]] = {}
        for obstacle in obstacles:
            rows.setdefault(obstacle.relation, set()).add(obstacle.row)
        self.update(rows, {})
        try:
            return self.is_found()
        finally:
            self.update({}, rows)


def columns_of(rows: Mapping[str, Iterable[Row]]) -> dict[str, np.ndarray]:
    return {name: np.array(sorted(those), np.int64).T for name, those in rows.items() if those}


class TaintedData:
    """What is tainted now, by value: nodes, and the roots that data there begins under."""

    def __init__(self, trial: Trial) -> None:
        entries, _, nodes = trial.rows("tainted")
        values = trial.view.records["Node"].columns[0][nodes - 1]
        self._found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for value, entry, node in zip(values.tolist(), entries.tolist(), nodes.tolist(), strict=True):
            self._found[value].append((entry, node))
        self._arriving: dict[int, set[int]] = defaultdict(set)
        for root, entry, _ in trial.listed("arrives"):
            self._arriving[entry].add(root)

    def node(self, value: int) -> int:
        """Return one of the value's nodes that are tainted."""
        return min(node for _, node in self._found[value])

    def roots(self, value: int) -> set[int]:
        return {root for entry, _ in self._found.get(value, ()) for root in self._arriving.get(entry, ())}
