"""A query on any Datalog program and facts in files, and on the results of a batch."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import engine
from analyzer.engine_errors import coded_errors
from analyzer.errors import AnalyzeError
from analyzer.queries.answers import Answers
from analyzer.queries.query import Query
from analyzer.queries.tree_query import extension_of, read

if TYPE_CHECKING:
    import sqlite3

DATABASE = "findings.sqlite"
TABLES = ("repositories", "findings", "files")


def ask_program(program: Path, facts: Path, query: Query, number_bits: int = 32, threads: int | None = None) -> Answers:
    """Answer a query on the program of a file, and facts as `analyze run` reads them. Raises AnalyzeError."""
    with coded_errors(program):
        checked = engine.compile_file(program, number_bits)
        extension = extension_of(checked, query)
        needed = engine.answering(checked.extended(extension))
        result = engine.evaluate(needed, engine.load(needed, facts), threads=threads, asked=[engine.ANSWERS])
    return read(result, extension).answers(query.limit)


def load_program(path: Path, facts: Path, number_bits: int = 32) -> tuple[engine.CheckedProgram, engine.Database]:
    """Return the program of a file, and all of its facts. Raises AnalyzeError."""
    with coded_errors(path):
        program = engine.compile_file(path, number_bits)
        return program, engine.load(program, facts)


def ask_loaded(
    path: Path, program: engine.CheckedProgram, database: engine.Database, query: Query, threads: int | None = None
) -> Answers:
    """Answer a query on a program, from a file at `path`, and its facts. Raises AnalyzeError."""
    extension = extension_of(program, query)
    with coded_errors(path):
        needed = engine.answering(program.extended(extension))
        result = engine.evaluate(needed, database, threads=threads, asked=[engine.ANSWERS])
    return read(result, extension).answers(query.limit)


def ask_batch(directory: Path, query: Query, threads: int | None = None) -> Answers:
    """Answer a query on the repositories, findings and files of a batch. Raises AnalyzeError."""
    import sqlite3

    path = directory / DATABASE
    if not path.is_file():
        help = f"give the directory that 'analyze batch -o' has written; it holds {DATABASE}"
        raise AnalyzeError("A001", f"cannot read {path}: no such file", help=help)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            columns = {table: columns_of(database, table) for table in TABLES}
            program = engine.compile(engine.Source("<batch>", declarations(columns)), number_bits=64)
            extension = extension_of(program, query)
            needed = engine.answering(program.extended(extension))
            tables = {name: rows_of(database, name, columns[name]) for name in TABLES if name in needed.relations}
    except sqlite3.Error as error:
        raise AnalyzeError("A001", f"cannot read {path}: {error}") from None
    with coded_errors(path):
        result = engine.evaluate(needed, engine.facts(needed, tables), threads=threads, asked=[engine.ANSWERS])
    return read(result, extension).answers(query.limit)


def columns_of(database: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the columns of a table with their types in Datalog."""
    found = database.execute(f"pragma table_info({table})").fetchall()
    return {name: "number" if type == "INTEGER" else "symbol" for _, name, type, *_ in found}


def declarations(columns: dict[str, dict[str, str]]) -> str:
    """Return the tables as declarations."""
    return "\n".join(
        f".decl {table}({', '.join(f'{name}: {type}' for name, type in held.items())})"
        for table, held in columns.items()
    )


def rows_of(database: sqlite3.Connection, table: str, columns: dict[str, str]) -> list[tuple[str | int, ...]]:
    """Return the rows of a table; a missing value is an empty text, or 0."""
    missing = ["" if type == "symbol" else 0 for type in columns.values()]
    return [
        tuple(other if value is None else value for value, other in zip(row, missing, strict=True))
        for row in database.execute(f"select * from {table}")
    ]
