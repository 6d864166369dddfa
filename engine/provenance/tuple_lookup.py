"""The tuples of a maintained program, found by any of their columns, a few at a time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from engine.database import Columns
from engine.incremental.bounded_recursion import BoundedRecursion
from engine.incremental.extremal_recursion import ExtremalRecursion
from engine.incremental.grouped_stratum import GroupedStratum
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.maintained_relation import MaintainedEquivalence, MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.recomputed_stratum import RecomputedStratum, given_name
from engine.kernels.iterations import ABSENT

Tuple = tuple[str, tuple[int, ...]]
"""A relation and a row of it."""

SMALL_ROWS = 1 << 11
"""Relations up to this size are scanned for each look-up."""
SCANS = 32
"""A column of a larger one is sorted after so many scans: that takes about as long as they did."""
KEPT = 1 << 16
"""Look-ups remembered."""


class Rows:
    """The rows of a relation, [arity, n], found by the values of some columns.

    A column is sorted once it has been scanned so often that sorting would have cost as much.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.scans = [0] * len(columns)

    @property
    def n(self) -> int:
        return self.columns.shape[1]

    def matching(self, bound: Mapping[int, int]) -> Columns:
        """Return the rows with these values in these columns."""
        found: np.ndarray | None = None
        for column, value in bound.items():
            if found is None or len(found) > SMALL_ROWS:
                candidates = self._where(column, value)
                found = candidates if found is None else np.intersect1d(found, candidates, assume_unique=True)
            else:
                found = found[self.columns[column, found] == value]
        return self.columns if found is None else self.columns[:, found]

    def _where(self, column: int, value: int) -> np.ndarray:
        """Return the positions of the rows with a value in a column."""
        values, limits = self.columns[column], np.iinfo(self.columns.dtype)
        if not limits.min <= value <= limits.max:
            return np.empty(0, np.int64)
        if column not in self.orders and self.n > SMALL_ROWS:
            self.scans[column] += 1
            if self.scans[column] > SCANS:
                order = np.argsort(values, kind="stable")
                self.orders[column] = order, values[order]
        if column not in self.orders:
            return np.flatnonzero(values == value)
        order, ordered = self.orders[column]
        return order[np.searchsorted(ordered, value, "left") : np.searchsorted(ordered, value, "right")]


class Classes:
    """The pairs of an equivalence, found by elements; classes are not written out unless all are asked for."""

    def __init__(self, relation: MaintainedEquivalence) -> None:
        self.relation, self.members = relation, Rows(relation.generators())

    @property
    def n(self) -> int:
        """At least the number of elements."""
        return self.members.n

    @cached_property
    def pairs(self) -> Columns:
        return self.relation.columns()

    def matching(self, bound: Mapping[int, int]) -> Columns:
        if not bound:
            return self.pairs
        column, value = next(iter(bound.items()))
        others = self.class_of(value)
        if len(bound) == 2:
            others = others[others == bound[1 - column]]
        pairs = np.empty((2, len(others)), np.int64)
        pairs[column], pairs[1 - column] = value, others
        return pairs

    def class_of(self, element: int) -> np.ndarray:
        """Return the elements equivalent to one, none if it is in no class."""
        found = self.members.matching({0: element})
        return self.members.matching({1: int(found[1, 0])})[0] if found.shape[1] else found[0]


class TupleLookup:
    """The tuples of a view as they are now: to be made anew when the view has been updated."""

    def __init__(self, view: MaintainedProgram) -> None:
        self.view = view
        self.writer = {relation.name: stratum for stratum in view.strata for relation in stratum.relations}
        strata = enumerate(view.strata)
        self.component = {relation.name: number for number, stratum in strata for relation in stratum.relations}
        self._rows: dict[str, Rows | Classes] = {}
        self._found: dict[tuple[str, tuple[tuple[int, int], ...]], Columns] = {}

    def rows(self, name: str) -> Rows | Classes:
        if name not in self._rows:
            relation = self.view.joined[name]
            self._rows[name] = (
                Classes(relation) if isinstance(relation, MaintainedEquivalence) else Rows(relation.columns())
            )
        return self._rows[name]

    def matching(self, name: str, bound: Mapping[int, int]) -> Columns:
        """Return the tuples of a relation with these values in these columns, [arity, n]."""
        if not bound:
            return self.rows(name).matching(bound)
        key = name, tuple(bound.items())
        if key not in self._found:
            if len(self._found) >= KEPT:
                self._found.clear()
            self._found[key] = self.rows(name).matching(bound)
        return self._found[key]

    def holds(self, name: str, row: tuple[int, ...]) -> bool:
        if not row:
            return self.rows(name).n > 0
        return self.matching(name, dict(enumerate(row))).shape[1] > 0

    def class_of(self, name: str, element: int) -> list[int]:
        classes = self.rows(name)
        assert isinstance(classes, Classes)
        return classes.class_of(element).tolist()

    # ---- where tuples come from

    def is_given(self, name: str, row: tuple[int, ...]) -> bool:
        """Return True if a tuple is a fact: given to the program, or stated by a clause."""
        stratum = self.writer[name]
        if isinstance(stratum, MaintainedStratum | BoundedRecursion):
            return self.iteration(name, row) == 0
        held = self._given(stratum, name)
        return held is not None and iteration_of(held, row) != ABSENT

    def _given(self, stratum: object, name: str) -> MaintainedRelation | None:
        """Return what holds the facts of a relation whose tuples are not counted."""
        if isinstance(stratum, ExtremalRecursion):
            stratum = stratum.anew
        if isinstance(stratum, RecomputedStratum):
            return stratum.given[name]
        return self.view.joined.get(given_name(name)) if isinstance(stratum, GroupedStratum) else None

    def is_chosen(self, name: str) -> bool:
        """Return True if the facts of a relation were added to keep a recursion within its bound."""
        stratum = self.writer[name]
        return isinstance(stratum, BoundedRecursion) and name == stratum.into.name

    def has_iterations(self, name: str) -> bool:
        """Return True if the tuples of a relation know the iteration of their first derivation."""
        return isinstance(self.writer[name], MaintainedStratum | BoundedRecursion)

    def iteration(self, name: str, row: tuple[int, ...]) -> int:
        """Return the iteration of a tuple's first derivation within its component, ABSENT if there is none."""
        return iteration_of(self.view.joined[name], row)


def iteration_of(relation: MaintainedRelation, row: tuple[int, ...]) -> int:
    limits = np.iinfo(relation.dtype)
    if any(not limits.min <= value <= limits.max for value in row):
        return ABSENT
    (id,) = relation.known(np.array([row], relation.dtype).reshape(1, relation.width).T)
    return ABSENT if id < 0 else int(relation.states_of(np.array([id]))[1][0])
