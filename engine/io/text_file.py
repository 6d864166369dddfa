"""Relations as text: one row a line, fields separated by tabs; in files, from standard input or on
standard output.

Parameters: `delimiter`, `headers=true` (the first line holds names), `rfc4180=true` (quoted fields), `escapes=true`
(a symbol's backslashes, tabs and line breaks are written as in string literals); of `.input` also `columns="2:0"`
(which field of the file each attribute is), of `.output` `compress=true` (gzip). Gzip is recognised.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import numpy as np

from engine.atomic_file import replaced
from engine.database import Columns
from engine.io.directive_files import STDIN, Input
from engine.io.facts_error import FactsError
from engine.io.output_order import OrderedRelation, OrderedRows
from engine.io.value_text import ESCAPES, check_range
from engine.language.checked_program import Type
from engine.language.literals import unescape

GZIP = b"\x1f\x8b"
INTEGERS = ("number", "unsigned")
N_ROWS_AT_ONCE = 1 << 16


def read(source: Input) -> Columns:
    """Return the columns of a text file. Raises FactsError with the first line that does not fit its declaration."""
    return Reader(source).read()


class Reader:
    """Reads one relation as one `.input` directive says."""

    def __init__(self, source: Input) -> None:
        self.source, self.relation, self.interner = source, source.relation, source.interner
        parameters = source.parameters
        self.is_quoted = parameters.get("rfc4180") == "true"
        self.is_escaped = parameters.get("escapes") == "true"
        self.delimiter = parameters.get("delimiter", "," if self.is_quoted else "\t")
        self.n_headers = int(parameters.get("headers") == "true")
        fields = parameters.get("columns")
        self.fields = None if fields is None else [int(field) for field in fields.split(":")[: self.relation.arity]]

    def read(self) -> Columns:
        """Return the columns [arity, n] of the file."""
        return self.parse(self._bytes())

    def parse(self, data: bytes) -> Columns:
        """Return the columns [arity, n] of the content of a file."""
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
            path = self.source.path
            data = sys.stdin.buffer.read() if path is STDIN else path.read_bytes()
            return gzip.decompress(data) if data.startswith(GZIP) else data
        except (OSError, EOFError, zlib.error) as error:
            raise FactsError(self.source.path, 0, f"cannot read the facts of {self.relation.name}: {error}") from None

    # ---- integers only

    def _read_integers(self, data: bytes) -> Columns | None:
        """Return the columns of a file of decimal integers, or None if it contains anything else."""
        from engine.kernels.text_lines import parse_integers

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
        """Return True if every line has as many fields as wanted."""
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
            rows = self._quoted_rows(text)
        else:
            rows = [self._split_line(line) for line in text.split("\n")] if text else []
        for number, row in enumerate(rows):
            if len(row) < n_fields or (self.fields is None and len(row) > n_fields):
                self._fail(number, f"{self.relation.name} has {n_fields} fields, this line {len(row)}")
        return [[row[i] for row in rows] for i in range(n_fields)]

    def _quoted_rows(self, text: str) -> list[list[str]]:
        csv.field_size_limit(2**31 - 1)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
        try:
            return list(rows)
        except csv.Error as error:
            self._fail(rows.line_num - 1, f"malformed quotes: {error}")

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
        """Return a column of texts as column values; each distinct text is converted once."""
        values: dict[str, int] = dict.fromkeys(column, 0)
        if type.kind == "symbol":
            texts = [self._unescaped(text, column) for text in values] if self.is_escaped else values
            values = dict(zip(values, self.interner.symbols.intern(texts).tolist(), strict=True))
        else:
            for text in values:
                values[text] = self._value(text, type, column)
        return np.fromiter(map(values.__getitem__, column), np.int64, len(column))

    def _value(self, text: str, type: Type, column: list[str]) -> int:
        try:
            return self.interner.value(text, type)
        except ValueError as error:
            self._fail(column.index(text), f"{error} (type {type.name})")

    def _unescaped(self, text: str, column: list[str]) -> str:
        try:
            return unescape(text)
        except ValueError as error:
            self._fail(column.index(text), str(error))

    def _fail(self, row: int, message: str) -> NoReturn:
        self.source.fail(row + 1 + self.n_headers, message)


# ---- writing


def write(rows: OrderedRelation, path: Path, parameters: dict[str, str]) -> None:
    """Write a relation as a text file."""
    try:
        packed = "compress" in parameters
        with replaced(path) as out, gzip.GzipFile(fileobj=out, mode="wb") if packed else nullcontext(out) as file:
            for header in headers(rows, parameters):
                file.write(header.encode() + b"\n")
            for portion in rows:
                for chunk in lines(portion, parameters):
                    file.write(chunk)
    except OSError as error:
        raise FactsError(path, 0, f"cannot write {rows.relation.name}: {error}") from None


def show(rows: OrderedRelation, parameters: dict[str, str]) -> list[str]:
    """Return the lines that `IO=stdout` prints."""
    body = b"".join(chunk for portion in rows for chunk in lines(portion, parameters))
    top = ["---------------", rows.relation.name, *headers(rows, parameters), "==============="]
    return [*top, *body.decode("utf-8", "replace").split("\n")[:-1], "==============="]


def delimiter_of(parameters: dict[str, str]) -> str:
    return parameters.get("delimiter", "," if parameters.get("rfc4180") == "true" else "\t")


def headers(rows: OrderedRelation, parameters: dict[str, str]) -> list[str]:
    if parameters.get("headers") != "true":
        return []
    return [delimiter_of(parameters).join(column.name for column in rows.relation.columns)]


def lines(rows: OrderedRows, parameters: dict[str, str]) -> Iterator[bytes]:
    """Yield the rows as text, in order."""
    if not rows.types:
        yield b"()\n" * rows.n
        return
    texts = []
    for type, values in zip(rows.types, rows.values, strict=True):
        column = None if values is None else rows.printer.texts(values, type)
        if column is not None and parameters.get("rfc4180") == "true" and type.kind in ("symbol", "record"):
            column = ['"' + text.replace('"', '""') + '"' for text in column]
        if column is not None and parameters.get("escapes") == "true" and type.kind == "symbol":
            column = [text.translate(ESCAPES) for text in column]
        texts.append(column)
    yield from format_columns(rows.ranks, texts, delimiter_of(parameters))


def format_columns(ranks: np.ndarray, texts: Sequence[Iterable[str] | None], delimiter: str) -> Iterator[bytes]:
    """Yield rows as lines: column c of a row is the text number ranks[c] of texts[c], or that integer if it is None."""
    from engine.kernels.text_lines import format_rows

    every: list[bytes] = []
    first = np.full(len(ranks), -1, np.int64)
    for position, column in enumerate(texts):
        if column is not None:
            first[position] = len(every)
            every += [text.encode("utf-8", "surrogateescape") for text in column]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in every], dtype=np.int64)]).astype(np.int64)
    blob = np.frombuffer(b"".join(every), np.uint8)
    between = np.frombuffer(delimiter.encode(), np.uint8)
    widest = max(20, int(np.diff(starts).max(initial=0))) + len(between) + 1
    step = max(1, min(N_ROWS_AT_ONCE, (1 << 26) // (widest * len(ranks))))
    out = np.empty(step * widest * len(ranks), np.uint8)
    for lo in range(0, ranks.shape[1], step):
        n = format_rows(ranks, lo, min(lo + step, ranks.shape[1]), first, starts, blob, between, out)
        yield out[:n].tobytes()
