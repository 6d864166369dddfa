"""Relations as tables, in and out: tuples, NumPy columns, pandas data frames and Arrow tables, typed by declaration.

A symbol is a str, a number an int, a float a float, a record a tuple of its fields, nil None. A branch of an algebraic
type is the tuple of its record: `(tag, fields…, 0, …)`. In Arrow records are text, as in files.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import numpy as np

from engine.database import Columns, Database, EvaluationError
from engine.io import parquet_file
from engine.io.directive_files import FactSource
from engine.io.output_order import OrderedRows
from engine.io.value_text import Interner, Printer, bits_float, float_bits
from engine.language.checked_program import CheckedProgram, Record, Relation, Type
from engine.language.checked_program import Field as Column
from engine.language.diagnostics import did_you_mean
from engine.scalar_functors import fits
from engine.symbols import Symbols

if TYPE_CHECKING:
    import pandas
    import pyarrow

    Table: TypeAlias = (
        pandas.DataFrame | pyarrow.Table | Mapping[str, np.ndarray] | Sequence[np.ndarray] | Iterable[Sequence[Any]]
    )
    """Rows as sequences of values, or columns: arrays in the order of the declaration, or anything with names."""

Row = tuple[Any, ...]
Key = tuple[str, int]
"""A record: its table and its id."""

NUMBER = Type("number", "number")
INTEGERS = ("number", "unsigned")


class TableError(EvaluationError):
    """A table does not fit its declaration: `relation`, `column` ("" for all), `row` (from 1; 0 for all)."""

    def __init__(self, relation: str, column: str, row: int, message: str) -> None:
        self.relation, self.column, self.row, self.message = relation, column, row, message
        place = [relation, *([f"column {column}"] if column else []), *([f"row {row}"] if row else [])]
        super().__init__(f"{', '.join(place)}: {message}")


class Relations(Protocol):
    """Relations as columns, with what they refer to: a Result or a Database."""

    @property
    def symbols(self) -> Symbols: ...
    @property
    def records(self) -> Mapping[str, Columns]: ...
    @property
    def relations(self) -> Mapping[str, Columns]: ...


class Declared(Relations, Protocol):
    """Relations, and the program that declares them."""

    @property
    def program(self) -> CheckedProgram | None: ...


def program_of(held: Declared) -> CheckedProgram:
    if held.program is None:
        raise ValueError("no program declares these relations")
    return held.program


# ---- tables to columns


def facts(program: CheckedProgram, tables: Mapping[str, Table]) -> Database:
    """Return a database that holds tables, by relation. Raises TableError."""
    interner = Interner(program.records, Symbols(), program.number_bits)
    columns = {name: encode(program, name, table, interner) for name, table in tables.items()}
    return Database(interner.symbols, interner.tables(), columns)


def encode(program: CheckedProgram, name: str, table: Table, interner: Interner) -> Columns:
    """Return a table as columns of a relation, [arity, n]. Raises TableError."""
    relation = declared(program, name)
    columns = named_columns(table)
    if columns is None:
        rows: Any = table
        return encode_rows(relation, list(rows), interner)
    taken = in_order(relation, columns)
    lengths = {len(column) for column in taken}
    if len(lengths) > 1:
        raise TableError(name, "", 0, f"columns of {' and '.join(map(str, sorted(lengths)))} values")
    encoded = [
        TableColumn(relation, interner, column).encode(values)
        for column, values in zip(relation.columns, taken, strict=True)
    ]
    return np.array(encoded, np.int64).reshape(relation.arity, *(lengths or {0}))


def declared(program: CheckedProgram, name: str) -> Relation:
    if name not in program.relations:
        hint = did_you_mean(name, program.relations)
        raise TableError(name, "", 0, f"the program has no relation of that name{f'; {hint}' if hint else ''}")
    return program.relations[name]


def named_columns(table: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    """Return the columns of a table, by name if they have names; None for rows."""
    if hasattr(table, "column_names"):  # Arrow
        return dict(zip(table.column_names, table.columns, strict=True))
    if hasattr(table, "to_numpy"):  # pandas
        return {name: table[name].to_numpy() for name in table.columns}
    if isinstance(table, Mapping):
        return {name: np.asarray(values) for name, values in table.items()}
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return list(table)
    if isinstance(table, Sequence) and table and all(isinstance(values, np.ndarray) for values in table):
        return table
    return None


def in_order(relation: Relation, columns: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    """Return columns in the order of the declaration: by name if the table has these names, else by position."""
    if isinstance(columns, Mapping):
        names = [column.name for column in relation.columns]
        if set(names) <= set(columns):
            return [columns[name] for name in names]
        columns = list(columns.values())
    if len(columns) != relation.arity:
        raise TableError(relation.name, "", 0, f"{relation.arity} columns are declared, the table has {len(columns)}")
    return list(columns)


def encode_rows(relation: Relation, rows: list[Sequence[Any]], interner: Interner) -> Columns:
    for number, row in enumerate(rows, start=1):
        if len(row) != relation.arity:
            raise TableError(relation.name, "", number, f"{relation.arity} values are declared, not {len(row)}")
    encoded = [
        TableColumn(relation, interner, column).encode_values([row[i] for row in rows])
        for i, column in enumerate(relation.columns)
    ]
    return np.array(encoded, np.int64).reshape(relation.arity, len(rows))


@dataclass
class TableColumn(FactSource):
    """A column of a table that is being read."""

    relation: Relation
    interner: Interner
    column: Column

    def fail(self, row: int, message: str) -> NoReturn:
        raise TableError(self.relation.name, self.column.name, row, message)

    def encode(self, values: Any) -> np.ndarray:
        """Return the values of a column, NumPy's or Arrow's, as the relation stores them."""
        if not isinstance(values, np.ndarray):
            return parquet_file.encode(self, values, self.column.type)
        if values.ndim != 1:
            self.fail(0, f"an array of one dimension is needed, not one of shape {values.shape}")
        kind = self.column.type.kind
        if kind in INTEGERS and values.dtype.kind in "iu":
            return self.integers(values, self.column.type)
        if kind == "float" and values.dtype.kind in "fiu":
            reals = values.astype(np.float64)
            return np.where(np.isnan(reals), np.nan, reals + 0.0).view(np.int64)
        return self.encode_values(values.tolist())

    def encode_values(self, values: list[Any]) -> np.ndarray:
        """Return Python values as the relation stores them."""
        kind = self.column.type.kind
        if kind == "symbol" and all(isinstance(value, str) for value in values):
            return self.interner.symbols.intern(values).astype(np.int64)
        if kind in INTEGERS and values and all(type(value) is int for value in values):
            numbers = np.array(values)
            if numbers.dtype.kind in "iu":
                return self.integers(numbers, self.column.type)
        found = np.empty(len(values), np.int64)
        for i, value in enumerate(values):
            try:
                found[i] = encode_value(value, self.column.type, self.interner)
            except ValueError as error:
                self.fail(i + 1, str(error))
        return found


def encode_value(value: Any, type: Type, interner: Interner) -> int:
    """Return what stands in a column for a Python value. Raises ValueError."""
    if type.kind == "symbol" and isinstance(value, str):
        return int(interner.symbols.intern([value])[0])
    if type.kind == "float" and isinstance(value, Real) and not isinstance(value, bool):
        return float_bits(float(value))
    if type.kind in INTEGERS and hasattr(value, "__index__") and not isinstance(value, bool | np.bool_):
        number = operator.index(value)
        if not fits(number, type.kind, interner.bits):
            raise ValueError(f"'{number}' is out of the range of {type.kind} (type {type.name})")
        return number - (1 << 64) if number >> 63 == 1 else number
    if type.record is not None and value is None:
        return 0
    if type.record is not None and isinstance(value, tuple | list):
        record = interner.records[type.record]
        types = types_of(record, tuple(value))
        if len(types) != len(value):
            raise ValueError(f"a {type.name} has {len(types)} fields, not {len(value)}")
        return interner.intern(record.name, [encode_value(v, t, interner) for v, t in zip(value, types, strict=True)])
    raise ValueError(f"{value!r} is not a valid {type.kind} (type {type.name})")


def types_of(record: Record, row: Row) -> list[Type]:
    """Return the types of a record's columns; those of a branch depend on the tag in `row`. Raises ValueError."""
    if not record.branches:
        return [field.type for field in record.fields]
    if not row or row[0] not in range(len(record.branches)):
        raise ValueError(f"the first field of a {record.name} is the number of a branch, from 0 on")
    own = [field.type for field in record.branches[row[0]].fields]
    return [NUMBER, *own, *[NUMBER] * (len(record.fields) - 1 - len(own))]


