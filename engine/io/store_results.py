"""Writing what `.output` directives name, as text, JSON, SQLite or Parquet: rows in the order of their values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from engine.io import text_file
from engine.io.directive_files import device, file_name
from engine.io.output_order import OrderedRelation, OrderedRows
from engine.io.value_text import Printer
from engine.language.checked_program import CheckedProgram
from engine.language.syntax import Directive

if TYPE_CHECKING:
    from engine.result import Result

WRITERS = {
    "file": "engine.io.text_file",
    "jsonfile": "engine.io.json_file",
    "sqlite": "engine.io.sqlite_file",
    "parquet": "engine.io.parquet_file",
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
    return b"".join(text_file.lines(rows, {})).decode("utf-8", "replace").split("\n")[:-1]


def write(rows: OrderedRelation, directive: Directive, directory: Path) -> list[str]:
    """Write a relation where the directive says; return lines that go to standard output."""
    parameters, kind = dict(directive.parameters), device(directive)
    if kind == "stdout":
        return text_file.show(rows, parameters)
    import_module(WRITERS[kind]).write(rows, directory / file_name(directive), parameters)
    return []


def size(directive: Directive, result: Result) -> str:
    return f"{directive.relation}\t{result.relation(directive.relation).shape[1]}"
