"""A member's part of the results."""

from __future__ import annotations

import io

import numpy as np
import pyarrow
import pyarrow.parquet

from engine.cluster.member import Member
from engine.cluster.symbol_dictionary import Dictionary
from engine.io import text_file
from engine.io.output_order import OrderedRows
from engine.io.parquet_file import table_of
from engine.io.value_text import Printer
from engine.language.checked_program import Relation
from engine.symbols import Symbols

SPARK_TYPES = {"symbol": "string", "record": "string", "float": "double", "unsigned": "decimal(20, 0)"}
ARROW_TYPES = {"unsigned": pyarrow.decimal128(20, 0), "number": pyarrow.int64()}


def rows_of(member: Member, dictionary: Dictionary, name: str) -> OrderedRows:
    """Return this member's part of a relation with the texts of its symbols. All members call it together."""
    relation, columns, symbols = member.program.relations[name], member.part(name), member.symbols
    texts = [at for at, field in enumerate(relation.columns) if field.type.kind == "symbol"]
    if texts and len(symbols) < len(dictionary):
        distinct, places = np.unique(columns[texts], return_inverse=True)
        columns = columns.copy()
        columns[texts] = places.reshape(len(texts), -1)
        symbols = Symbols(dictionary.decode(distinct).to_pylist())
    records = {name: table.columns for name, table in member.records.items()}
    return OrderedRows(relation, columns, Printer(member.program.records, records, symbols))


def table(rows: OrderedRows, number_bits: int) -> pyarrow.Table:
    """Return rows with the types that a DataFrame of them has (see `schema`)."""
    found = table_of(pyarrow, rows)
    types = [ARROW_TYPES.get(type.kind, found.field(i).type) for i, type in enumerate(rows.types)]
    if number_bits == 32:
        types = [pyarrow.int32() if type.kind == "number" else t for type, t in zip(rows.types, types, strict=True)]
    return found.cast(pyarrow.schema(zip(found.column_names, types, strict=True))) if types else found


def schema(relation: Relation, number_bits: int) -> str:
    """The columns of a relation as Spark names types."""
    types = {**SPARK_TYPES, "number": "int" if number_bits == 32 else "bigint"}
    return ", ".join(f"`{c.name}` {types[c.type.kind]}" for c in relation.columns) or "holds boolean"


def parquet(rows: OrderedRows) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table_of(pyarrow, rows), out)
    return out.getvalue()


def tsv(rows: OrderedRows) -> bytes:
    return b"".join(text_file.lines(rows, {}))


FORMATS = {"parquet": parquet, "tsv": tsv}
"""Writers of parts by format, which is also the suffix of the file."""
