"""Reading files of facts: one row a line, fields separated by tabs.

Parameters of `.input`: `filename`, `delimiter`, `headers=true` (the first line is skipped), `columns="2:0"` (which
field of the file each attribute is), `rfc4180=true` (quoted fields). Compressed files (gzip) are recognised.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from engine.database import Columns, Database
from engine.io.errors import FactsError
from engine.io.values import Interner, check_range
from engine.language.program import CheckedProgram, Relation, Type
from engine.language.syntax import Directive
from engine.symbols import Symbols

GZIP = b"\x1f\x8b"
INTEGERS = ("number", "unsigned")


def load(program: CheckedProgram, directory: Path | str, symbols: Symbols | None = None) -> Database:
    """Return the facts that the program's `.input` directives name, from files in the directory.

    Files that no output depends on are not read. Raises FactsError with the file and line of the first row that does
    not fit its declaration.
    """
    symbols = Symbols() if symbols is None else symbols
    interner = Interner(program.records, symbols, program.number_bits)
    relations: dict[str, Columns] = {}
    needed = program.needed
    for directive in program.inputs:
        if directive.relation not in needed:
            continue
        columns = Reader(program.relations[directive.relation], directive, Path(directory), interner).read()
        known = relations.get(directive.relation)
        relations[directive.relation] = columns if known is None else np.concatenate([known, columns], axis=1)
    return Database(symbols, interner.tables(), relations)


class Reader:
    """Reads one relation as one `.input` directive says."""

    def __init__(self, relation: Relation, directive: Directive, directory: Path, interner: Interner) -> None:
        self.relation = relation
        self.interner = interner
        parameters = dict(directive.parameters)
        self.path = directory / parameters.get("filename", f"{relation.name}.facts")
        if parameters.get("IO", "file") != "file":
            raise FactsError(self.path, 0, f"{relation.name} cannot be read by IO={parameters['IO']}, only by IO=file")
        self.is_quoted = parameters.get("rfc4180") == "true"
        self.delimiter = parameters.get("delimiter", "," if self.is_quoted else "\t")
        self.n_headers = int(parameters.get("headers") == "true")
        self.fields = self._fields(parameters)

    def _fields(self, parameters: Mapping[str, str]) -> list[int] | None:
        """Return the field of the file for each attribute, or None for as many fields as attributes, in order."""
        if "columns" not in parameters:
            return None
        fields = parameters["columns"].split(":")
        if len(fields) < self.relation.arity or not all(field.isdecimal() for field in fields):
            raise FactsError(self.path, 0, f'columns="{parameters["columns"]}" names no field for each attribute')
        return [int(field) for field in fields[: self.relation.arity]]

    def read(self) -> Columns:
        """Return the columns [arity, n] of the file."""
        data = self._bytes()
        for _ in range(self.n_headers):
            data = data.partition(b"\n")[2]
        if not self.relation.arity:
            return np.zeros((0, int(bool(data))), np.int64)
        kinds = {column.type.kind for column in self.relation.columns}
        is_plain = self.fields is None and not self.is_quoted and len(self.delimiter.encode()) == 1
        if is_plain and kinds <= set(INTEGERS):
            columns = self._read_integers(data)
            if columns is not None:
                return columns
        return self._read_texts(data)

    def _bytes(self) -> bytes:
        try:
            data = self.path.read_bytes()
            return gzip.decompress(data) if data.startswith(GZIP) else data
        except (OSError, EOFError) as error:
            raise FactsError(self.path, 0, f"cannot read the facts of {self.relation.name}: {error}") from None

    # ---- integers only

    def _read_integers(self, data: bytes) -> Columns | None:
        """Return the columns of a file of decimal integers, or None if something else stands in it."""
        from engine.kernels.text import parse_integers

        text = np.frombuffer(data, np.uint8)
        columns = np.empty((self.relation.arity, data.count(b"\n") + 1), np.int64)
        n, wrong_line = parse_integers(text, ord(self.delimiter), columns)
        if wrong_line:
            return None
        columns = columns[:, :n]
        for column, attribute in zip(columns, self.relation.columns, strict=True):
            row = check_range(column, attribute.type.kind, self.interner.bits) if n else None
            if row is not None:
                self._fail(row, f"'{column[row]}' is out of the range of {attribute.type.kind}")
        return columns

    # ---- any kind

    def _read_texts(self, data: bytes) -> Columns:
        columns = self._split(data)
        encoded = [
            self._encode(column, attribute.type)
            for column, attribute in zip(columns, self.relation.columns, strict=True)
        ]
        return np.array(encoded, np.int64).reshape(self.relation.arity, len(columns[0]))

    def _split(self, data: bytes) -> list[list[str]]:
        """Return the fields of the file by attribute."""
        n_fields = self.relation.arity if self.fields is None else max(self.fields) + 1
        text = data.decode("utf-8", "surrogateescape")
        if not self.is_quoted:
            text = text.replace("\r\n", "\n").removesuffix("\n")
        is_simple = not (self.is_quoted or "," in self.delimiter)
        if is_simple and self._is_regular(text, n_fields):
            flat = text.replace("\n", self.delimiter).split(self.delimiter) if text or n_fields == 1 else []
            fields = [flat[i::n_fields] for i in range(n_fields)] if data else [[] for _ in range(n_fields)]
        else:
            fields = self._split_rows(text, n_fields)
        return fields if self.fields is None else [fields[field] for field in self.fields]

    def _is_regular(self, text: str, n_fields: int) -> bool:
        """Whether every line has as many fields as wanted."""
        delimiter = self.delimiter.encode()
        if len(delimiter) != 1:
            return False
        encoded = np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)
        ends = encoded[(encoded == delimiter[0]) | (encoded == ord("\n"))]
        ends = np.append(ends, ord("\n"))
        if len(ends) % n_fields:
            return False
        ends = ends.reshape(-1, n_fields)
        return bool((ends[:, :-1] == delimiter[0]).all() and (ends[:, -1] == ord("\n")).all())

    def _split_rows(self, text: str, n_fields: int) -> list[list[str]]:
        """Return the fields of the file, line by line; raise FactsError for a line with too few or too many."""
        if self.is_quoted:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))
        else:
            rows = [self._split_line(line) for line in text.split("\n")] if text else []
        for number, row in enumerate(rows):
            if len(row) < n_fields or (self.fields is None and len(row) > n_fields):
                self._fail(number, f"{self.relation.name} has {n_fields} fields, this line {len(row)}")
        return [[row[i] for row in rows] for i in range(n_fields)]

    def _split_line(self, line: str) -> list[str]:
        """Return the fields of a line. A delimiter inside the brackets of a record does not count."""
        parts = line.split(self.delimiter)
        if "," not in self.delimiter or "[" not in line:
            return parts
        fields: list[str] = []
        depth = 0
        for part in parts:
            if depth:
                fields[-1] += self.delimiter + part
            else:
                fields.append(part)
            depth += part.count("[") - part.count("]")
        return fields

    def _encode(self, column: list[str], type: Type) -> np.ndarray:
        """Return a column of texts as it stands in a Database; each distinct text is converted once."""
        values: dict[str, int] = dict.fromkeys(column, 0)
        if type.kind == "symbol":
            values = dict(zip(values, self.interner.symbols.intern(values).tolist(), strict=True))
        else:
            for text in values:
                values[text] = self._value(text, type, column)
        return np.fromiter(map(values.__getitem__, column), np.int64, len(column))

    def _value(self, text: str, type: Type, column: list[str]) -> int:
        try:
            return self.interner.value(text, type)
        except ValueError as error:
            self._fail(column.index(text), f"{error} (type {type.name})")

    def _fail(self, row: int, message: str) -> NoReturn:
        raise FactsError(self.path, row + 1 + self.n_headers, message)
