"""The order of rows by their values, which depends on no id: for choices, limits and counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from engine.database import Columns, EvaluationError
from engine.language.checked_program import Record, Type
from engine.storage.record_table import RecordTable
from engine.symbols import Symbols
from engine.tables import Decoder


class Declarations(Protocol):
    """A declarer of records: a program, or a later form of it."""

    @property
    def records(self) -> Mapping[str, Record]: ...

    @property
    def number_bits(self) -> int: ...


class Ranking:
    """Orders rows from the left: numbers by value (NaN last), texts by code points, records by content (nil first)."""

    def __init__(self, program: Declarations, symbols: Symbols, records: Mapping[str, RecordTable]) -> None:
        self.program, self.symbols, self.records = program, symbols, records

    def order(self, rows: Columns, types: Sequence[Type]) -> np.ndarray:
        """Return the positions of the rows in their order."""
        if rows.shape[1] < 2:
            return np.arange(rows.shape[1])
        return np.lexsort([self.ranks(column, type) for column, type in zip(rows, types, strict=True)][::-1])

    def ranks(self, column: np.ndarray, type: Type) -> np.ndarray:
        """Return numbers that order as the values of a column do."""
        if type.kind == "number":
            return column
        if type.kind == "unsigned":
            return column.astype(np.int64).view(np.uint64)
        if type.kind == "float":
            return column.astype(np.int64).view(np.float64)
        distinct, positions = np.unique(column, return_inverse=True)
        values = self.symbols.texts(distinct) if type.kind == "symbol" else self.contents(distinct, type)
        ranks = np.empty(len(distinct), np.int64)
        ranks[sorted(range(len(distinct)), key=values.__getitem__)] = np.arange(len(distinct))
        return ranks[positions]

    def contents(self, ids: np.ndarray, type: Type) -> list[tuple]:
        """Return a tuple for each record that orders as its content does."""
        tables = {name: table.columns for name, table in self.records.items()}
        decoder = Decoder(self.program.records, tables, self.symbols)
        try:
            return [content(decoder.value(id, type)) for id in ids.tolist()]
        except RecursionError:
            raise EvaluationError(f"{type.name}: records are nested too deep to be put in order") from None


def content(value: object) -> tuple:
    """A value inside a record as a tuple, so that nil comes first and NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, *map(content, value))
    return (1, float("inf"), 1) if value != value else (1, value)
