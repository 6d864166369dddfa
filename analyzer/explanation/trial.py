"""Trying what would be found if other tuples were there: facts inserted into maintained relations, and taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer.evaluation.program import BEGINS, HARM, SINK, SOURCE, TRIED
from analyzer.explanation.finding_steps import FindingSteps
from engine.incremental import CannotUpdate, MaintainedProgram

PLACE, CHECK = "in_question", "check_in_question"
"""The relations that say what is asked."""
WANTED = (
    *(*sorted(TRIED), PLACE, CHECK, "judged", "reaches_sink", "halts", "sink_there", "harmless_there"),
    *("could_be_sink", "could_be_source", "unreported", "remedy", "call_target", "harmless_source", "open_for"),
    *("tainted", "arrives", "label_exempt", "finding", "block", "function", "class", "module", "cell", "location"),
)
"""The relations that are read or tried."""
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
    """A check at a place in question, on relations that are asked what would be if other tuples were there.

    `places` are the entities there, `check` is its symbol. Everything is ordered by content: `order` is that of
    entities, `order_of` that of obstacles.
    """

    steps: FindingSteps
    check: int
    places: np.ndarray

    @property
    def view(self) -> MaintainedProgram:
        return self.steps.view

    def __enter__(self) -> Trial:
        self.update(self._question, {})
        return self

    def __exit__(self, *_: object) -> None:
        self.update({}, self._question)

    @property
    def _question(self) -> Mapping[str, list[Row]]:
        return {PLACE: [(place,) for place in self.places.tolist()], CHECK: [(self.check,)]}

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
        roots, kinds, places, _, _ = self.rows("reaches_sink")
        is_asked = np.isin(places, self.places) & np.isin(kinds, self.rows("judged")[0])
        return set(roots[is_asked].tolist())

    def root(self, value: int) -> int:
        """Return the root that stands for a value: its own node."""
        return self.node((value, NIL, NIL))

    def node(self, fields: Row) -> int:
        table = self.view.records["Node"]
        return int(table.construct(np.array([fields], table.dtype).T.copy(), 1, np.arange(3))[0])

    # ---- order

    def order(self, entity: int) -> tuple[str, str]:
        """Return what orders entities: their place, and their chain of labels."""
        place = self.steps.entities.place(entity)
        region = "" if place is None else f"{place.file}:{place.line:09}:{place.column:09}:{place.end_line:09}"
        return region, self.steps.entities.chain(entity)

    def order_of(self, obstacle: Obstacle) -> tuple[Any, ...]:
        """Return what orders obstacles: the fewest before them, those of low rank, and then their content."""
        kind = self.text(obstacle.row[0]) if obstacle.relation in (SINK, SOURCE, HARM) else ""
        ends = self.order(obstacle.target), self.order(obstacle.value)
        return len(obstacle.before), obstacle.rank, *ends, obstacle.words, obstacle.name, kind

    def order_of_node(self, node: int) -> str:
        """Return what orders the nodes of a value: the keys under which it holds data."""
        return self.steps.writer.value(node, self.view.program.relations[BEGINS].columns[0].type)

    # ---- what would be

    def insert(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({relation: rows}, {})

    def delete(self, relation: str, rows: Iterable[Row]) -> None:
        self.update({}, {relation: rows})

    def update(self, inserted: Mapping[str, Iterable[Row]], deleted: Mapping[str, Iterable[Row]]) -> None:
        self.view.update(columns_of(inserted), columns_of(deleted))

    def would_find(self, obstacles: Sequence[Obstacle]) -> bool:
        """Return True if the check reports the place once these tuples are there: what can be seen, within bounds."""
        rows: dict[str, set[Row]] = {}
        for obstacle in obstacles:
            rows.setdefault(obstacle.relation, set()).add(obstacle.row)
        try:
            self.update(rows, {})
        except CannotUpdate:
            return False
        try:
            return self.is_found()
        finally:
            self.update({}, rows)


def columns_of(rows: Mapping[str, Iterable[Row]]) -> dict[str, np.ndarray]:
    return {name: np.array(sorted(those), np.int64).T for name, those in rows.items() if those}


class TaintedData:
    """What is tainted now, by value: nodes, and the roots that data there begins under."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
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
        return min({node for _, node in self._found[value]}, key=self._trial.order_of_node)

    def roots(self, value: int) -> set[int]:
        return {root for entry, _ in self._found.get(value, ()) for root in self._arriving.get(entry, ())}
