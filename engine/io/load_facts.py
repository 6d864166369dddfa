"""Reading what `.input` directives name: text, JSON, SQLite and Parquet files, and standard input."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from engine.database import Columns, Database
from engine.io.directive_files import STDIN, Input, device, file_name
from engine.io.value_text import Interner
from engine.language.checked_program import CheckedProgram
from engine.symbols import Symbols

READERS = {
    "file": "engine.io.text_file",
    "jsonfile": "engine.io.json_file",
    "sqlite": "engine.io.sqlite_file",
    "parquet": "engine.io.parquet_file",
    "stdin": "engine.io.text_file",
}
"""The module whose `read` reads an Input, by `IO`."""


def load(program: CheckedProgram, directory: Path | str, symbols: Symbols | None = None) -> Database:
    """Return the facts that the program's `.input` directives name, from files in the directory.

    Files that no output depends on are not read. Raises FactsError with the file and line (or row) of the first row
    that does not fit its declaration.
    """
    symbols = Symbols() if symbols is None else symbols
    interner = Interner(program.records, symbols, program.number_bits)
    relations: dict[str, Columns] = {}
    needed = program.needed
    for directive in program.inputs:
        if directive.relation not in needed:
            continue
        relation = program.relations[directive.relation]
        path = STDIN if device(directive) == "stdin" else Path(directory) / file_name(directive)
        source = Input(relation, path, dict(directive.parameters), interner)
        columns = import_module(READERS[device(directive)]).read(source)
        known = relations.get(directive.relation)
        relations[directive.relation] = columns if known is None else np.concatenate([known, columns], axis=1)
    return Database(symbols, interner.tables(), relations)
