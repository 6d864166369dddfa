"""Writing what `.output` directives name, as text, JSON, SQLite or Parquet: rows in the order of their values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from engine.io import textfile
from engine.io.ordering import OrderedRelation, OrderedRows
from engine.io.place import device, file_name
from engine.io.values import Printer
from engine.language.program import CheckedProgram
from engine.language.syntax import Directive
from engine.result import Result

WRITERS = {
    "file": "engine.io.textfile",
    "jsonfile": "engine.io.jsonfile",
    "sqlite": "engine.io.sqlitefile",
    "parquet": "engine.io.parquetfile",
}
"""The module whose `write` writes an OrderedRelation, by `IO`."""


def store(program: CheckedProgram, result: Result, directory: Path | str) -> list[str]:
    """Write what the program's `.output` directives name to the directory; return the lines for standard output.

    Those are the outputs with IO=stdout and the `.printsize` lines. Raises FactsError where a file cannot be written.
    """
    printer = Printer(program.records, result.records, result.symbols)
    printed: list[str] = []
    for directive in program.outputs:
        if device(directive) == "stdoutprintsize":
            printed.append(size(directive, result))
            continue
        rows = OrderedRelation(program.relations[directive.relation], result.relation(directive.relation), printer)
        printed += write(rows, directive, Path(directory))
    return printed + [size(directive, result) for directive in program.printsizes]


def lines(program: CheckedProgram, result: Result, name: str) -> list[str]:
    """Return the rows of one relation as they would be written, one a line."""
    printer = Printer(program.records, result.records, result.symbols)
    rows = OrderedRows(program.relations[name], result.relation(name), printer)
    return b"".join(textfile.lines(rows, {})).decode("utf-8", "replace").split("\n")[:-1]


def write(rows: OrderedRelation, directive: Directive, directory: Path) -> list[str]:
    """Write a relation where the directive says; return lines that go to standard output."""
    parameters, kind = dict(directive.parameters), device(directive)
    if kind == "stdout":
        return textfile.show(rows, parameters)
    import_module(WRITERS[kind]).write(rows, directory / file_name(directive), parameters)
    return []


def size(directive: Directive, result: Result) -> str:
    return f"{directive.relation}\t{result.relation(directive.relation).shape[1]}"
