"""Relations as Parquet files, through pyarrow (the extra `parquet`). Columns are read by name, or else by position.

Symbols are strings, numbers integers of their width, floats doubles; records and branches are strings, written as in
text files. A column in which some text is no UTF-8, such as a file's name, is binary.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from engine.atomic_file import replaced
from engine.database import Columns
from engine.io.directive_files import FactSource, Input
from engine.io.facts_error import FactsError
from engine.io.output_order import OrderedRelation, OrderedRows
from engine.language.checked_program import Type

if TYPE_CHECKING:
    import pyarrow

INTEGERS = ("number", "unsigned")


def arrow(path: Path, relation: str) -> ModuleType:
    """Return pyarrow. Raises FactsError that says what to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        message = f"{relation}: Parquet needs pyarrow; install it with: pip install pyarrow"
        raise FactsError(path, 0, message) from None
    return pyarrow


def read(source: Input) -> Columns:
    """Return the columns of a Parquet file. Raises FactsError, with the number of the row."""
    pyarrow = arrow(source.path, source.relation.name)
    try:
        table = pyarrow.parquet.read_table(source.path)
    except (OSError, pyarrow.ArrowException) as error:
        source.fail(0, f"cannot read the facts of {source.relation.name}: {error}")
    return columns_of(source, table)


def columns_of(source: Input, table: pyarrow.Table) -> Columns:
    """Return the columns of a table of Arrow. Raises FactsError, with the number of the row."""
    relation = source.relation
    if not relation.arity:
        return np.zeros((0, int(table.num_rows > 0)), np.int64)
    names = [column.name for column in relation.columns]
    if set(names) <= set(table.column_names):
        table = table.select(names)
    elif table.num_columns != relation.arity:
        source.fail(0, f"{relation.name} has {relation.arity} columns, the file {table.num_columns}")
    encoded = [
        encode(source, column, attribute.type)
        for column, attribute in zip(table.columns, relation.columns, strict=True)
    ]
    return np.array(encoded, np.int64).reshape(relation.arity, table.num_rows)


def encode(source: FactSource, column: pyarrow.ChunkedArray, type: Type) -> np.ndarray:
    """Return a column of Parquet as a column of the relation."""
    import pyarrow
    from pyarrow import types

    if column.null_count:
        row = column.is_null().index(True).as_py() + 1
        source.fail(row, f"a value is missing (type {type.name})")
    if type.kind in INTEGERS and types.is_decimal(column.type) and not column.type.scale:
        column = whole_numbers(source, column, type)  # Spark has no unsigned type.
    if type.kind in INTEGERS and types.is_integer(column.type):
        return source.integers(column.to_numpy(), type)
    if type.kind == "float" and (types.is_floating(column.type) or types.is_integer(column.type)):
        values = column.to_numpy().astype(np.float64)
        return np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    if types.is_dictionary(column.type) and types.is_string(column.type.value_type):
        column = column.cast(pyarrow.string())
    is_binary = types.is_binary(column.type) or types.is_large_binary(column.type)
    if type.kind in INTEGERS or not (is_binary or types.is_string(column.type) or types.is_large_string(column.type)):
        source.fail(0, f"a column of {column.type} is read as {type.kind} (type {type.name})")
    distinct = column.combine_chunks().dictionary_encode()
    if isinstance(distinct, pyarrow.ChunkedArray):
        distinct = distinct.combine_chunks()
    indices = distinct.indices.to_numpy()
    rows = np.full(len(distinct.dictionary), len(indices))
    np.minimum.at(rows, indices, np.arange(len(indices)))
    texts = distinct.dictionary.to_pylist()
    if is_binary:
        texts = [text.decode("utf-8", "surrogateescape") for text in texts]
    return source.texts(texts, type, rows)[indices]


def whole_numbers(source: FactSource, column: pyarrow.ChunkedArray, type: Type) -> pyarrow.ChunkedArray:
    """Return decimals without fraction as integers of 64 bits."""
    import pyarrow

    try:
        return column.cast(pyarrow.uint64() if type.kind == "unsigned" else pyarrow.int64())
    except pyarrow.ArrowInvalid:
        source.fail(
            0, f"a column of {column.type} has a value that is not a valid {type.kind} of 64 bits (type {type.name})"
        )


def write(rows: OrderedRelation, path: Path, parameters: dict[str, str]) -> None:
    """Write a relation as a Parquet file."""
    pyarrow = arrow(path, rows.relation.name)
    try:
        with replaced(path) as file:
            writer = None
            for portion in rows:
                table = table_of(pyarrow, portion)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(file, schema_of(pyarrow, rows, table))
                writer.write_table(table.cast(writer.schema))
            if writer is not None:
                writer.close()
    except OSError as error:
        raise FactsError(path, 0, f"cannot write {rows.relation.name}: {error}") from None


def schema_of(pyarrow: ModuleType, rows: OrderedRelation, first: pyarrow.Table) -> pyarrow.Schema:
    """Return the types of all portions, by the first: texts may be found in a later one that are no Unicode."""
    schema = first.schema
    for position, field in enumerate(schema if first.num_rows < rows.columns.shape[1] else ()):
        if field.type == pyarrow.string():
            texts = rows.printer.texts(rows.distinct(position), rows.types[position])
            if any(is_no_unicode(text) for text in texts):
                schema = schema.set(position, field.with_type(pyarrow.binary()))
    return schema


def is_no_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def table_of(pyarrow: ModuleType, rows: OrderedRows) -> pyarrow.Table:
    """Return a relation as a table of Arrow."""
    names = [column.name for column in rows.relation.columns] or ["holds"]
    columns = [column_of(pyarrow, rows, position) for position in range(rows.relation.arity)]
    return pyarrow.table(columns or [pyarrow.array([True] * rows.n, pyarrow.bool_())], names=names)


def column_of(pyarrow: ModuleType, rows: OrderedRows, position: int) -> pyarrow.Array:
    """Return a column of a relation as one of Arrow."""
    type, values = rows.types[position], rows.values[position]
    if type.kind == "float":
        return pyarrow.array(rows.encoded(position).view(np.float64))
    if type.kind == "unsigned":
        return pyarrow.array(rows.encoded(position).view(np.uint64))
    if values is None:
        return pyarrow.array(rows.ranks[position])
    texts = rows.printer.texts(values, type)
    ranks = pyarrow.array(rows.ranks[position])
    try:
        return pyarrow.array(texts, pyarrow.string()).take(ranks)
    except UnicodeEncodeError:
        encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
        return pyarrow.array(encoded, pyarrow.binary()).take(ranks)
