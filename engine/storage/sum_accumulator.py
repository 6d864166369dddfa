"""Sums over contributors: each of a group's contributors counts with the greatest value it has given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.database import Columns, EvaluationError
from engine.kernels.aggregates import contribute, order_by
from engine.storage.accumulator import Accumulator, AggregatedColumn
from engine.storage.changed_groups import FIRST_GROUPS, ChangedGroups, grown
from engine.storage.key_tables import HashedKeys


class Sum(Accumulator):
    """A value for each contributor of each group, the greatest it has given; `contributors` are (group, key…)."""

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.contributors = HashedKeys(1 + len(spec.keys), spec.dtype)
        self.every, self.keys = np.arange(1 + len(spec.keys)), np.array(spec.keys, np.int64)
        self.best = np.empty(FIRST_GROUPS, np.float64 if spec.of == "float" else spec.dtype)
        self.is_ordered = False

    def arrays(self) -> list[np.ndarray]:
        return [*super().arrays(), self.contributors.columns]

    @property
    def n_contributors(self) -> int:
        return self.contributors.n

    @property
    def working_set(self) -> int:
        return self.contributors.table.nbytes

    def finish(self) -> None:
        self.contributors = HashedKeys(len(self.every), self.spec.dtype)
        self.best = self.best[:0]

    def intern(self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return the numbers of the contributors of a batch."""
        named = np.empty((len(self.every), hi - lo), rows.dtype)
        named[0] = groups
        for at, key in enumerate(take[self.keys], 1):
            named[at] = rows[key, lo:hi]
        found = self.contributors.intern(named, 0, hi - lo, self.every)
        if self.contributors.n > len(self.best):
            self.best = grown(self.best, self.contributors.n)
        return found

    def lift(
        self, values: np.ndarray, contributors: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        """Let contributors of groups count with values, if these are greater; those from `known` on are new."""
        raise NotImplementedError

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        known, found = self.contributors.n, self.intern(rows, lo, hi, take, groups)
        self.lift(self.values(rows, lo, hi, take), found, groups, known, to)

    def number_in_order(self) -> None:
        """Number the contributors anew: by group, and in their order within one."""
        columns, order = self.contributors.columns, self.in_order()
        self.contributors = HashedKeys(len(columns), self.spec.dtype, np.ascontiguousarray(columns[:, order]))
        self.best, self.is_ordered = self.best[order], True

    def in_order(self) -> np.ndarray:
        """Return the contributors by group, and in their order within one."""
        owners = self.contributors.columns[0, : self.contributors.n]
        return order_by(owners, len(self.shown))

    def parts(self, chosen: Sequence[np.ndarray]) -> list[Accumulator]:
        n = self.contributors.n
        columns = self.contributors.columns[:, :n]
        part_of, position = np.empty(len(self.shown), np.int32), np.empty(len(self.shown), np.int32)
        for p, groups in enumerate(chosen):
            part_of[groups], position[groups] = p, np.arange(len(groups))
        owners = part_of[columns[0]]
        order, bounds = np.argsort(owners, kind="stable"), np.cumsum([0, *np.bincount(owners, minlength=len(chosen))])
        parts = []
        for p, groups in enumerate(chosen):
            part, mine = self.empty_part(groups), order[bounds[p] : bounds[p + 1]]
            named = np.ascontiguousarray(columns[:, mine])
            named[0] = position[named[0]]
            part.contributors.intern(named, 0, len(mine), part.every)
            part.best = grown(part.best, len(mine))
            part.best[: len(mine)] = self.best[mine]
            part.recount(len(groups))
            parts.append(part)
        return parts

    def recount(self, n_groups: int) -> None:
        """Find the totals of all groups from their contributors."""
        raise NotImplementedError


class IntegerSum(Sum):
    """Totals that are kept up to date. They must fit their column."""

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.totals = np.zeros(FIRST_GROUPS, np.int64)

    def reserve(self, n: int) -> None:
        super().reserve(n)
        if n > len(self.totals):
            known = len(self.totals)
            self.totals = grown(self.totals, n)
            self.totals[known:] = 0

    def lift(
        self, values: np.ndarray, contributors: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        args = (values.view(self.best.dtype), self.best, self.totals, contributors, groups, len(values), known)
        to.n = contribute(*args, to.dirty, to.listed, to.n)

    def current(self, groups: np.ndarray) -> np.ndarray:
        totals, spec = self.totals[groups], self.spec
        low, high = (0, 2**spec.bits) if spec.of == "unsigned" else (-(2 ** (spec.bits - 1)), 2 ** (spec.bits - 1))
        if spec.bits == 32 and len(totals) and not (low <= totals.min() and totals.max() < high):
            message = f"{spec.relation}: a {spec.kind} does not fit in a {spec.of} of {spec.bits} bits"
            raise EvaluationError(f"{message}; its recursion may have no end, or needs wider numbers")
        return totals.astype(spec.native)

    def recount(self, n_groups: int) -> None:
        n = self.contributors.n
        np.add.at(self.totals, self.contributors.columns[0, :n], self.best[:n])
