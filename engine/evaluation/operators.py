"""Operators: the steps of a plan, each driving kernels over one chunk of rows.

A chunk is an array [registers, rows] with the first n rows in use. Operators in place fill registers or drop rows;
operators that expand write a new chunk, again and again until their input is used up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.kernels.columns import compress, scan
from engine.kernels.csr_runs import LENGTH, OLD
from engine.storage.arrangement import Arrangement, Readable
from engine.storage.hash_tables import Joined
from engine.storage.key_tables import HashedKeys
from engine.storage.record_table import RecordTable
from engine.storage.relation import Relation

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker


LOOKED_AT = 256
"""Number of rows of a chunk sampled to decide if looking for duplicates pays."""


class Segment:
    """The chunks that one expanding operator writes: how many registers, how wide, and which buffer of a worker."""

    def __init__(self, depth: int) -> None:
        self.depth, self.width, self.dtype = depth, 0, np.dtype(np.int32)

    def register(self, wide: bool) -> int:
        """Give out a register."""
        if wide:
            self.dtype = np.dtype(np.int64)
        self.width += 1
        return self.width - 1


@dataclass(frozen=True, slots=True)
class Constant:
    """An operand that is the same for every row."""

    value: int


Source = int | Constant
"""A register, or a constant."""


def values(source: Source, chunk: Columns, n: int) -> np.ndarray | int:
    return source.value if isinstance(source, Constant) else chunk[source, :n]


class Operator:
    """A step in place: returns how many rows are left."""

    expands = False
    __slots__ = ()

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        raise NotImplementedError


class Expansion(Operator):
    """A step that writes new chunks."""

    expands = True
    __slots__ = ()

    def chunks(self, worker: Worker, chunk: Columns, n: int) -> Iterator[tuple[Columns, int]]:
        raise NotImplementedError


class Scan:
    """Read rows of a column store, on some columns, where some equal a constant or one another."""

    __slots__ = ("segment", "columns", "constants", "left", "right", "take")

    def __init__(
        self, segment: Segment, equal: Sequence[tuple[int, int]], same: Sequence[tuple[int, int]], take: Sequence[int]
    ) -> None:
        self.segment = segment
        self.columns = np.array([c for c, _ in equal], np.int64)
        self.constants = np.array([v for _, v in equal], np.int64)
        self.left, self.right = (np.array([pair[i] for pair in same], np.int64) for i in (0, 1))
        self.take = np.array(take, np.int64)

    def chunks(self, worker: Worker, rows: Columns, lo: int, hi: int) -> Iterator[tuple[Columns, int]]:
        out = worker.buffer(self.segment)
        step = out.shape[1]
        for at in range(lo, hi, step):
            n = scan(rows, at, min(at + step, hi), self.columns, self.constants, self.left, self.right, self.take, out)
            if n:
                yield out, n


class Fill(Operator):
    """Set a register to a constant."""

    __slots__ = ("register", "value")

    def __init__(self, register: int, value: int) -> None:
        self.register, self.value = register, value

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        chunk[self.register, :n] = self.value
        return n


class Join(Expansion):
    """Pair each row with the rows of an arrangement that have its key, or only with those of earlier iterations.

    `relation` names what is arranged.
    """

    __slots__ = ("relation", "arrangement", "upto", "key", "segment", "take", "payload")

    def __init__(
        self,
        relation: str,
        arrangement: Arrangement,
        old: bool,
        key: Sequence[int],
        segment: Segment,
        take: Sequence[int],
        payload: Sequence[int],
    ) -> None:
        self.relation = relation
        self.arrangement, self.upto, self.segment = arrangement, OLD if old else LENGTH, segment
        self.key, self.take = np.array(key, np.int64), np.array(take, np.int64)
        at = {c: i for i, c in enumerate(arrangement.payload.tolist())}
        self.payload = np.array([at[c] for c in payload], np.int64)

    def chunks(self, worker: Worker, chunk: Columns, n: int) -> Iterator[tuple[Columns, int]]:
        by, out = worker.arrangement(self.arrangement), worker.buffer(self.segment)
        for found in by.pairs(chunk, n, self.key, self.upto, self.take, self.payload, out):
            yield out, found


InsertJoined = Callable[[Joined], tuple[int, int]]
"""Inserts the pairs that a join makes; returns how many it made, and how many were new."""


class JoinInsert(Join):
    """A join that ends a plan: its rows go right into a relation, where that is at hand and holds pairs.

    So no chunk of them is written and read again: most rows of a recursion are known already. Where the partition of a
    row depends on what the join carries over, it is the rows before the join that go to partitions.
    """

    __slots__ = ("insert", "sides")
    expands = False

    def __init__(self, join: Join, insert: Insert) -> None:
        for name in Join.__slots__:
            setattr(self, name, getattr(join, name))
        self.insert = insert
        carried = len(join.take)
        sides = [(0, join.take[r]) if r < carried else (1, join.payload[r - carried]) for r in insert.take]
        self.sides = np.array(sides, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        by, relation = worker.arrangement(self.arrangement), self.insert.relation
        if isinstance(by, Readable) and by.holds_values and chunk.dtype == by.arena.dtype == np.int32:
            partition = worker.single_partition(relation)
            if partition is not None and partition.paired and (worker.inserts_alone or partition.is_shared):
                insert = partition.insert_joined if worker.inserts_alone else partition.insert_joined_beside
                self.insert_into(insert, by, worker, chunk, n)
                return 0
            buffer = worker.join_buffer(self, by, len(chunk))
            if buffer is not None:
                buffer.put(worker, chunk, n)
                return 0
        for rows, m in self.chunks(worker, chunk, n):
            self.insert.apply(worker, rows, m)
        return 0

    def insert_into(self, insert: InsertJoined, by: Readable, worker: Worker, chunk: Columns, n: int) -> None:
        """Join the first n rows of a chunk, and insert what that makes."""
        matches = by.matches(chunk, n, self.key, self.upto)
        made, added = insert(Joined(*matches, n, chunk, by.arena, self.sides))
        worker.produced += made
        worker.added += added


class Exists(Operator):
    """Keep the rows whose key an arrangement holds, or those whose key it does not hold."""

    __slots__ = ("relation", "arrangement", "upto", "key", "wanted", "live")

    def __init__(
        self,
        relation: str,
        arrangement: Arrangement,
        old: bool,
        key: Sequence[int],
        wanted: bool,
        live: Sequence[int],
    ) -> None:
        self.relation = relation
        self.arrangement, self.upto, self.wanted = arrangement, OLD if old else LENGTH, wanted
        self.key, self.live = np.array(key, np.int64), np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        return worker.arrangement(self.arrangement).keep(chunk, n, self.key, self.upto, self.wanted, self.live)


class Contains(Operator):
    """Keep the rows that a relation holds whole, or those it does not hold."""

    __slots__ = ("relation", "key", "wanted", "live")

    def __init__(self, relation: Relation, key: Sequence[int], wanted: bool, live: Sequence[int]) -> None:
        self.relation, self.wanted = relation, wanted
        self.key, self.live = np.array(key, np.int64), np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        mask = self.relation.find(chunk, n, self.key)
        return compress(mask if self.wanted else ~mask, n, chunk, self.live)


class Distinct(Operator):
    """Keep one of the rows of a chunk that agree on all registers in use, if the first of them show that many do."""

    __slots__ = ("live",)

    def __init__(self, live: Sequence[int]) -> None:
        self.live = np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        for seen in (min(n, LOOKED_AT), n):
            keys = HashedKeys(len(self.live), chunk.dtype)
            ids = keys.intern(chunk, 0, seen, self.live)
            if 2 * keys.n > seen:
                return n
        return compress(np.diff(np.maximum.accumulate(ids), prepend=-1) > 0, n, chunk, self.live)


class Filter(Operator):
    """Keep the rows where a predicate on some operands holds."""

    __slots__ = ("predicate", "operands", "live")

    def __init__(self, predicate: Callable, operands: Sequence[Source], live: Sequence[int]) -> None:
        self.predicate, self.operands, self.live = predicate, tuple(operands), np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        mask = self.predicate(*[values(operand, chunk, n) for operand in self.operands])
        return compress(mask, n, chunk, self.live)


class Compute(Operator):
    """Set a register to a function of some operands; drop the rows for which it has no value.

    `arithmetic` is the function's name if it is one of numbers to numbers.
    """

    __slots__ = ("function", "operands", "register", "live", "arithmetic")

    def __init__(
        self, function: Callable, operands: Sequence[Source], register: int, live: Sequence[int], arithmetic: str
    ) -> None:
        self.function, self.operands, self.register = function, tuple(operands), register
        self.arithmetic = arithmetic
        self.live = np.array(live, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        chunk[self.register, :n], defined = self.function(*[values(operand, chunk, n) for operand in self.operands])
        if defined is None or defined.all():
            return n
        return compress(np.broadcast_to(defined, n).copy(), n, chunk, self.live)


class Generate(Expansion):
    """Pair each row with each of the values a generator gives for its operands."""

    __slots__ = ("function", "operands", "segment", "take")

    def __init__(self, function: Callable, operands: Sequence[Source], segment: Segment, take: Sequence[int]) -> None:
        self.function, self.operands, self.segment = function, tuple(operands), segment
        self.take = np.array(take, np.int64)

    def chunks(self, worker: Worker, chunk: Columns, n: int) -> Iterator[tuple[Columns, int]]:
        out = worker.buffer(self.segment)
        room, width = out.shape[1], len(self.take)
        operands = [np.broadcast_to(values(operand, chunk, n), n) for operand in self.operands]
        for row, generated in self.function(operands, room):
            m = len(generated)
            out[:width, :m] = chunk[self.take][:, row]
            out[width, :m] = generated
            yield out, m


class Construct(Operator):
    """Set a register to the record with the fields in some registers."""

    __slots__ = ("table", "fields", "register")

    def __init__(self, table: RecordTable, fields: Sequence[int], register: int) -> None:
        self.table, self.fields, self.register = table, np.array(fields, np.int64), register

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        chunk[self.register, :n] = self.table.construct(chunk, n, self.fields)
        return n


class Destructure(Operator):
    """Drop the rows where a record is nil; set registers to fields of the others."""

    __slots__ = ("table", "record", "live", "fields")

    def __init__(self, table: RecordTable, record: int, live: Sequence[int], fields: Sequence[tuple[int, int]]) -> None:
        self.table, self.record, self.live, self.fields = table, record, np.array(live, np.int64), tuple(fields)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        n = compress(chunk[self.record, :n] != 0, n, chunk, self.live)
        if n:
            ids = chunk[self.record, :n]
            for position, register in self.fields:
                chunk[register, :n] = self.table.field(position, ids)
        return n


class Insert(Operator):
    """Add the rows on some registers to a relation; the end of a plan."""

    __slots__ = ("relation", "take")

    def __init__(self, relation: Relation, take: Sequence[int]) -> None:
        self.relation, self.take = relation, np.array(take, np.int64)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        worker.emit(self.relation, chunk, n, self.take)
        return 0


def drive(operators: Sequence[Operator], worker: Worker, chunk: Columns, n: int, at: int = 0) -> None:
    """Run the operators from `at` on over a chunk, to the end."""
    worker.watch()
    while n and at < len(operators):
        operator = operators[at]
        at += 1
        if operator.expands:
            for expanded, m in operator.chunks(worker, chunk, n):
                drive(operators, worker, expanded, m, at)
            return
        n = operator.apply(worker, chunk, n)
