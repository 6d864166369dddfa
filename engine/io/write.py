"""Writing relations as text: one row a line, in the order of the values.

Rows are ordered by their columns from the left: numbers and floats by value, symbols and records by text. That order
depends on nothing but the rows. Parameters of `.output`: `filename`, `delimiter`, `headers=true`, `rfc4180=true`,
`compress=true` (gzip), `IO=stdout` and `IO=stdoutprintsize`.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.database import Columns
from engine.io.errors import FactsError
from engine.io.values import Printer, bits_float
from engine.language.program import CheckedProgram, Relation, Type
from engine.language.syntax import Directive
from engine.result import Result

N_ROWS_AT_ONCE = 1 << 16


def store(program: CheckedProgram, result: Result, directory: Path | str) -> list[str]:
    """Write what the program's `.output` directives name to the directory; return the lines for standard output.

    Those are the outputs with IO=stdout and the `.printsize` lines. Raises FactsError where a file cannot be written.
    """
    printer = Printer(program.records, result.records, result.symbols)
    lines: list[str] = []
    for directive in program.outputs:
        relation = program.relations[directive.relation]
        writer = Writer(relation, result.relation(relation.name), dict(directive.parameters), printer)
        lines += writer.write(directive, Path(directory))
    lines += [f"{d.relation}\t{result.relation(d.relation).shape[1]}" for d in program.printsizes]
    return lines


def lines(program: CheckedProgram, result: Result, name: str) -> list[str]:
    """Return the rows of one relation as they would be written, one a line."""
    printer = Printer(program.records, result.records, result.symbols)
    writer = Writer(program.relations[name], result.relation(name), {}, printer)
    return b"".join(writer.chunks()).decode("utf-8", "replace").split("\n")[:-1]


class Writer:
    """Writes one relation as one `.output` directive says."""

    def __init__(self, relation: Relation, columns: Columns, parameters: dict[str, str], printer: Printer) -> None:
        self.relation = relation
        self.columns = columns
        self.printer = printer
        self.parameters = parameters
        self.is_quoted = parameters.get("rfc4180") == "true"
        self.delimiter = parameters.get("delimiter", "," if self.is_quoted else "\t")

    def write(self, directive: Directive, directory: Path) -> list[str]:
        """Write the relation where the directive says; return lines that go to standard output."""
        device = self.parameters.get("IO", "file")
        if device == "stdoutprintsize":
            return [f"{self.relation.name}\t{self.columns.shape[1]}"]
        if device == "stdout":
            body = b"".join(self.chunks()).decode("utf-8", "replace").split("\n")[:-1]
            return ["---------------", self.relation.name, *self.headers(), "===============", *body, "==============="]
        compressed = "compress" in self.parameters
        default = f"{self.relation.name}.csv" + ".gz" * compressed
        path = directory / self.parameters.get("filename", default)
        if device != "file":
            raise FactsError(
                path, 0, f"{self.relation.name} cannot be written by IO={device}, only by IO=file or stdout"
            )
        try:
            with gzip.open(path, "wb") if compressed else open(path, "wb") as file:
                self.write_to(file)
        except OSError as error:
            raise FactsError(path, 0, f"cannot write {self.relation.name}: {error}") from None
        return []

    def headers(self) -> list[str]:
        if self.parameters.get("headers") != "true":
            return []
        return [self.delimiter.join(column.name for column in self.relation.columns)]

    def write_to(self, file: BinaryIO) -> None:
        for header in self.headers():
            file.write(header.encode() + b"\n")
        for chunk in self.chunks():
            file.write(chunk)

    def chunks(self) -> Iterator[bytes]:
        """Yield the rows as text, in order."""
        if not self.relation.arity:
            yield b"()\n" * self.columns.shape[1]
            return
        from engine.kernels.text import format_rows

        ranks, texts = [], []
        first = np.full(self.relation.arity, -1, np.int64)
        for position, column in enumerate(self.columns):
            type = self.relation.columns[position].type
            if not self._is_decimal(type, column):
                first[position] = len(texts)
                column, column_texts = self.rank(column, type)
                texts += column_texts
            ranks.append(column)
        rows = sort_rows(np.array(ranks, np.int64).reshape(self.columns.shape))
        encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
        starts = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)]).astype(np.int64)
        blob = np.frombuffer(b"".join(encoded), np.uint8)
        delimiter = np.frombuffer(self.delimiter.encode(), np.uint8)
        widest = max(20, int(np.diff(starts).max(initial=0))) + len(delimiter) + 1
        step = max(1, min(N_ROWS_AT_ONCE, (1 << 26) // (widest * len(rows))))
        out = np.empty(step * widest * len(rows), np.uint8)
        for lo in range(0, rows.shape[1], step):
            n = format_rows(rows, lo, min(lo + step, rows.shape[1]), first, starts, blob, delimiter, out)
            yield out[:n].tobytes()

    def _is_decimal(self, type: Type, column: np.ndarray) -> bool:
        """Whether the column's integers are written as they are."""
        return type.kind == "number" or (type.kind == "unsigned" and column.min(initial=0) >= 0)

    def rank(self, column: np.ndarray, type: Type) -> tuple[np.ndarray, list[str]]:
        """Return the column as positions in the order of its distinct values, and their texts in that order."""
        distinct, positions = np.unique(column, return_inverse=True)
        values = distinct.tolist()
        texts = self.printer.texts(values, type)
        if type.kind == "float":
            keys: list = [bits_float(value) for value in values]
        elif type.kind == "unsigned":
            keys = [int(text) for text in texts]
        else:
            keys = texts
        order = sorted(range(len(values)), key=keys.__getitem__)
        ranks = np.empty(len(values), np.int64)
        ranks[order] = np.arange(len(values))
        return ranks[positions], [self._quote(texts[i], type) for i in order]

    def _quote(self, text: str, type: Type) -> str:
        if self.is_quoted and type.kind in ("symbol", "record"):
            return '"' + text.replace('"', '""') + '"'
        return text


def sort_rows(rows: np.ndarray) -> np.ndarray:
    """Return distinct rows [arity, n] in lexicographic order.

    Where the columns' ranges fit in 63 bits together, rows are packed in one integer and sorted as such.
    """
    if rows.shape[1] < 2:
        return rows
    low = rows.min(axis=1)
    widths = [
        int(high - lowest).bit_length() for lowest, high in zip(low.tolist(), rows.max(axis=1).tolist(), strict=True)
    ]
    if sum(widths) > 63:
        return rows[:, np.lexsort(rows[::-1])]
    packed = np.zeros(rows.shape[1], np.int64)
    for column, lowest, width in zip(rows, low, widths, strict=True):
        packed <<= width
        packed |= column - lowest
    packed.sort()
    result = np.empty_like(rows)
    for position in reversed(range(len(rows))):
        result[position] = (packed & ((1 << widths[position]) - 1)) + low[position]
        packed >>= widths[position]
    return result
