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


class NestedTooDeep(Exception):
    """New records hold one another through more than MAX_NESTING levels."""


class TranslatedIds:
    """For symbols and each record type: the number of values that both sides know, and the ids of the copy's own."""

    def __init__(self, symbols: Symbols, records: Mapping[str, RecordTable], declared: Mapping[str, Record]) -> None:
        self.symbols, self.records, self.declared = symbols, records, declared
        # Ids of records begin with 1: nil, too, is known to both sides.
        self.n_shared = {None: len(symbols)} | {name: table.columns.shape[1] + 1 for name, table in records.items()}
        self.ids = dict.fromkeys(self.n_shared, np.empty(0, np.int64))

    def learn(self, values: NewValues) -> None:
        """Enter what the copy has made since the last time. Raises NestedTooDeep.

        A record holds values made before it, of any type: per pass each type gives the rows before the first one that
        holds what is not known yet.
        """
        texts, left = values
        self._add(None, self.symbols.intern(texts))
        for _ in range(MAX_NESTING):
            left = {name: columns for name, columns in left.items() if columns.shape[1]}
            if not left:
                return
            for name, columns in left.items():
                fields = self.declared[name].fields
                n = self._n_known(fields, columns)
                known = self.translated(fields, columns[:, :n].copy())
                self._add(name, self.records[name].construct(known, n, np.arange(len(fields))))
                left[name] = columns[:, n:]
        raise NestedTooDeep

    def _add(self, table: str | None, ids: np.ndarray) -> None:
        self.ids[table] = np.concatenate([self.ids[table], ids])

    def _n_known(self, fields: Iterable[Field], columns: Columns) -> int:
        """Return the number of rows before the first that holds a record not known yet."""
        n = columns.shape[1]
        for field, values in zip(fields, columns, strict=True):
            if field.type.record is not None:
                unknown = values[:n] >= self.n_shared[field.type.record] + len(self.ids[field.type.record])
                n = int(unknown.argmax()) if unknown.any() else n
        return n

    def translated(self, fields: Iterable[Field], columns: Columns) -> Columns:
        """Put ids of here in place of the copy's."""
        for field, values in zip(fields, columns, strict=True):
            table = field.type.record
            if table is not None or field.type.kind == "symbol":
                made = values >= self.n_shared[table]
                values[made] = self.ids[table][values[made] - self.n_shared[table]]
        return columns
