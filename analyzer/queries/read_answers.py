"""Reading answers off relations.

Rows are ordered by columns, from the left; entities by place. Only rows that are shown are made Python values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from analyzer.findings.entities import Entities, ranks_of
from analyzer.findings.source_texts import Texts
from analyzer.queries.answers import Answers, Code, Column, Value

if TYPE_CHECKING:
    import engine
    from engine import Field, Type

MAX_TEXT = 200


@dataclass(slots=True)
class Reader:
    """Reads the relation `name` of a result, whose columns are `fields`. `texts` are those of the files of entities."""

    result: engine.Result
    name: str
    fields: Sequence[Field]
    printer: engine.Printer
    texts: Texts | None = None
    entities: Entities | None = field(init=False)

    def __post_init__(self) -> None:
        self.entities = None if self.texts is None else Entities(self.result)

    def answers(self, limit: int | None) -> Answers:
        """Return the answers, at most `limit`."""
        rows = self.result.relation(self.name)
        chosen = rows[:, self.first(rows, limit)]
        values = [list(self.values(column, field.type)) for column, field in zip(chosen, self.fields, strict=True)]
        shown = tuple(zip(*values, strict=True)) if values else ((),) * chosen.shape[1]
        columns = tuple(Column(field.name, field.type.name, self.is_code(field.type)) for field in self.fields)
        return Answers(columns, shown, rows.shape[1])

    def is_code(self, type: Type) -> bool:
        return self.entities is not None and type.record == "Entity"

    # ---- order

    def first(self, rows: np.ndarray, limit: int | None) -> np.ndarray:
        """Return the positions of the first rows in their order."""
        n_rows = rows.shape[1]
        keys = [key for column, field in zip(rows, self.fields, strict=True) for key in self.keys(column, field.type)]
        if not keys or not n_rows:
            return np.arange(n_rows)[:limit]
        order = np.lexsort(keys[::-1])
        is_tied = np.ones(n_rows, np.bool_)
        is_tied[0] = False
        for key in keys:
            is_tied[1:] &= key[order[1:]] == key[order[:-1]]
        end = n_rows if limit is None else min(limit, n_rows)
        while end < n_rows and is_tied[end]:
            end += 1
        order = order[:end]
        if is_tied[:end].any():
            order = self.untied(rows, order, np.cumsum(~is_tied[:end]))
        return order[:limit]

    def untied(self, rows: np.ndarray, order: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Order the rows of each group by the labels of their entities, which stand in one place."""
        assert self.entities is not None
        coded = [column for column, field in zip(rows, self.fields, strict=True) if self.is_code(field.type)]
        chains = [[self.entities.chain(entity) for entity in column[order].tolist()] for column in coded]
        keys = list(zip(groups.tolist(), *chains, strict=True))
        return order[sorted(range(len(order)), key=keys.__getitem__)]

    def keys(self, column: np.ndarray, type: Type) -> Iterator[np.ndarray]:
        """Yield numbers by which the values of a column are ordered."""
        if self.is_code(type):
            assert self.entities is not None
            yield from self.entities.place_keys(column)
        elif type.kind == "number":
            yield column
        elif type.kind == "unsigned":
            yield column.astype(np.int64).view(np.uint64)
        elif type.kind == "float":
            yield column.astype(np.int64).view(np.float64)
        else:
            distinct, positions = np.unique(column, return_inverse=True)
            yield ranks_of(self.printer.texts(distinct.tolist(), type))[positions]

    # ---- values

    def values(self, column: np.ndarray, type: Type) -> Iterator[Value]:
        """Yield the values of a column."""
        if self.is_code(type):
            yield from map(self.code, column.tolist())
        elif type.kind == "float":
            yield from column.astype(np.int64).view(np.float64).tolist()
        elif type.kind in ("number", "unsigned"):
            yield from (int(text) for text in self.printer.texts(column.tolist(), type))
        else:
            yield from self.printer.texts(column.tolist(), type)

    def code(self, entity: int) -> Code:
        assert self.entities is not None and self.texts is not None
        if entity == 0:
            return Code(None, "nil")
        place = self.entities.place(entity)
        if place is None or not self.entities.is_located(entity):
            return Code(place, self.entities.label(entity))
        line = self.texts.line(place.file, place.line)
        end = place.end_column - 1 if place.end_line == place.line else len(line)
        text = " ".join(line[place.column - 1 : end].split())
        return Code(place, text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…")
