"""Aggregate relations: one row for each group, in partitions by a hash of the group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from engine.database import Columns, EvaluationError
from engine.kernels.aggregates import publish
from engine.storage.aggregate_partition import AggregatePartition, Shape
from engine.storage.arrangement import Arrangement
from engine.storage.changed_groups import grown
from engine.storage.key_tables import HashedKeys
from engine.storage.partition import Block, Partition
from engine.storage.relation import GATHERED_ROWS, RAGGED, Relation


class AggregateRelation(Relation):
    """A relation whose rows change in place while its recursion is evaluated; later strata read it `finished`.

    What is inserted are contributions (see `Shape`). The delta of an iteration is the groups that changed in it, with
    their values at its end, which readers see from then on. There are no earlier versions.
    """

    def __init__(self, name: str, shape: Shape) -> None:
        self.shape = shape
        super().__init__(name, shape.arity, shape.dtype)
        self.every = np.arange(shape.width)
        self.group = tuple(shape.group.tolist())
        # Sums of floats are not: contributors are added in order, but what follows meanwhile may be rounded apart.
        self.is_exact = all(column.kind in ("min", "max") or column.of != "float" for column in shape.aggregated)
        self.is_keyed = any(column.keys for column in shape.aggregated)

    def clear(self) -> None:
        super().clear()
        self.taken: dict[AggregatePartition, np.ndarray] = {}
        self.discriminating = self.shape.group
        self.partitions: list[AggregatePartition] = [AggregatePartition(self.shape)]
        self.present: dict[int, np.ndarray] = {}
        self.n_numbered, self.is_numbered = 0, False

    @property
    def sums_by_key(self) -> bool:
        """True if it has one aggregated column, a sum over contributors whose order depends on no value."""
        first, *more = self.shape.aggregated
        return not more and first.kind == "sum" and (first.of != "float" or first.order is not None)

    @property
    def split_when_large(self) -> bool:
        """True if rows are looked up in tables of hashes: an array by value is as fast undivided."""
        return self.is_keyed or isinstance(self.partitions[0].keys, HashedKeys)

    @property
    def is_extremum(self) -> bool:
        """True if it has the least or greatest integers of 32 bits in one column, for groups of one value or two."""
        first, *more = self.shape.aggregated
        is_least = first.kind in ("min", "max") and first.of == "number" and self.dtype == np.int32
        return is_least and not more and 1 <= len(self.group) <= 2

    # ---- iterations

    @property
    def has_new_rows(self) -> bool:
        return any(partition.changes.n for partition in self.partitions)

    def before_advance(self) -> list[Callable[[], None]]:
        """Bring the totals of partitions up to date, if there are many: a few are left to `advance`."""
        if sum(partition.changes.n for partition in self.partitions) <= GATHERED_ROWS:
            return []
        return [partial(self._take, partition) for partition in self.partitions if partition.changes.n]

    def _take(self, partition: AggregatePartition) -> None:
        self.taken[partition] = partition.take_changes()

    def advance(self) -> list[Callable[[], None]]:
        for partition in self.partitions:
            if partition.changes.n:
                self._take(partition)
        taken = ((partition, self.taken.get(partition, ())) for partition in self.partitions)
        self.changes, self.taken, self._delta = [(p, groups) for p, groups in taken if len(groups)], {}, None
        self.n_delta = sum(len(groups) for _, groups in self.changes)
        self.n = sum(partition.n_shown for partition in self.partitions)
        self.magnitude = (self.n.bit_length() + 2) // 3
        if not self.is_numbered:
            return []
        new = self._number()
        return [
            *(partial(self._write_present, partition, groups) for partition, groups in self.changes),
            *(partial(arrangement.add, new) for arrangement in self.arrangements.values()),
        ]

    @property
    def delta(self) -> list[Block]:
        """The rows of the groups that changed, gathered when asked for: not all that follow changes read rows."""
        if self._delta is None:
            blocks = [Block(partition.rows(groups), 0, len(groups)) for partition, groups in self.changes]
            if len(blocks) > 1 and self.n_delta <= GATHERED_ROWS:
                blocks = [Block(np.concatenate([block.rows for block in blocks], axis=1), 0, self.n_delta)]
            self._delta = blocks
        return self._delta

    @delta.setter
    def delta(self, blocks: list[Block]) -> None:
        self._delta, self.changes = blocks, []

    def settle(self) -> None:
        self.delta, self.n_delta = [], 0

    def hold_at_most(self, n_rows: int) -> None:
        """AggregatePartition are fewer than what contributes to them: they are counted between chunks."""

    def finish(self) -> Relation:
        """Return the rows as a relation of their own."""
        finished = Relation(self.name, self.arity, self.dtype)
        partitions = []
        for groups in self.partitions:
            partitions.append(Partition(self.arity, self.dtype))
            partitions[-1].adopt(groups.shown())
        finished.discriminating = self.discriminating
        finished.replace(partitions, self.bits)
        return finished

    # ---- reading

    def blocks(self) -> list[Block]:
        return [Block(p.shown(), 0, p.n_shown) for p in self.partitions if p.n_shown]

    def columns(self) -> Columns:
        return np.concatenate([partition.shown() for partition in self.partitions], axis=1)

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> PresentValues:
        """Return the arrangement by some of the group's columns; `old` is of no avail."""
        key = tuple(key)
        with self.arranging:
            rows = self.numbered()
            found = self.arrangements.get(key)
            if found is None:
                found = self.arrangements[key] = PresentValues(self.shape, key, self.present)
                found.add(rows)
            if payload and found.arena is None:
                found.build_arena(rows)
        return found

    def numbered(self) -> list[Block]:
        """All rows, with the number of the group in aggregated columns.

        From now on `present` holds the values that readers see, for each such column, by number.
        """
        if not self.is_numbered:
            self.is_numbered = True
            self._number()
            for partition in self.partitions:
                self._write_present(partition, np.arange(partition.n_shown))
        return [self._numbered_rows(partition, 0) for partition in self.partitions if len(partition.numbers)]

    def _number(self) -> list[Block]:
        """Give groups that have none yet numbers, and room in `present`; return their rows as `numbered` does."""
        new = []
        for partition in self.partitions:
            known, n = len(partition.numbers), partition.n_shown
            if n > known:
                more = np.arange(self.n_numbered, self.n_numbered + n - known, dtype=self.dtype)
                partition.numbers, self.n_numbered = (
                    np.concatenate([partition.numbers, more]),
                    self.n_numbered + n - known,
                )
                new.append(self._numbered_rows(partition, known))
        for column in self.shape.aggregated:
            self.present[column.column] = grown(
                self.present.get(column.column, np.empty(0, self.dtype)), self.n_numbered
            )
        return new

    def _numbered_rows(self, partition: AggregatePartition, lo: int) -> Block:
        rows = partition.rows(np.arange(lo, len(partition.numbers)))
        for column in self.shape.aggregated:
            rows[column.column] = partition.numbers[lo:]
        return Block(rows, 0, rows.shape[1])

    def _write_present(self, partition: AggregatePartition, groups: np.ndarray) -> None:
        """Write the values of some groups to where arrangements read them, by the number of the group."""
        for at, column in enumerate(self.shape.aggregated):
            shown = partition.accumulators[at].shown.view(self.dtype)
            publish(shown, groups, partition.numbers, self.present[column.column])

    def private_arrangement(self, key: Sequence[int]) -> Arrangement:
        return ArrivedValues(self.shape, key)

    # ---- writing

    def contributions(self, rows: Columns) -> Columns:
        """Return rows, given as plain values, as contributions."""
        if rows.shape[1] and any(column.keys and not column.tagged for column in self.shape.aggregated):
            raise EvaluationError(
                f"{self.name}: facts of a relation that sums need '.input {self.name}' in the program"
            )
        keys = np.zeros((self.shape.n_keys, rows.shape[1]), rows.dtype)
        for column in self.shape.aggregated:
            if column.tagged:
                keys[column.keys[0] - self.arity] = 1
        return np.concatenate([rows, keys])

    def split(self, bits: int) -> None:
        """Divide the groups over 2**bits partitions; they keep their numbers."""
        by, more = self.position(self.discriminating), 1 << (bits - self.bits)
        self.partitions = [part for partition in self.partitions for part in partition.divide(by, bits, more)]
        self.bits = bits

    def position(self, columns: np.ndarray) -> np.ndarray:
        return np.array([self.group.index(column) for column in columns], np.int64)

    def replace(self, partitions: Sequence[AggregatePartition], bits: int = RAGGED) -> None:
        self.partitions, self.arrangements = list(partitions), {}
        self.bits = 0 if len(partitions) == 1 else bits
        self.n, self.delta, self.n_delta = sum(partition.n_shown for partition in partitions), [], 0
        self.magnitude = (self.n.bit_length() + 2) // 3


