"""A partition of an aggregate relation: one row for each group, whose values change in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from engine.database import Columns
from engine.kernels.aggregates import show
from engine.kernels.dense_extrema import OUTSIDE, improve_joined
from engine.kernels.hash_tables import partition_of
from engine.storage import memory
from engine.storage.accumulator import Accumulator, AggregatedColumn
from engine.storage.changed_groups import ChangedGroups
from engine.storage.extremum_accumulator import Extremum
from engine.storage.float_sum_accumulator import FloatSum
from engine.storage.hash_tables import Joined
from engine.storage.key_tables import HashedKeys, ValueKeys
from engine.storage.pair_key_table import PairKeys, denser
from engine.storage.partition import Block
from engine.storage.sum_accumulator import IntegerSum

FIRST_PAIRS = 32
"""Number of groups, up to less than twice as many, that are found by their hash."""


@dataclass(frozen=True)
class Shape:
    """The columns of an aggregate relation: `group` and the `aggregated` ones.

    A contribution is a row of the relation with `n_keys` further columns, the contributors of its sums.
    """

    arity: int
    dtype: np.dtype
    group: np.ndarray
    aggregated: tuple[AggregatedColumn, ...]
    n_keys: int

    @property
    def width(self) -> int:
        """The number of columns of a contribution."""
        return self.arity + self.n_keys


def accumulator(spec: AggregatedColumn) -> Accumulator:
    """Return an empty accumulator for a column."""
    if spec.kind in ("min", "max"):
        return Extremum(spec)
    return FloatSum(spec) if spec.of == "float" else IntegerSum(spec)


class AggregatePartition:
    """Groups in order of arrival, with a table on the columns of the group: by value where it is one and dense, or two.

    `major` is the one of two columns that joins mostly keep while the other changes, `checked` the number of groups at
    which it was last asked whether they are dense.
    `numbers` are given by the relation to its first groups. What readers see, `rows`, are the values at the last
    `take_changes`: contributions inserted since wait. It knows nothing of iterations or workers: inserting is safe from
    several threads, taking changes is for the partition's owner.
    """

    __slots__ = ("shape", "keys", "major", "checked", "accumulators", "changes", "n_shown", "numbers", "lock")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        by_value = len(shape.group) == 1
        self.keys = ValueKeys(shape.dtype) if by_value else HashedKeys(len(shape.group), shape.dtype)
        self.major, self.checked = 0, FIRST_PAIRS
        self.accumulators: list[Accumulator] = [accumulator(column) for column in shape.aggregated]
        self.changes, self.n_shown, self.lock = ChangedGroups(), 0, Lock()
        self.numbers = np.empty(0, shape.dtype)

    paired = is_shared = False
    """A join cannot write to it directly, nor several threads at the same time."""
    matrix_axis = None
    """It has no matrix of bits."""

    @property
    def working_set(self) -> int:
        """The bytes that insertion goes through in no order."""
        return self.keys.nbytes + sum(each.working_set for each in self.accumulators)

    @property
    def n_bytes(self) -> int:
        """The memory it takes."""
        held = [self.keys.columns, self.numbers, *(array for each in self.accumulators for array in each.arrays())]
        return self.working_set + sum(array.nbytes for array in held)

    @property
    def n(self) -> int:
        """The number of entries in the largest of the tables."""
        return max(self.keys.n, *(each.n_contributors for each in self.accumulators))

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add the contributions `rows[take, lo:hi]`; return how many groups they are the first to change."""
        for column in self.shape.aggregated:
            if column.of == "float":
                numbers = ~np.isnan(rows[take[column.column], lo:hi].view(np.float64))
                if not numbers.all():
                    rows = np.ascontiguousarray(rows[take, lo:hi][:, numbers])
                    lo, hi, take = 0, rows.shape[1], np.arange(len(take))
        with self.lock:
            known, before = self.keys.n, self.changes.n
            groups = self._intern(rows, lo, hi, take[self.shape.group])
            if self.keys.n > len(self.changes.dirty):
                self._reserve(self.keys.n)
            for each in self.accumulators:
                each.add(rows, lo, hi, take, groups, known, self.changes)
            return self.changes.n - before

    def improve_joined(self, joined: Joined, present: np.ndarray, operation: int, major: int) -> tuple[int, int, int]:
        """Let the rows that a join makes contribute; `operation` gives their value, see `kernels.dense_extrema`.

        Returns how many rows of the chunk are done, how many rows they made and how many groups those are the first to
        change. Only where groups are dense, and then as far as each group is within the range of those before, rows are
        done: the others are to be inserted.
        """
        with self.lock:
            self.major, before, total, i, j = major, self.changes.n, 0, 0, 0
            while i < joined.n and j != OUTSIDE and not isinstance(self.keys, HashedKeys):
                self._reserve(self.keys.n + 1)
                self.keys.reserve(self.keys.n + 1)
                i, j, made = self._improve(joined, present, operation, i, j)
                total += made
            return i, total, self.changes.n - before

    def _improve(self, joined: Joined, present: np.ndarray, operation: int, i: int, j: int) -> tuple[int, int, int]:
        (each,), changes, keys = self.accumulators, self.changes, self.keys
        known, least = (keys.n, changes.n), each.spec.kind == "min"
        arrays = keys.places, keys.columns, each.best, least, changes.dirty, changes.listed
        i, j, keys.n, changes.n, made = improve_joined(tuple(joined), i, j, present, operation, *arrays, known)
        return i, j, made

    def _intern(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        """Return the numbers of the groups `rows[take, lo:hi]`, in the table that suits them best."""
        if isinstance(self.keys, HashedKeys):
            if len(take) == 2 and self.keys.n + hi - lo >= 2 * self.checked:
                self.checked = self.keys.n + hi - lo
                self.keys = denser(self.keys, rows, lo, hi, take, self.major) or self.keys
        elif not self.keys.accepts(rows, lo, hi, take):
            wider = denser(self.keys, rows, lo, hi, take, self.major) if isinstance(self.keys, PairKeys) else None
            self.keys = wider or self.keys.hashed()
        return self.keys.intern(rows, lo, hi, take)

    def take_changes(self) -> np.ndarray:
        """Show the present values; return the groups whose row is new or has changed since the last time."""
        groups = self.changes.take()
        differs = groups >= self.n_shown
        for each in self.accumulators:
            show(each.current(groups), each.shown, groups, differs)
        self.n_shown = self.keys.n
        return groups if differs.all() else groups[differs]

    def rows(self, groups: np.ndarray) -> Columns:
        """Return the rows of some groups as readers see them."""
        values = [each.shown[groups] for each in self.accumulators]
        return self._rows([column[groups] for column in self.keys.columns], values)

    def _rows(self, columns: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> Columns:
        shape = self.shape
        out = memory.empty((shape.arity, len(values[0])), shape.dtype)
        for column, found in zip(shape.group, columns, strict=True):
            out[column] = found
        for each, found in zip(self.accumulators, values, strict=True):
            out[each.spec.column] = found.view(shape.dtype)
        return out

    def reopen(self) -> None:
        """Have all groups count as changed again."""
        self.changes.take()
        self.changes.list_all(self.keys.n)
        self.n_shown = 0

    def take_delta(self) -> Block | None:
        """Take the changes; return the rows of the groups that changed, if there are any."""
        groups = self.take_changes() if self.changes.n else ()
        return Block(self.rows(groups), 0, len(groups)) if len(groups) else None

    def rest(self) -> None:
        """Nothing is inserted for now; values that change in place are not spilled."""

    def finish(self) -> None:
        """All contributions are in: free what only inserting needs."""
        for each in self.accumulators:
            each.finish()

    def shown(self) -> Columns:
        """Return all rows as readers see them."""
        n = self.n_shown
        return self._rows(self.keys.columns[:, :n], [each.shown[:n] for each in self.accumulators])

    def divide(self, by: np.ndarray, bits: int, n_parts: int) -> list[AggregatePartition]:
        """Return the groups in n_parts, by the last of `bits` bits of a hash of the group's columns at positions `by`.

        Each part keeps the order of arrival, and the numbers of its groups.
        """
        parts = np.empty(self.keys.n, np.int32)
        partition_of(self.keys.columns, 0, self.keys.n, by, bits, parts)
        parts &= n_parts - 1
        order = np.argsort(parts, kind="stable")
        chosen = np.split(order, np.cumsum(np.bincount(parts, minlength=n_parts))[:-1])
        divided = zip(*(each.parts(chosen) for each in self.accumulators), strict=True)
        return [self._part(groups, list(each)) for groups, each in zip(chosen, divided, strict=True)]

    def _part(self, chosen: np.ndarray, accumulators: Sequence[Accumulator]) -> AggregatePartition:
        part = AggregatePartition(self.shape)
        part.major = self.major
        columns = np.ascontiguousarray(self.keys.columns[:, chosen])
        part._intern(columns, 0, len(chosen), np.arange(len(columns)))
        part.accumulators, part.changes = list(accumulators), self.changes.part(chosen)
        part._reserve(len(part.changes.dirty))
        # The order of arrival is kept: rows that have been shown come first.
        part.n_shown = int(np.count_nonzero(chosen < self.n_shown))
        part.numbers = self.numbers[chosen[chosen < len(self.numbers)]]
        return part

    def _reserve(self, n: int) -> None:
        """Make room for n groups, but for those of the table."""
        self.changes.reserve(n)
        for each in self.accumulators:
            each.reserve(len(self.changes.dirty))
