"""Relations as tables of SQLite databases, named as the relation; columns are read by position.

Symbols are TEXT, numbers INTEGER, floats REAL (a NaN is NULL); records, branches and unsigned numbers from 2⁶³ on are
TEXT, written as in text files.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.database import Columns
from engine.io.directive_files import Input
from engine.io.facts_error import FactsError
from engine.io.output_order import OrderedRelation, OrderedRows
from engine.io.value_text import bits_float

AFFINITIES = {"symbol": "TEXT", "number": "INTEGER", "float": "REAL"}


def read(source: Input) -> Columns:
    """Return the columns of a table or view. Raises FactsError, with the number of the row."""
    relation = source.relation
    try:
        if not source.path.exists():
            raise sqlite3.Error("there is no such file")
        with closing(sqlite3.connect(source.path)) as database:
            cursor = database.execute(f"SELECT * FROM {quoted(relation.name)}")
            n_columns, rows = len(cursor.description), cursor.fetchall()
    except sqlite3.Error as error:
        source.fail(0, f"cannot read the facts of {relation.name}: {error}")
    if not relation.arity:
        return np.zeros((0, int(bool(rows))), np.int64)
    if n_columns != relation.arity:
        source.fail(0, f"{relation.name} has {relation.arity} columns, its table {n_columns}")
    columns = zip(*rows, strict=True) if rows else [()] * relation.arity
    encoded = [
        source.texts([text_of(value) for value in column], attribute.type)
        for column, attribute in zip(columns, relation.columns, strict=True)
    ]
    return np.array(encoded, np.int64).reshape(relation.arity, len(rows))


def text_of(value: object) -> str:
    return "nan" if value is None else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def write(rows: OrderedRelation, path: Path, parameters: dict[str, str]) -> None:
    """Make the relation's table anew, in a database that may hold others."""
    relation = rows.relation
    name = quoted(relation.name)
    declared = [f"{quoted(c.name)} {AFFINITIES.get(c.type.kind, '')}" for c in relation.columns] or ['"holds"']
    try:
        with closing(sqlite3.connect(path)) as database, database:
            found = database.execute("SELECT type FROM sqlite_master WHERE name = ?", (relation.name,)).fetchone()
            if found is not None:
                database.execute(f"DROP {found[0]} {name}")
            database.execute(f"CREATE TABLE {name} ({', '.join(declared)})")
            places = ", ".join("?" * len(declared))
            for portion in rows:
                columns = [values_of(portion, position) for position in range(relation.arity)] or [[1] * portion.n]
                database.executemany(f"INSERT INTO {name} VALUES ({places})", zip(*columns, strict=True))
    except (sqlite3.Error, UnicodeError) as error:
        raise FactsError(path, 0, f"cannot write {relation.name}: {error}") from None


def values_of(rows: OrderedRows, position: int) -> list:
    """Return a column as values of SQLite."""
    type = rows.types[position]
    values = rows.values[position]
    if values is None:
        return rows.ranks[position].tolist()
    if type.kind == "float":
        converted: list = [bits_float(value) for value in values]
    else:
        converted = rows.printer.texts(values, type)
    return [converted[rank] for rank in rows.ranks[position].tolist()]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