class PresentValues(Arrangement):
    """An arrangement by columns of the group: rows hold the number of their group, by which values are looked up."""

    holds_values = False

    def __init__(self, shape: Shape, key: Sequence[int], present: dict[int, np.ndarray]) -> None:
        super().__init__(key, shape.arity, shape.dtype)
        self.shape, self.present = shape, present
        aggregated = {column.column for column in shape.aggregated}
        self.looked_up = [(at, column) for at, column in enumerate(self.payload.tolist()) if column in aggregated]

    def pairs(
        self, chunk: Columns, n: int, key: np.ndarray, upto: int, take: np.ndarray, payload: np.ndarray, out: Columns
    ) -> Iterator[int]:
        places = [
            (len(take) + q, column) for at, column in self.looked_up for q in np.flatnonzero(payload == at).tolist()
        ]
        for found in super().pairs(chunk, n, key, upto, take, payload, out):
            for register, column in places:
                out[register, :found] = self.present[column][out[register, :found]]
            yield found


class ArrivedValues(PresentValues):
    """An arrangement of the rows that have come to one place: of the rows of a group, the last is the present one."""

    def __init__(self, shape: Shape, key: Sequence[int]) -> None:
        super().__init__(shape, key, {column.column: np.empty(0, shape.dtype) for column in shape.aggregated})
        self.groups = HashedKeys(len(shape.group), shape.dtype)

    def add(self, blocks: Sequence[Block]) -> None:
        super().add([self._number(block) for block in blocks])

    def _number(self, block: Block) -> Block:
        """Store the values of a block; return the rows of groups that are new, with numbers for values."""
        known, (rows, lo, hi) = self.groups.n, block
        numbers = self.groups.intern(rows, lo, hi, self.shape.group)
        for column, values in self.present.items():
            if self.groups.n > len(values):
                values = self.present[column] = grown(values, self.groups.n)
            values[numbers] = rows[column, lo:hi]
        new = np.empty((self.shape.arity, self.groups.n - known), self.dtype)
        new[self.shape.group] = self.groups.columns[:, known : self.groups.n]
        new[list(self.present)] = np.arange(known, self.groups.n)
        return Block(new, 0, new.shape[1])
