"""Facts: columns that are given for a relation, checked and stored."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from engine.database import Columns, EvaluationError
from engine.evaluation.execution import Execution
from engine.kernels.columns import increases
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.arrangement import Block
from engine.storage.memory import empty
from engine.storage.relation import Relation


def store_facts(execution: Execution, relation: Relation, columns: Columns) -> None:
    """Insert facts. Raises EvaluationError if their shape or a value does not fit the relation."""
    columns = fitting_columns(relation, columns)
    if isinstance(relation, AggregateRelation):
        columns = relation.contributions(columns)
    insert_columns(execution, relation, columns)


def adopt_facts(execution: Execution, relation: Relation, columns: Columns) -> None:
    """Take the facts of a relation that no rule adds to: as they are, if their order shows that they are distinct."""
    columns = np.require(fitting_columns(relation, columns), relation.dtype, ["C"])
    if columns.size and (increases(columns, False) or increases(columns, True)):
        held = empty(columns.shape, columns.dtype)
        held[...] = columns
        relation.partitions[0].adopt(held)
    else:
        insert_columns(execution, relation, columns)


class Shaped(Protocol):
    """A relation in any form."""

    @property
    def name(self) -> str: ...

    @property
    def arity(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...


def fitting_columns(relation: Shaped, columns: Columns) -> Columns:
    """Return the facts given for a relation. Raises EvaluationError if their shape or a value does not fit it."""
    columns = checked_columns(relation.name, relation.arity, columns)
    if columns.size and columns.dtype != relation.dtype and relation.dtype == np.int32:
        if columns.min() < -(2**31) or columns.max() >= 2**31:
            raise EvaluationError(f"{relation.name}: a value needs more than 32 bits")
    return columns


def insert_columns(execution: Execution, relation: Relation, columns: Columns) -> None:
    columns = np.require(columns, relation.dtype, ["C", "W"])
    execution.load(relation, Block(columns, 0, columns.shape[1]))


def checked_columns(name: str, arity: int, columns: Columns) -> Columns:
    """Return the columns given for a relation or a record type. Raises EvaluationError if their shape is wrong."""
    if columns.ndim != 2 or len(columns) != arity:
        raise EvaluationError(f"{name}: expected an array of {arity} columns, got shape {columns.shape}")
    return columns
