"""A member's share of the facts: what Spark has sent to its task, encoded.

Ids of texts and records are given here twice: first as they come, then for the whole group, through its dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow

from engine.cluster.communicator import Communicator, all_gather
from engine.cluster.symbol_dictionary import TEXT, Dictionary
from engine.cluster.symbol_needs import constants, needs_texts
from engine.database import Columns, Database
from engine.io.directive_files import Input
from engine.io.facts_error import FactsError
from engine.io.parquet_file import columns_of
from engine.io.text_file import Reader
from engine.io.value_text import Interner
from engine.language.checked_program import CheckedProgram, Relation
from engine.symbols import Symbols

Tables = dict[str, pyarrow.Table]


@dataclass(frozen=True)
class Source:
    """A source of facts, named for messages: lines of text to be read with `parameters`, or columns (None)."""

    name: str
    parameters: dict[str, str] | None = None


def received(batches: Iterable[pyarrow.RecordBatch]) -> Tables:
    """Put together what has come: rows of a relation's name and a stream of Arrow."""
    parts: dict[str, list[pyarrow.Table]] = {}
    for batch in batches:
        for name, payload in zip(batch["relation"].to_pylist(), batch["rows"], strict=True):
            parts.setdefault(name, []).append(pyarrow.ipc.open_stream(payload.as_buffer()).read_all())
    return {name: pyarrow.concat_tables(tables) for name, tables in parts.items()}


def read(
    program: CheckedProgram, tables: Tables, sources: Mapping[str, Source], group: Communicator
) -> tuple[Database, Dictionary]:
    """Return this member's share of the facts, and the dictionary of all texts. All members call it together.

    Raises FactsError where facts do not fit their declaration.
    """
    known = constants(program)
    if any(has_records(program.relations[name]) for name in sources):
        # Each member reads all facts, so that the ids of records agree, and the first one keeps them.
        tables = all_tables(tables, group)
        symbols = Symbols(known)
        database = encoded(program, tables, sources, symbols)
        if group.rank:
            database = Database(symbols, database.records, {n: c[:, :0] for n, c in database.relations.items()})
        return database, Dictionary(group, symbols.texts(range(len(symbols))), [])
    read_here = encoded(program, tables, sources, Symbols())
    texts = read_here.symbols.texts(range(len(read_here.symbols)))
    dictionary = Dictionary(group, known, [pyarrow.array(texts, TEXT)])
    ids = dictionary.encode(pyarrow.array(texts, TEXT))
    relations = {name: renamed(program.relations[name], columns, ids) for name, columns in read_here.relations.items()}
    symbols = dictionary.symbols() if needs_texts(program) else Symbols(known)
    return Database(symbols, {}, relations), dictionary


def encoded(program: CheckedProgram, tables: Tables, sources: Mapping[str, Source], symbols: Symbols) -> Database:
    """Return tables as columns, with symbols and records in the order in which they come."""
    interner = Interner(program.records, symbols, program.number_bits)
    relations = {}
    for name, table in sorted(tables.items()):
        source, relation = sources[name], program.relations[name]
        input = Input(relation, Path(source.name), source.parameters or {}, interner)
        try:
            if source.parameters is None:
                relations[name] = columns_of(input, table)
            else:
                lines = table.column(0).to_pylist()
                relations[name] = Reader(input).parse("".join(f"{line}\n" for line in lines).encode())
        except FactsError as error:
            # The row is one of this member's share only.
            raise FactsError(error.path, 0, error.message) from None
    return Database(symbols, interner.tables(), relations)


def has_records(relation: Relation) -> bool:
    return any(column.type.kind == "record" for column in relation.columns)


def all_tables(tables: Tables, group: Communicator) -> Tables:
    parts = all_gather(group, tables)
    names = sorted({name for part in parts for name in part})
    return {name: pyarrow.concat_tables([part[name] for part in parts if name in part]) for name in names}


def renamed(relation: Relation, columns: Columns, ids: np.ndarray) -> Columns:
    """Return columns with other ids for their symbols."""
    columns = np.array(columns, np.int64)
    for at, field in enumerate(relation.columns):
        if field.type.kind == "symbol":
            columns[at] = ids[columns[at]]
    return columns
