"""The changed line that a new finding depends on, if none is on its path: found along the supports of its tuple.

Breadth-first search from the tuple of `finding`, through tuples that the move inserted or whose negations hold because
of it, to an inserted or deleted fact at a changed line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from analyzer.findings.entities import Entities
from analyzer.history.causes import Cause, Lines, nearest
from analyzer.history.commit_update import Follower, Move
from analyzer.report import Finding, Place
from engine.incremental import Tuple, supports
from facts import schema

MAX_TUPLES = 100
"""Maximum number of tuples searched for one finding."""


class Dependencies:
    """The changes of a move, indexed for search."""

    def __init__(self, follower: Follower, move: Move, changed: Lines) -> None:
        self.view, self.changes, self.changed = follower.view, move.outcome.changes, changed
        self.entities = Entities(self.view.result())
        self.sets: dict[tuple[str, bool], set[tuple[int, ...]]] = {}

    def cause(self, finding: Finding) -> Cause | None:
        """Return the nearest changed line that a finding depends on, if it is found."""
        queue: deque[Tuple] = deque(("finding", row) for row in self.rows("finding", True) if self.is_row(row, finding))
        seen = set(queue)
        for _ in range(MAX_TUPLES):
            if not queue:
                return None
            name, row = queue.popleft()
            if cause := self.of_fact(name, row):
                return cause
            for found in self.changed_below(name, row):
                if found not in seen:
                    seen.add(found)
                    queue.append(found)
        return None

    def is_row(self, row: tuple[int, ...], finding: Finding) -> bool:
        check, entity, _ = row
        return self.entities.text(check) == finding.check and self.entities.place(entity) == finding.place

    def changed_below(self, name: str, row: tuple[int, ...]) -> Iterator[Tuple]:
        """Yield the inserted or deleted tuples that a tuple is derived from, in order of content."""
        if row not in self.rows(name, True):
            return
        found = set()
        for positive, negative in supports(self.view, name, row):
            found |= {(name, row) for name, row in positive if row in self.rows(name, True)}
            found |= {(name, row) for name, row in negative if row in self.rows(name, False)}
        yield from sorted(found, key=self.content)

    def rows(self, name: str, inserted: bool) -> set[tuple[int, ...]]:
        """Return the inserted or deleted tuples of a relation, or of columns of it (`name/0,2`)."""
        if (name, inserted) not in self.sets:
            relation, _, columns = name.partition("/")
            change = self.changes.get(relation)
            rows = (change.inserted if inserted else change.deleted) if change else None
            if rows is not None and columns:
                rows = rows[[int(column) for column in columns.split(",")]]
            self.sets[name, inserted] = set() if rows is None else set(map(tuple, rows.T.tolist()))
        return self.sets[name, inserted]

    def of_fact(self, name: str, row: tuple[int, ...]) -> Cause | None:
        """Return the changed line at a fact's entities."""
        places = list(self.places(name, row)) if name in schema.relations() else []
        found = nearest(places, self.changed)
        return Cause(*found, "a line it depends on has changed") if found else None

    def places(self, name: str, row: tuple[int, ...]) -> Iterator[Place]:
        for kind, value in zip(schema.relations()[name].kinds, row, strict=True):
            place = self.entities.place(value) if kind == schema.ENTITY else None
            if place:
                yield place

    def content(self, found: Tuple) -> tuple[object, ...]:
        """Return a deterministic sort key of a tuple: its relation, then places and labels of its values."""
        name, row = found
        columns = self.view.program.relations[name.partition("/")[0]].columns
        values = []
        for column, value in zip(columns, row, strict=False):
            if column.type.record == "Entity":
                values.append(f"{self.entities.place(value)}{self.entities.chain(value)}")
            elif column.type.kind == "symbol":
                values.append(self.entities.text(value))
        return name, values
