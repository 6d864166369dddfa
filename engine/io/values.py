"""Values as text: numbers, floats, symbols, records `[a, b]` and branches `$Name(a, b)`; nil is `nil`.

A symbol inside a record is written between quotes, with backslashes, where its own characters would end it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

from engine.functors import canonical, fits, float_to_text, text_to_float, text_to_integer
from engine.language.literals import unescape
from engine.language.program import Field, Record, Type
from engine.symbols import Symbols

SPECIAL = frozenset('",()[]\\\n\t')


def float_bits(value: float) -> int:
    """Return a float as it stands in a column."""
    return struct.unpack("<q", struct.pack("<d", canonical(value)))[0]


def bits_float(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<q", bits))[0]


# ---- text to values


class Interner:
    """Gives records ids while facts are read: the ids of a table count from 1 in order of appearance."""

    def __init__(self, records: Mapping[str, Record], symbols: Symbols, number_bits: int) -> None:
        self.records = records
        self.symbols = symbols
        self.bits = number_bits
        self.ids: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in records}

    def tables(self) -> dict[str, np.ndarray]:
        """Return the record tables as columns, as a Database holds them."""
        return {
            name: np.array(list(rows), np.int64).reshape(len(rows), len(self.records[name].fields)).T
            for name, rows in self.ids.items()
        }

    def intern(self, table: str, fields: Sequence[int]) -> int:
        ids = self.ids[table]
        return ids.setdefault(tuple(fields), len(ids) + 1)

    def value(self, text: str, type: Type) -> int:
        """Return what stands in a column for the text of a value. Raises ValueError."""
        if type.kind == "symbol":
            return int(self.symbols.intern([text])[0])
        if type.kind == "record":
            reader = RecordReader(text, self)
            value = reader.value(type)
            reader.expect_end()
            return value
        return self.number(text, type.kind)

    def number(self, text: str, kind: str) -> int:
        value = text_to_float(text) if kind == "float" else text_to_integer(text, kind, self.bits)
        if value is None:
            is_number = kind != "float" and text_to_integer(text, "number", 1 << 16) is not None
            raise ValueError(f"'{text}' is out of the range of {kind}" if is_number else f"'{text}' is no {kind}")
        if kind == "float":
            return float_bits(value)
        return value - (1 << 64) if value >> 63 == 1 else value


class RecordReader:
    """Reads the text of one record or branch, nested ones included."""

    def __init__(self, text: str, interner: Interner) -> None:
        self.text = text
        self.interner = interner
        self.position = 0

    def value(self, type: Type) -> int:
        self.skip_space()
        if type.kind == "symbol":
            return int(self.interner.symbols.intern([self.symbol()])[0])
        if type.kind != "record":
            return self.interner.number(self.until(",])"), type.kind)
        assert type.record is not None
        record = self.interner.records[type.record]
        return self.branch(record) if record.branches else self.record(record)

    def record(self, record: Record) -> int:
        if self.text.startswith("nil", self.position):
            self.position += 3
            return 0
        return self.interner.intern(record.name, self.arguments(record.fields, "[", "]"))

    def branch(self, record: Record) -> int:
        self.expect("$")
        name = self.until("(,)]").strip()
        found = next((branch for branch in record.branches if branch.name == name), None)
        if found is None:
            raise ValueError(f"'{name}' is no branch of {record.name}")
        values = self.arguments(found.fields, "(", ")") if found.fields else []
        padding = [0] * (len(record.fields) - 1 - len(values))
        return self.interner.intern(record.name, [found.tag, *values, *padding])

    def arguments(self, fields: tuple[Field, ...], start: str, end: str) -> list[int]:
        self.expect(start)
        values = []
        for position, field in enumerate(fields):
            if position:
                self.expect(",")
            values.append(self.value(field.type))
        self.expect(end)
        return values

    def symbol(self) -> str:
        if not self.text.startswith('"', self.position):
            return self.until(",])")
        end = self.position + 1
        while end < len(self.text) and self.text[end] != '"':
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ValueError("a quoted symbol is not closed")
        quoted, self.position = self.text[self.position + 1 : end], end + 1
        return unescape(quoted)

    def until(self, stops: str) -> str:
        """Return the text up to the next of these characters."""
        start = self.position
        while self.position < len(self.text) and self.text[self.position] not in stops:
            self.position += 1
        return self.text[start : self.position]

    def skip_space(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    def expect(self, character: str) -> None:
        self.skip_space()
        if not self.text.startswith(character, self.position):
            found = self.text[self.position : self.position + 1]
            raise ValueError(f"expected '{character}'" + (f", not '{found}'" if found else " before the end"))
        self.position += 1

    def expect_end(self) -> None:
        self.skip_space()
        if self.position < len(self.text):
            raise ValueError(f"'{self.text[self.position :]}' follows a complete record")


# ---- values to text


class Printer:
    """Writes the values of columns as text."""

    def __init__(self, records: Mapping[str, Record], tables: Mapping[str, np.ndarray], symbols: Symbols) -> None:
        self.records = records
        self.tables = tables
        self.symbols = symbols

    def texts(self, values: Sequence[int], type: Type) -> list[str]:
        """Return the texts of values that stand in a column of this type."""
        if type.kind == "symbol":
            return self.symbols.texts(values)
        if type.kind == "float":
            return list(map(float_to_text, np.array(values, np.int64).view(np.float64).tolist()))
        return [self.text(value, type) for value in values]

    def text(self, value: int, type: Type) -> str:
        if type.kind == "record":
            return self.record(type.record or "", value)
        if type.kind == "float":
            return float_to_text(bits_float(value))
        if type.kind == "unsigned" and value < 0:
            value += 1 << 64
        return str(value)

    def record(self, table: str, id: int) -> str:
        """Return the text of a record; the nesting may be deep, as in long lists."""
        pieces: list[str] = []
        pending: list[str | tuple[Type, int]] = [(Type(table, "record", table), id)]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif part[0].kind == "record":
                pending.extend(reversed(self.parts(*part)))
            else:
                pieces.append(self.field(*part))
        return "".join(pieces)

    def parts(self, type: Type, id: int) -> list[str | tuple[Type, int]]:
        """Return a record as texts and fields in turn."""
        if id == 0:
            return ["nil"]
        record = self.records[type.record or ""]
        row = self.tables[record.name][:, id - 1].tolist()
        start, fields, end = "[", record.fields, "]"
        if record.branches:
            branch = record.branches[row.pop(0)]
            start, fields, end = f"${branch.name}(", branch.fields, ")"
            if not fields:
                return [f"${branch.name}"]
        parts: list[str | tuple[Type, int]] = []
        for field, value in zip(fields, row, strict=False):
            parts += [", ", (field.type, value)]
        return [start, *parts[1:], end]

    def field(self, type: Type, value: int) -> str:
        return quoted(self.symbols.texts([value])[0]) if type.kind == "symbol" else self.text(value, type)


def quoted(symbol: str) -> str:
    """Return a symbol as it stands inside a record."""
    if not SPECIAL.intersection(symbol) and symbol == symbol.strip():
        return symbol
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in symbol) + '"'


def check_range(column: np.ndarray, kind: str, number_bits: int) -> int | None:
    """Return the first row whose number is out of range, or None."""
    wrong = np.flatnonzero([not fits(int(v), kind, number_bits) for v in (column.min(), column.max())])
    if not len(wrong):
        return None
    low, high = (0, 1 << number_bits) if kind == "unsigned" else (-(1 << number_bits - 1), 1 << number_bits - 1)
    return int(np.flatnonzero((column < low) | (column >= high))[0])
