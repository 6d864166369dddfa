"""The storage of relations and records as they are declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from engine.database import Columns
from engine.evaluation.insert_facts import checked_columns
from engine.evaluation.value_order import Declarations
from engine.language.checked_program import Relation as Declared
from engine.language.checked_program import Type
from engine.plan.value_encoding import dtype_of
from engine.storage.accumulator import AggregatedColumn
from engine.storage.aggregate_partition import Shape
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.equivalence_union_find import Equivalence
from engine.storage.record_table import RecordTable
from engine.storage.relation import Relation


def new_relation(declared: Declared, bits: int, order: Callable[[Columns, Sequence[Type]], np.ndarray]) -> Relation:
    """Return an empty relation; `order` puts rows in the order of their values."""
    if declared.aggregated:
        return AggregateRelation(declared.name, shape_of(declared, bits, order))
    dtype = dtype_of((column.type.kind for column in declared.columns), bits)
    if "eqrel" in declared.qualifiers:
        return Equivalence(declared.name, dtype)
    return Relation(declared.name, declared.arity, dtype)


def shape_of(declared: Declared, bits: int, order: Callable[[Columns, Sequence[Type]], np.ndarray]) -> Shape:
    """Return how a relation with aggregates is stored: contributors of its sums stand behind its columns, in turn."""
    types = [*(c.type for c in declared.columns), *(t for a in declared.aggregated for t in a.contributors)]
    dtype = dtype_of((type.kind for type in types), bits)
    columns, width = [], declared.arity
    for a in declared.aggregated:
        keys = tuple(range(width, width + len(a.contributors)))
        by_key = None if a.by_value else partial(order, types=a.contributors)
        kind = declared.columns[a.column].type.kind
        columns.append(AggregatedColumn(declared.name, a.column, a.kind, kind, dtype, bits, keys, a.tagged, by_key))
        width += len(keys)
    group = np.array(declared.group, np.int64)
    return Shape(declared.arity, dtype, group, tuple(columns), width - declared.arity)


def record_table(program: Declarations, name: str, held: Columns | RecordTable | None) -> RecordTable:
    """The table of a record type: that of a view, or one with the records given as columns."""
    if isinstance(held, RecordTable):
        return held
    record = program.records[name]
    fields = [*record.fields, *(f for branch in record.branches for f in branch.fields)]
    dtype = dtype_of((f.type.kind for f in fields), program.number_bits)
    given = None if held is None else checked_columns(name, len(record.fields), held)
    return RecordTable(len(record.fields), dtype, given)
