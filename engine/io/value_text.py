"""Values as text: numbers, floats, symbols, records `[a, b]` and branches `$Name(a, b)`; nil is `nil`.

A symbol inside a record is written between quotes, with backslashes, where its own characters would end it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.language.checked_program import Field, Record, Type
from engine.language.literals import unescape
from engine.scalar_functors import canonical, fits, float_to_text, text_to_float, text_to_integer
from engine.symbols import Symbols

SPECIAL = frozenset('",()[]\\\n\r\t')
SPACE, VALUE, BRANCH = re.compile(r"\s*"), re.compile(r"[^,\])]*"), re.compile(r"[^(,)\]]*")
ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
SHORT, N_KNOWN = 500, 1 << 18
"""Bounds on the texts of records that a printer keeps: of their length, and of their number."""


def float_bits(value: float) -> int:
    """Return the column value of a float."""
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
        """Return the column value of a text. Raises ValueError."""
        if type.kind == "symbol":
            return int(self.symbols.intern([text])[0])
        if type.kind == "record":
            reader = RecordReader(text, self)
            value = reader.value(type)
            reader.expect_end()
            return value
        return self.number(text, type.kind)

    def number(self, text: str, kind: str) -> int:
        if kind == "float":
            real = text_to_float(text)
            if real is None:
                raise ValueError(f"'{text}' is not a valid {kind}")
            return float_bits(real)
        value = text_to_integer(text, kind, self.bits)
        if value is None:
            is_number = text_to_integer(text, "number", 1 << 16) is not None
            raise ValueError(
                f"'{text}' is out of the range of {kind}" if is_number else f"'{text}' is not a valid {kind}"
            )
        return value - (1 << 64) if value >> 63 == 1 else value


@dataclass
class PartialRecord:
    """A record or branch of which some fields have been read."""

    record: Record
    fields: tuple[Field, ...]
    end: str
    values: list[int]
    tag: tuple[int, ...] = ()

    def row(self) -> list[int]:
        """Return the complete record as a row of its table."""
        padding = len(self.record.fields) - len(self.tag) - len(self.values)
        return [*self.tag, *self.values, *[0] * padding]


class RecordReader:
    """Reads the text of one record or branch, nested ones included."""

    def __init__(self, text: str, interner: Interner) -> None:
        self.text = text
        self.interner = interner
        self.position = 0

    def value(self, type: Type) -> int:
        """Return the next value; the nesting may be deep, as in long lists."""
        partial: list[PartialRecord] = []
        found = self.begin(type)
        while True:
            if isinstance(found, PartialRecord):
                partial.append(found)
            elif partial:
                partial[-1].values.append(found)
            else:
                return found
            last = partial[-1]
            if len(last.values) == len(last.fields):
                self.expect(last.end)
                found = self.interner.intern(last.record.name, partial.pop().row())
                continue
            if last.values:
                self.expect(",")
            found = self.begin(last.fields[len(last.values)].type)

    def begin(self, type: Type) -> int | PartialRecord:
        """Return the next value, or the record that begins here."""
        self.skip_space()
        if type.kind == "symbol":
            return int(self.interner.symbols.intern([self.symbol()])[0])
        if type.kind != "record":
            return self.interner.number(self.read(VALUE), type.kind)
        assert type.record is not None
        record = self.interner.records[type.record]
        if record.branches:
            return self.branch(record)
        if self.text.startswith("nil", self.position):
            self.position += 3
            return 0
        self.expect("[")
        return PartialRecord(record, record.fields, "]", [])

    def branch(self, record: Record) -> int | PartialRecord:
        self.expect("$")
        name = self.read(BRANCH).strip()
        found = next((branch for branch in record.branches if branch.name == name), None)
        if found is None:
            raise ValueError(f"'{name}' is not a branch of {record.name}")
        partial = PartialRecord(record, found.fields, ")", [], (found.tag,))
        if not found.fields:
            return self.interner.intern(record.name, partial.row())
        self.expect("(")
        return partial

    def symbol(self) -> str:
        if not self.text.startswith('"', self.position):
            return self.read(VALUE)
        end = self.position + 1
        while end < len(self.text) and self.text[end] != '"':
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise ValueError("a quoted symbol is not closed")
        quoted, self.position = self.text[self.position + 1 : end], end + 1
        return unescape(quoted)

    def skip_space(self) -> None:
        self.read(SPACE)

    def read(self, what: re.Pattern[str]) -> str:
        """Return the text that the pattern, which may match nothing, matches here."""
        match = what.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return match[0]

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
        self.known: dict[tuple[str, int], str] = {}

    def texts(self, values: Sequence[int], type: Type) -> list[str]:
        """Return the texts of column values of this type."""
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
        """Return the text of a record; the nesting may be deep, as in long lists. Short texts are kept for a while."""
        pieces: list[str] = []
        pending: list[str | tuple[Type, int]] = [(Type(table, "record", table), id)]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                pieces.append(part)
            elif part[0].kind != "record":
                pieces.append(self.field(*part))
            elif known := self.known.get((part[0].record or "", part[1])):
                pieces.append(known)
            else:
                pending.extend(reversed(self.parts(*part)))
        text = "".join(pieces)
        if len(text) <= SHORT:
            if len(self.known) == N_KNOWN:
                self.known.clear()
            self.known[table, id] = text
        return text

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
    return '"' + symbol.translate(ESCAPES).replace('"', '\\"') + '"'


def check_range(column: np.ndarray, kind: str, number_bits: int) -> int | None:
    """Return the first row whose number is out of range, or None."""
    wrong = np.flatnonzero([not fits(int(v), kind, number_bits) for v in (column.min(), column.max())])
    if not len(wrong):
        return None
    low, high = (0, 1 << number_bits) if kind == "unsigned" else (-(1 << number_bits - 1), 1 << number_bits - 1)
    return int(np.flatnonzero((column < low) | (column >= high))[0])
