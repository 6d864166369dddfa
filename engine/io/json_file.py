"""Relations as JSON: an array of rows, each an array of values or (`format=object`) an object by attribute.

Records are arrays or objects in turn, nil is null, and a branch is a string with its text, such as "$Leaf(1)".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.atomic_file import replaced
from engine.database import Columns
from engine.io.directive_files import Input
from engine.io.facts_error import FactsError
from engine.io.output_order import OrderedRelation, OrderedRows
from engine.io.text_file import format_columns
from engine.io.value_text import Interner, Printer, bits_float, float_bits
from engine.language.checked_program import Field, Type


def read(source: Input) -> Columns:
    """Return the columns of a JSON file. Raises FactsError, with the number of the row."""
    relation = source.relation
    try:
        rows = json.loads(source.path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        source.fail(0, f"cannot read the facts of {relation.name}: {error}")
    if not isinstance(rows, list):
        source.fail(0, f"cannot read the facts of {relation.name}: an array of rows is expected")
    columns: list[list[int]] = [[] for _ in relation.columns]
    for number, row in enumerate(rows, start=1):
        try:
            values = fields_of(row, relation.columns, source.interner)
        except (ValueError, RecursionError) as error:
            source.fail(number, str(error))
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return np.array(columns, np.int64).reshape(relation.arity, len(rows))


def fields_of(row: object, fields: tuple[Field, ...], interner: Interner) -> list[int]:
    """Return the column values of an array or an object. Raises ValueError."""
    if isinstance(row, dict):
        missing = [field.name for field in fields if field.name not in row]
        if missing or len(row) > len(fields):
            raise ValueError(f"the object has the attributes {sorted(row)}, not {[field.name for field in fields]}")
        row = [row[field.name] for field in fields]
    if not isinstance(row, list) or len(row) != len(fields):
        raise ValueError(f"an array of {len(fields)} values is expected, not {json.dumps(row)[:60]}")
    return [encode(value, field.type, interner) for value, field in zip(row, fields, strict=True)]


def encode(value: object, type: Type, interner: Interner) -> int:
    """Return the column value of a JSON value. Raises ValueError."""
    match value:
        case str() if type.kind == "symbol" or is_algebraic(type, interner):
            return interner.value(value, type)
        case int() if type.kind in ("number", "unsigned", "float") and not isinstance(value, bool):
            return interner.number(str(value), type.kind)
        case float() if type.kind == "float":
            return float_bits(value)
        case None if type.kind == "record" and not is_algebraic(type, interner):
            return 0
        case list() | dict() if type.kind == "record" and not is_algebraic(type, interner):
            record = interner.records[type.record or ""]
            return interner.intern(record.name, fields_of(value, record.fields, interner))
    raise ValueError(f"{json.dumps(value)[:60]} is not a valid {type.kind} (type {type.name})")


def is_algebraic(type: Type, interner: Interner) -> bool:
    return type.kind == "record" and bool(interner.records[type.record or ""].branches)


# ---- writing


def write(rows: OrderedRelation, path: Path, parameters: dict[str, str]) -> None:
    """Write a relation as JSON, one row a line."""
    try:
        with replaced(path) as file:
            before = b"["
            for portion in rows:
                for chunk in lines(portion, parameters.get("format") == "object"):
                    if chunk:
                        file.write(before + chunk.removesuffix(b",\n"))
                        before = b",\n"
            file.write(b"[]\n" if before == b"[" else b"]\n")
    except OSError as error:
        raise FactsError(path, 0, f"cannot write {rows.relation.name}: {error}") from None


def lines(rows: OrderedRows, by_name: bool) -> Iterator[bytes]:
    """Yield the rows in order, as lines with a comma at the end."""
    begin, end = "{}" if by_name else "[]"
    if not rows.types:
        yield f"{begin}{end},\n".encode() * rows.n
        return
    printer = JsonPrinter(rows.printer, by_name)
    ranked = [rows.with_values(position) for position in range(len(rows.types))]
    texts: list[Iterable[str]] = []
    for position, (_, values) in enumerate(ranked):
        before = begin if position == 0 else ""
        if by_name:
            before += json.dumps(rows.relation.columns[position].name) + ": "
        after = end + "," if position == len(ranked) - 1 else ""
        texts.append([before + text + after for text in printer.texts(values, rows.types[position])])
    yield from format_columns(np.array([ranks for ranks, _ in ranked], np.int64), texts, ", ")


class JsonPrinter(Printer):
    """Writes the values of columns as JSON."""

    def __init__(self, printer: Printer, by_name: bool) -> None:
        super().__init__(printer.records, printer.tables, printer.symbols)
        self.plain, self.by_name = printer, by_name

    def texts(self, values: Sequence[int], type: Type) -> list[str]:
        return [self.field(type, value) if type.kind != "record" else self.text(value, type) for value in values]

    def field(self, type: Type, value: int) -> str:
        if type.kind == "symbol":
            return json.dumps(self.symbols.texts([value])[0], ensure_ascii=False)
        if type.kind == "float":
            return json.dumps(bits_float(value))
        return self.text(value, type)

    def parts(self, type: Type, id: int) -> list[str | tuple[Type, int]]:
        record = self.records[type.record or ""]
        if record.branches:
            return [json.dumps(self.plain.text(id, type), ensure_ascii=False)]
        if id == 0:
            return ["null"]
        parts: list[str | tuple[Type, int]] = []
        for field, value in zip(record.fields, self.tables[record.name][:, id - 1].tolist(), strict=True):
            parts += [", " + (json.dumps(field.name) + ": " if self.by_name else ""), (field.type, value)]
        begin, end = "{}" if self.by_name else "[]"
        return [begin + str(parts[0])[2:], *parts[1:], end] if parts else [begin + end]
