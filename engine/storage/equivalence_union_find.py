"""Equivalence relations: classes of elements instead of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import LENGTH
from engine.kernels.union_find import (
    count_new_pairs,
    join_classes,
    keep_old,
    label_all,
    label_pairs,
    write_new_pairs,
    write_pairs,
    write_runs,
)
from engine.storage.arrangement import Arrangement, Block, Readable
from engine.storage.key_tables import HashedKeys
from engine.storage.memory import empty
from engine.storage.partition import Partition
from engine.storage.relation import Relation

FIRST_ELEMENTS = 64
ONE, OTHER = np.array([0], np.int64), np.array([1], np.int64)


class Equivalence(Relation):
    """A binary relation closed to an equivalence, stored as classes: n elements take O(n) space, not n².

    Rows inserted wait in a partition until the next iteration begins, which joins the classes of their two sides. Joins
    read classes through `ClassArrangement`s; pairs are written out only where a rule or an output scans the relation.
    A delta is the pairs that joined classes add.
    """

    splits = False

    def __init__(self, name: str, dtype: np.dtype) -> None:
        super().__init__(name, 2, dtype)

    def clear(self) -> None:
        self._delta: list[Block] | None = []
        super().clear()
        self.keys = HashedKeys(1, self.dtype)
        self.label, self.old_label = np.empty(0, np.int32), np.empty(0, np.int32)
        self.following, self.head, self.tail = (np.empty(0, np.int32) for _ in range(3))
        self.runs, self.old_runs = np.empty((0, 3), np.int32), np.empty((0, 3), np.int32)
        self.arena: Columns = np.empty((1, FIRST_ELEMENTS), self.dtype)
        self.top = 0
        self.changed = np.empty(0, np.int32)
        self._pairs: list[Block] | None = None

    # ---- iterations

    def advance(self) -> list[Callable[[], None]]:
        waiting, had_delta = self.partitions[0], self.n_delta > 0
        self.settle()
        if waiting.n:
            self.partitions = [Partition(2, self.dtype)]
            self._join(waiting.rows, waiting.n)
        changed = had_delta or self.n_delta > 0
        return [partial(a.add, self.delta) for a in self.arrangements.values()] if changed else []

    def settle(self) -> None:
        if len(self.changed):
            keep_old(*self._lists(), self.label, self.runs, self.old_label, self.old_runs)
            self.changed = self.changed[:0]
            if self.top > 4 * self.keys.n + FIRST_ELEMENTS:
                self.top = 0
                self._write_runs(self.classes())
                self.old_runs[:] = self.runs
        self.n_delta, self._delta = 0, []

    def finish(self) -> Relation:
        self.settle()
        return self

    def exceeds(self, n_rows: int) -> bool:
        """Elements and waiting pairs are what costs memory, not the pairs of a class."""
        return self.keys.n + self.partitions[0].n > n_rows

    def _lists(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.changed, self.following, self.head

    def _join(self, rows: Columns, n: int) -> None:
        """Join the classes of the two sides of n rows, and count the pairs that this adds."""
        known = self.keys.n
        left, right = (self.keys.intern(rows, 0, n, column) for column in (ONE, OTHER))
        self._add_elements(known, self.keys.n)
        joined = np.empty(n, np.int32)
        m = join_classes(left, right, self.label, self.following, self.head, self.tail, self.runs, joined)
        grown = np.concatenate([joined[:m], np.arange(known, self.keys.n, dtype=np.int32)])
        self.changed = np.unique(self.label[grown])
        if len(self.changed):
            self._write_runs(self.changed)
            self.n_delta = int(count_new_pairs(*self._lists(), self.runs, self.old_label, self.old_runs))
            self.n += self.n_delta
            self.magnitude = (self.n.bit_length() + 2) // 3
            self._delta = self._pairs = None

    def _add_elements(self, known: int, n: int) -> None:
        if n > len(self.label):
            room = max(n, FIRST_ELEMENTS, 2 * len(self.label)) - len(self.label)
            for name in ("label", "old_label", "following", "head", "tail", "runs", "old_runs"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros((room, *array.shape[1:]), np.int32)]))
        own = np.arange(known, n)
        self.label[own] = self.head[own] = self.tail[own] = self.following[own] = own
        self.old_label[own] = -1
        self.runs[own, LENGTH] = 1

    def _write_runs(self, classes: np.ndarray) -> None:
        """Write the values of classes to the end of the arena: readers of old runs find theirs where they were."""
        size = self.top + int(self.runs[classes, LENGTH].sum()) + 4
        if size > self.arena.shape[1]:
            bigger = empty((1, 2 * size), self.dtype)
            bigger[:, : self.top] = self.arena[:, : self.top]
            self.arena = bigger
        values = self.keys.columns[0]
        self.top = write_runs(classes, self.following, self.head, values, self.arena, self.top, self.runs)

    # ---- reading

    def classes(self) -> np.ndarray:
        """The classes, each by the element that labels it."""
        return np.unique(self.label[: self.keys.n])

    def fan_out(self, n_columns: int) -> float:
        """Return the average number of rows that agree with a row on `n_columns` columns, itself included."""
        if n_columns == 2 or not self.n:
            return 1.0
        sizes = self.runs[self.classes(), LENGTH].astype(float)
        return float((sizes**3).sum() / (sizes**2).sum()) if n_columns else float(self.n)

    @property
    def delta(self) -> list[Block]:
        """The pairs of the delta, written out when first asked for."""
        if self._delta is None:
            rows = empty((2, self.n_delta), self.dtype)
            write_new_pairs(*self._lists(), self.runs, self.arena, self.old_label, self.old_runs, rows)
            self._delta = [Block(rows, 0, self.n_delta)] if self.n_delta else []
        return self._delta

    @delta.setter
    def delta(self, blocks: list[Block]) -> None:
        self._delta = blocks

    def blocks(self) -> list[Block]:
        if self._pairs is None:
            self._pairs = self._written(self.classes(), self.runs)
        return self._pairs

    def old_blocks(self) -> list[Block]:
        labels = np.unique(self.old_label[: self.keys.n])
        return self._written(labels[labels >= 0], self.old_runs)

    def _written(self, classes: np.ndarray, runs: np.ndarray) -> list[Block]:
        rows = empty((2, int((runs[classes, LENGTH].astype(np.int64) ** 2).sum())), self.dtype)
        n = write_pairs(classes, runs, self.arena, rows)
        return [Block(rows, 0, n)] if n else []

    def columns(self) -> Columns:
        return next((block.rows for block in self.blocks()), np.empty((2, 0), self.dtype))

    def represented(self) -> Columns:
        """Each element, with the least of its class: as many rows as there are elements, which generate all pairs."""
        values, label = self.keys.columns[0, : self.keys.n], self.label[: self.keys.n]
        least = np.full(len(label), np.iinfo(self.dtype).max, self.dtype)
        np.minimum.at(least, label, values)
        return np.array([values, least[label]], self.dtype)

    def find(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        return self.locate_pairs(rows, n, take, self.label) >= 0

    def locate(self, rows: Columns, n: int, take: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the class, or -1, of each of the first n rows' value in one column."""
        found = self.keys.find(rows, n, take)
        label_all(found, label)
        return found

    def locate_pairs(self, rows: Columns, n: int, take: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the class that the two values of each of the first n rows share, or -1."""
        found = self.keys.find(rows, n, take[:1])
        label_pairs(found, self.keys.find(rows, n, take[1:]), label)
        return found

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> ClassArrangement | Arrangement:
        return ClassArrangement(self, key, old) if key else super().arrangement(key, payload=payload, old=old)

    # ---- writing

    def insert(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> int:
        """Add rows; return how many were new."""
        rows = np.ascontiguousarray(rows[take, lo:hi])
        rows = np.ascontiguousarray(rows[:, ~self.find(rows, hi - lo, self.every)], self.dtype)
        return self.partitions[0].insert(rows, 0, rows.shape[1], self.every)

    insert_beside = insert


class ClassArrangement(Readable):
    """An equivalence read by one column or by both: the members of a class are the run of each of them.

    The classes are those of now, or of before the last batch. Read as an `Arrangement` is.
    """

    def __init__(self, relation: Equivalence, key: Sequence[int], old: bool) -> None:
        self.relation, self.old, self.dtype = relation, old, relation.dtype
        self.key = np.array(key, np.int64)
        self.payload = np.array([c for c in (0, 1) if c not in key], np.int64)

    @property
    def runs(self) -> np.ndarray:
        return self.relation.old_runs if self.old else self.relation.runs

    @property
    def arena(self) -> Columns:
        return self.relation.arena

    def locate(self, chunk: Columns, n: int, registers: np.ndarray) -> np.ndarray:
        """Return the class, or -1, of each of the first n rows of a chunk, whose key is in `registers`."""
        label = self.relation.old_label if self.old else self.relation.label
        find = self.relation.locate if len(registers) == 1 else self.relation.locate_pairs
        return find(chunk, n, registers, label)