# ---- columns to tables


def decode(program: CheckedProgram, held: Relations, names: Iterable[str]) -> dict[str, set[Row]]:
    """Return relations of a result, or of a database, as sets of tuples, as far as they are there."""
    decoder = Decoder(program.records, held.records, held.symbols)
    return {
        name: set(decoder.rows(held.relations[name], program.relations[name].columns))
        for name in names
        if name in held.relations
    }


def to_tuples(program: CheckedProgram, held: Relations, name: str) -> set[Row]:
    """Return a relation as a set of tuples."""
    columns = declared(program, name).columns
    return set(Decoder(program.records, held.records, held.symbols).rows(held.relations[name], columns))


def ordered(program: CheckedProgram, held: Relations, name: str) -> OrderedRows:
    printer = Printer(program.records, held.records, held.symbols)
    return OrderedRows(declared(program, name), held.relations[name], printer)


def to_numpy(program: CheckedProgram, held: Relations, name: str) -> dict[str, np.ndarray]:
    """Return a relation as arrays by column, its rows in the order of their values.

    Numbers are of their width, symbols and records in arrays of objects.
    """
    rows, decoder = ordered(program, held, name), Decoder(program.records, held.records, held.symbols)
    found = {}
    for position, column in enumerate(rows.relation.columns):
        encoded, kind = rows.encoded(position), column.type.kind
        if kind == "float":
            found[column.name] = encoded.view(np.float64)
        elif kind in INTEGERS:
            letter = "i" if kind == "number" else "u"
            found[column.name] = encoded.astype(f"{letter}{program.number_bits // 8}")
        else:
            values = np.empty(len(encoded), object)
            values[:] = [decoder.value(value, column.type) for value in encoded.tolist()]
            found[column.name] = values
    return found


def to_arrow(program: CheckedProgram, held: Relations, name: str) -> pyarrow.Table:
    """Return a relation as an Arrow table, its rows in the order of their values. Needs pyarrow."""
    import pyarrow

    return parquet_file.table_of(pyarrow, ordered(program, held, name))


def to_pandas(program: CheckedProgram, held: Relations, name: str) -> pandas.DataFrame:
    """Return a relation as a data frame, its rows in the order of their values. Needs pandas."""
    import pandas

    return pandas.DataFrame(to_numpy(program, held, name))


class Decoder:
    def __init__(self, records: Mapping[str, Record], tables: Mapping[str, Columns], symbols: Symbols) -> None:
        self.records = records
        self.tables = tables
        self.symbols = symbols
        self.known: dict[Key, Row | None] = {}

    def rows(self, columns: Columns, fields: tuple[Column, ...]) -> Iterator[Row]:
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
