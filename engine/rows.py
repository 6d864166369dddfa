"""Databases and results as Python rows: convenient for small data, not how anything is evaluated.

A symbol is a str, a number an int, a float a float, a record a tuple of its fields (of an algebraic data type, its tag
first), nil None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from engine.database import Database
from engine.language.program import CheckedProgram, Type
from engine.plan.values import encode_float
from engine.result import Result
from engine.symbols import Symbols

Row = tuple


def database_from_rows(program: CheckedProgram, facts: Mapping[str, Iterable[Row]]) -> Database:
    """Return the database that holds these rows of the program's relations."""
    encoder = Encoder(program)
    relations = {
        name: encoder.columns([column.type for column in program.relations[name].columns], rows)
        for name, rows in facts.items()
    }
    records = {name: as_columns(rows, len(program.records[name].fields)) for name, rows in encoder.records.items()}
    return Database(encoder.symbols, records, relations)


def rows_of(program: CheckedProgram, result: Result, name: str) -> set[Row]:
    """Return the rows of a relation."""
    types = [column.type for column in program.relations[name].columns]
    decoder = Decoder(program, result)
    columns = result.relation(name)
    return {
        tuple(decoder.value(type_, value) for type_, value in zip(types, row, strict=True))
        for row in columns.T.tolist()
    }


def field_types(program: CheckedProgram, record: str, tag: int) -> list[Type]:
    """The types of the fields of a record; of an algebraic data type, those of the branch `tag`, and its padding."""
    declared = program.records[record]
    types = [field.type for field in declared.fields]
    for branch in declared.branches:
        if branch.tag == tag:
            types[1 : 1 + len(branch.fields)] = [field.type for field in branch.fields]
    return types


class Encoder:
    def __init__(self, program: CheckedProgram) -> None:
        self.program, self.symbols = program, Symbols()
        self.records: dict[str, dict[Row, int]] = {name: {} for name in program.records}

    def columns(self, types: list[Type], rows: Iterable[Row]) -> np.ndarray:
        encoded = [tuple(self.value(type_, value) for type_, value in zip(types, row, strict=True)) for row in rows]
        return as_columns(encoded, len(types))

    def value(self, type_: Type, value: object) -> int:
        if type_.kind == "symbol":
            return int(self.symbols.intern([value])[0])
        if type_.kind == "float":
            return encode_float(value)
        if type_.kind != "record":
            return value
        if value is None:
            return 0
        types = field_types(self.program, type_.record, value[0])
        fields = tuple(self.value(field, part) for field, part in zip(types, value, strict=True))
        table = self.records[type_.record]
        return table.setdefault(fields, len(table) + 1)


class Decoder:
    def __init__(self, program: CheckedProgram, result: Result) -> None:
        self.program, self.result = program, result

    def value(self, type_: Type, value: int) -> object:
        if type_.kind == "symbol":
            return self.result.symbols.texts([value])[0]
        if type_.kind == "float":
            return float(np.int64(value).view(np.float64))
        if type_.kind != "record":
            return value
        if value == 0:
            return None
        fields = self.result.records[type_.record][:, value - 1].tolist()
        types = field_types(self.program, type_.record, fields[0])
        return tuple(self.value(field, part) for field, part in zip(types, fields, strict=True))


def as_columns(rows: Iterable[Row], arity: int) -> np.ndarray:
    """Return rows of integers as columns, int32 if all values fit."""
    columns = np.array(list(rows), np.int64).reshape(-1, arity).T
    fits = not columns.size or (columns.min() >= -(2**31) and columns.max() < 2**31)
    return np.ascontiguousarray(columns, np.int32 if fits else np.int64)
