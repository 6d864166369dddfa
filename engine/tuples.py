"""Between columns and Python values, for the oracle and for tests; not for large relations.

A symbol is a str, a number an int, a float a float, a record a tuple of its fields, nil None. A branch of an algebraic
type is the tuple of its record: `(tag, fields…, 0, …)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from engine.database import Columns, Database
from engine.io.value_text import Interner, bits_float, float_bits
from engine.language.checked_program import CheckedProgram, Field, Record, Type
from engine.result import Result
from engine.symbols import Symbols

Row = tuple
Key = tuple[str, int]
"""A record: its table and its id."""

NUMBER = Type("number", "number")


def decode(program: CheckedProgram, result: Result | Database, names: Iterable[str]) -> dict[str, set[Row]]:
    """Return relations of a result, or of a database, as sets of tuples of Python values."""
    decoder = Decoder(program.records, result.records, result.symbols)
    return {
        name: set(decoder.rows(result.relations[name], program.relations[name].columns))
        for name in names
        if name in result.relations
    }


def encode(program: CheckedProgram, relations: Mapping[str, Iterable[Row]]) -> Database:
    """Return a database that holds these tuples."""
    interner = Interner(program.records, Symbols(), program.number_bits)
    columns = {
        name: _columns(list(rows), program.relations[name].columns, interner) for name, rows in relations.items()
    }
    return Database(interner.symbols, interner.tables(), columns)


def _columns(rows: list[Row], fields: tuple[Field, ...], interner: Interner) -> Columns:
    encoded = [[encode_value(row[i], field.type, interner) for row in rows] for i, field in enumerate(fields)]
    return np.array(encoded, np.int64).reshape(len(fields), len(rows))


def encode_value(value: Any, type: Type, interner: Interner) -> int:
    """Return what stands in a column for a Python value."""
    if type.kind == "symbol":
        return int(interner.symbols.intern([value])[0])
    if type.kind == "float":
        return float_bits(value)
    if type.kind != "record":
        return value - (1 << 64) if value >> 63 == 1 else value
    if value is None:
        return 0
    record = interner.records[type.record or ""]
    fields = [encode_value(v, t, interner) for v, t in zip(value, types_of(record, value), strict=True)]
    return interner.intern(record.name, fields)


def types_of(record: Record, row: Row) -> list[Type]:
    """Return the types of a record's columns; those of a branch depend on the tag in `row`."""
    if not record.branches:
        return [field.type for field in record.fields]
    own = [field.type for field in record.branches[row[0]].fields]
    return [NUMBER, *own, *[NUMBER] * (len(record.fields) - 1 - len(own))]


class Decoder:
    def __init__(self, records: Mapping[str, Record], tables: Mapping[str, Columns], symbols: Symbols) -> None:
        self.records = records
        self.tables = tables
        self.symbols = symbols
        self.known: dict[Key, Row | None] = {}

    def rows(self, columns: Columns, fields: tuple[Field, ...]) -> Iterator[Row]:
        if not fields:
            yield from ((),) * columns.shape[1]
            return
        decoded = [
            [self.value(v, field.type) for v in column] for column, field in zip(columns.tolist(), fields, strict=True)
        ]
        yield from zip(*decoded, strict=True)

    def value(self, value: int, type: Type) -> object:
        if type.kind == "symbol":
            return self.symbols.texts([value])[0]
        if type.kind == "float":
            return bits_float(value)
        if type.kind == "unsigned" and value < 0:
            return value + (1 << 64)
        if type.kind != "record":
            return value
        key = (type.record or "", value)
        return self.record(key)

    def record(self, key: Key) -> Row | None:
        """Return a record's tuple, once those of its parts are known: the nesting may be deep, as in long lists."""
        pending = [key]
        while pending:
            top = pending[-1]
            needed = [] if top in self.known else [part for part in self.parts(top) if part not in self.known]
            if needed:
                pending += needed
                continue
            if top not in self.known:
                self.known[top] = self.compose(top)
            pending.pop()
        return self.known[key]

    def fields(self, table: str, id: int) -> list[tuple[int, Type]]:
        row = tuple(self.tables[table][:, id - 1].tolist())
        return list(zip(row, types_of(self.records[table], row), strict=True))

    def parts(self, key: Key) -> list[Key]:
        if key[1] == 0:
            return []
        return [(type.record or "", value) for value, type in self.fields(*key) if type.kind == "record"]

    def compose(self, key: Key) -> Row | None:
        return None if key[1] == 0 else tuple(self.value(value, type) for value, type in self.fields(*key))
