"""The ids here of symbols and records that a copy of this process has made.

All ids that there were when it began mean the same there; from then on each side gives out its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from engine.database import Columns
from engine.language.checked_program import Field, Record
from engine.storage.record_table import RecordTable
from engine.symbols import Symbols

MAX_NESTING = 100
"""New records that nest deeper are not worth a pass over the rest for each level."""

NewValues = tuple[list[str], dict[str, Columns]]
"""Symbols, and the fields of records by type."""


NumberOfValues = tuple[int, dict[str, int]]
"""The number of symbols, and of records by type."""


def n_values(symbols: Symbols, records: Mapping[str, RecordTable]) -> NumberOfValues:
    """Return how many there are."""
    return len(symbols), {name: table.columns.shape[1] for name, table in records.items()}


def new_values(symbols: Symbols, records: Mapping[str, RecordTable], before: NumberOfValues) -> NewValues:
    """Return the symbols and records that have come since there were so many."""
    n_symbols, n_records = before
    texts = symbols.texts(range(n_symbols, len(symbols)))
    return texts, {name: table.columns[:, n_records[name] :] for name, table in records.items()}


SYMBOLS, NUMBERS = "symbol", ""


def table_of(field: Field) -> str:
    """Return what gives the values of a column or field their ids: SYMBOLS, a record type, or nothing (NUMBERS)."""
    return field.type.record or (SYMBOLS if field.type.kind == "symbol" else NUMBERS)


class NestedTooDeep(Exception):
    """New records hold one another through more than MAX_NESTING levels."""


class TranslatedIds:
    """By table: the number of values that both sides know, and the ids here of the copy's own."""

    def __init__(self, symbols: Symbols, records: Mapping[str, RecordTable], declared: Mapping[str, Record]) -> None:
        self.symbols, self.records = symbols, records
        self.tables = {name: list(map(table_of, record.fields)) for name, record in declared.items()}
        # Ids of records begin with 1: nil, too, is known to both sides.
        self.n_shared = {SYMBOLS: len(symbols)} | {name: table.columns.shape[1] + 1 for name, table in records.items()}
        self.ids = dict.fromkeys(self.n_shared, np.empty(0, np.int64))

    def learn(self, values: NewValues) -> None:
        """Enter what the copy has made since the last time. Raises NestedTooDeep.

        A record holds values made before it, of any type: per pass each type gives the rows before the first one that
        holds what is not known yet.
        """
        texts, left = values
        self._add(SYMBOLS, self.symbols.intern(texts))
        for _ in range(MAX_NESTING):
            left = {name: columns for name, columns in left.items() if columns.shape[1]}
            if not left:
                return
            for name, columns in left.items():
                tables = self.tables[name]
                n = self._n_known(tables, columns)
                known = self.translated(tables, columns[:, :n].copy())
                self._add(name, self.records[name].construct(known, n, np.arange(len(tables))))
                left[name] = columns[:, n:]
        raise NestedTooDeep

    def _add(self, table: str, ids: np.ndarray) -> None:
        self.ids[table] = np.concatenate([self.ids[table], ids])

    def _n_known(self, tables: Iterable[str], columns: Columns) -> int:
        """Return the number of rows before the first that holds a record not known yet."""
        n = columns.shape[1]
        for table, values in zip(tables, columns, strict=True):
            if table not in (SYMBOLS, NUMBERS):
                unknown = values[:n] >= self.n_shared[table] + len(self.ids[table])
                n = int(unknown.argmax()) if unknown.any() else n
        return n

    def translated(self, tables: Iterable[str], columns: Columns) -> Columns:
        """Put ids of here in place of the copy's, in columns with the ids of these tables."""
        for table, values in zip(tables, columns, strict=True):
            if table != NUMBERS:
                made = values >= self.n_shared[table]
                values[made] = self.ids[table][values[made] - self.n_shared[table]]
        return columns
