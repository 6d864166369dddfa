"""The last operators of a plan in one: rows that a join makes are stored as they are made, and no chunk holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.evaluation.operators import Compute, Constant, Insert, Join, JoinInsert, Operator, Source
from engine.kernels.dense_extrema import ADD, ARENA, CHUNK, CONSTANT, COPY, GREATEST, LEAST, MULTIPLY, PRESENT
from engine.storage.aggregate_partition import AggregatePartition
from engine.storage.aggregate_relation import AggregateRelation, PresentValues
from engine.storage.arrangement import Readable
from engine.storage.hash_tables import Joined

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker

OPERATIONS = {"+": ADD, "*": MULTIPLY, "min": LEAST, "max": GREATEST}
NOTHING = np.empty(0, np.int32)


def fused(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """Let a join right before an insertion, or before the arithmetic for the value of an extremum, do both."""
    *rest, insert = operators
    if not isinstance(insert, Insert):
        return tuple(operators)
    if isinstance(insert.relation, AggregateRelation):
        *before, last = rest or (None,)
        compute = last if isinstance(last, Compute) and before else None
        join = before[-1] if compute is not None else last
        if type(join) is Join and insert.relation.is_extremum and (sides := sides_of(join, compute, insert)):
            return (*(before[:-1] if compute is not None else before), JoinImprove(join, compute, insert, sides))
    elif rest and type(rest[-1]) is Join:
        return (*rest[:-1], JoinInsert(rest[-1], insert))
    return tuple(operators)


def sides_of(join: Join, compute: Compute | None, insert: Insert) -> list[tuple[int, int]] | None:
    """Return the sources of the two values of the group, the first maybe a constant, and of the value's two operands.

    None if the arithmetic is not for that value, or of another kind.
    """
    relation: AggregateRelation = insert.relation
    group = [int(insert.take[c]) for c in relation.group]
    value = int(insert.take[relation.shape.aggregated[0].column])
    operands: Sequence[Source] = (value, value)
    if compute is not None:
        if compute.register != value or value in group or compute.arithmetic not in OPERATIONS:
            return None
        operands = compute.operands
    sources = [*([Constant(0)] if len(group) == 1 else []), *group, *operands]
    made = len(join.take) + len(join.payload)
    for source in sources:
        if not (-(2**31) <= source.value < 2**31 if isinstance(source, Constant) else source < made):
            return None
    return [side_of(join, source) for source in sources] if len(sources) == 4 else None


def side_of(join: Join, source: Source) -> tuple[int, int]:
    if isinstance(source, Constant):
        return CONSTANT, source.value
    carried = len(join.take)
    return (CHUNK, join.take[source]) if source < carried else (ARENA, join.payload[source - carried])


class JoinImprove(Join):
    """A join that ends a plan, whose rows contribute to least or greatest values, right where groups are dense.

    `rest` are the operators that do the same step by step.
    """

    __slots__ = ("relation_improved", "rest", "operation", "sides", "major")
    expands = False

    def __init__(self, join: Join, compute: Compute | None, insert: Insert, sides: list[tuple[int, int]]) -> None:
        for name in Join.__slots__:
            setattr(self, name, getattr(join, name))
        self.relation_improved = insert.relation
        self.rest = (insert,) if compute is None else (compute, insert)
        self.operation = COPY if compute is None else OPERATIONS[compute.arithmetic]
        self.sides = np.array(sides, np.int64)
        self.major = int(self.sides[0, 0] != CHUNK)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        by, groups = worker.arrangement(self.arrangement), worker.single_partition(self.relation_improved)
        if groups is not None and isinstance(by, Readable) and chunk.dtype == by.arena.dtype == np.int32:
            done = self.improve(groups, by, worker, chunk, n)
            if done == n:
                return 0
            chunk, n = np.ascontiguousarray(chunk[:, done:n]), n - done
        for rows, m in self.chunks(worker, chunk, n):
            for operator in self.rest:
                m = operator.apply(worker, rows, m)
        return 0

    def improve(self, groups: AggregatePartition, by: Readable, worker: Worker, chunk: Columns, n: int) -> int:
        """Let groups within reach take what the join makes, if they are dense; return how many rows are done."""
        sides, present = self.sides, NOTHING
        if isinstance(by, PresentValues):
            sides = sides.copy()
            for at, column in by.looked_up:
                sides[(sides[:, 0] == ARENA) & (sides[:, 1] == at), 0], present = PRESENT, by.present[column]
        starts, lengths = by.matches(chunk, n, self.key, self.upto)
        joined = Joined(starts, lengths, n, chunk, by.arena, sides)
        done, made, added = groups.improve_joined(joined, present, self.operation, self.major)
        worker.produced += made
        worker.added += added
        return done
