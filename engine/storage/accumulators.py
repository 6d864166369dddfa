"""Accumulators: the values of one aggregated column, for each group the best so far or the sum of what contributes.

Groups are numbers from 0. `add` takes contributions and lists the groups whose value changes; `shown` holds the values
that readers see, which `show` brings up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.database import Columns, EvaluationError
from engine.kernels.aggregation import add_runs, contribute, lift, lift_contributors, lower
from engine.storage.keys import HashedKeys

FIRST_GROUPS = 64
NATIVE = {"float": np.float64, "unsigned": np.uint64}
Order = Callable[[Columns], np.ndarray]
"""Gives the positions of rows in the order of their values."""


@dataclass(frozen=True)
class AggregatedColumn:
    """A column of aggregates: of a contribution, `column` holds its value, `keys` its contributor.

    The first key is 1 for plain values if `tagged`. `kind` is that of the aggregate, `of` that of its values, in
    columns of `dtype`; floats are added in the `order` of their contributors, or without one in increasing order.
    """

    relation: str
    column: int
    kind: str
    of: str
    dtype: np.dtype
    bits: int
    keys: tuple[int, ...] = ()
    tagged: bool = False
    order: Order | None = None

    @property
    def native(self) -> np.dtype:
        """The type under which values compare as the numbers that they stand for."""
        return np.dtype(NATIVE.get(self.of, self.dtype) if self.dtype == np.int64 else self.dtype)


def accumulator(spec: AggregatedColumn) -> Accumulator:
    if spec.kind in ("min", "max"):
        return Extremum(spec)
    return FloatSum(spec) if spec.of == "float" else IntegerSum(spec)


class Changes:
    """Groups listed once each, until the list is taken."""

    def __init__(self) -> None:
        self.dirty, self.listed, self.n = np.zeros(FIRST_GROUPS, np.bool_), np.empty(FIRST_GROUPS, np.int32), 0

    def reserve(self, n: int) -> None:
        if n > len(self.dirty):
            self.dirty, self.listed = grown(self.dirty, n), grown(self.listed, n)

    def take(self) -> np.ndarray:
        """Return the groups listed and list none."""
        groups = self.listed[: self.n].copy()
        self.dirty[groups], self.n = False, 0
        return groups

    def list_all(self, n: int) -> None:
        self.dirty[:n], self.listed[:n], self.n = True, np.arange(n), n

    def part(self, chosen: np.ndarray) -> Changes:
        """Return the list of those of the chosen groups that are listed, numbered by position."""
        part = Changes()
        part.reserve(len(chosen))
        listed = np.flatnonzero(self.dirty[chosen])
        part.n = len(listed)
        part.dirty[listed], part.listed[: part.n] = True, listed
        return part


class Accumulator:
    """The values of groups in one aggregated column."""

    def __init__(self, spec: AggregatedColumn) -> None:
        self.spec = spec
        self.shown = np.empty(FIRST_GROUPS, spec.native)
        self.best = np.empty(FIRST_GROUPS, spec.native)

    @property
    def n_contributors(self) -> int:
        """The number of contributors that it tells apart."""
        return 0

    @property
    def working_set(self) -> int:
        """The bytes that adding goes through in no order."""
        return 0

    def arrays(self) -> list[np.ndarray]:
        """The arrays it holds, but for tables."""
        return [self.shown, self.best]

    def finish(self) -> None:
        """Free what only adding needs."""

    def reserve(self, n: int) -> None:
        """Make room for n groups."""
        if n > len(self.shown):
            self.shown = grown(self.shown, n)

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: Changes
    ) -> None:
        """Take the contributions `rows[take, lo:hi]` to `groups`, of which `known` were there before."""
        raise NotImplementedError

    def current(self, groups: np.ndarray) -> np.ndarray:
        """The present values of groups."""
        raise NotImplementedError

    def parts(self, chosen: Sequence[np.ndarray]) -> list[Accumulator]:
        """Return an accumulator for each array of chosen groups, which are numbered anew by their position in it."""
        raise NotImplementedError

    def values(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        return rows[take[self.spec.column], lo:hi].view(self.spec.native)

    def empty_part(self, chosen: np.ndarray) -> Accumulator:
        part = accumulator(self.spec)
        part.reserve(len(chosen))
        part.shown[: len(chosen)] = self.shown[chosen]
        return part


class Extremum(Accumulator):
    """The least or greatest values."""

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.improve = lower if spec.kind == "min" else lift

    def reserve(self, n: int) -> None:
        super().reserve(n)
        if n > len(self.best):
            self.best = grown(self.best, n)

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: Changes
    ) -> None:
        values = self.values(rows, lo, hi, take)
        to.n = self.improve(values, self.best, groups, hi - lo, known, to.dirty, to.listed, to.n)

    def current(self, groups: np.ndarray) -> np.ndarray:
        return self.best[groups]

    def parts(self, chosen: Sequence[np.ndarray]) -> list[Accumulator]:
        parts = []
        for groups in chosen:
            part = self.empty_part(groups)
            part.best[: len(groups)] = self.best[groups]
            parts.append(part)
        return parts


class Sum(Accumulator):
    """A value for each contributor of each group, the greatest it has given; `contributors` are (group, key…)."""

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.contributors = HashedKeys(1 + len(spec.keys), spec.dtype)
        self.every, self.keys = np.arange(1 + len(spec.keys)), np.array(spec.keys, np.int64)
        self.best = np.empty(FIRST_GROUPS, np.float64 if spec.of == "float" else spec.dtype)

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

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: Changes
    ) -> None:
        known, found = self.contributors.n, self.intern(rows, lo, hi, take, groups)
        values = rows[take[self.spec.column], lo:hi]
        args = (values, self.best, self.totals, found, groups, hi - lo, known)
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


class FloatSum(Sum):
    """Sums, or means, of floats, added up anew when they are shown: the digits do not depend on the order of arrival.

    `members[starts[g]:][:lengths[g]]` are the contributors of group g, in order; the last `n_loose` are in no run yet.
    """

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.members, self.top, self.n_sorted = np.empty(FIRST_GROUPS, np.int32), 0, 0
        self.starts, self.lengths = np.zeros(FIRST_GROUPS, np.int64), np.zeros(FIRST_GROUPS, np.int64)

    def reserve(self, n: int) -> None:
        super().reserve(n)
        if n > len(self.starts):
            known = len(self.starts)
            self.starts, self.lengths = grown(self.starts, n), grown(self.lengths, n)
            self.lengths[known:] = 0

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: Changes
    ) -> None:
        known, found = self.contributors.n, self.intern(rows, lo, hi, take, groups)
        values = self.values(rows, lo, hi, take)
        to.n = lift_contributors(values, self.best, found, groups, hi - lo, known, to.dirty, to.listed, to.n)

    def current(self, groups: np.ndarray) -> np.ndarray:
        self._sort_new()
        totals = np.empty(len(groups))
        if self.spec.order is None:
            self._sort_values(groups)
        add_runs(self.best, self.members, self.starts, self.lengths, groups, totals)
        if self.spec.kind == "mean":
            totals /= self.lengths[groups]
        return np.where(np.isnan(totals), np.nan, totals + 0.0)

    def _sort_new(self) -> None:
        """Write new runs for the groups that have new contributors, behind all others."""
        new = np.arange(self.n_sorted, self.contributors.n, dtype=np.int32)
        self.n_sorted = self.contributors.n
        if not len(new):
            return
        touched = np.unique(self.contributors.columns[0, new])
        self._write(touched, np.concatenate([self._runs(touched), new]))

    def _runs(self, groups: np.ndarray) -> np.ndarray:
        """The contributors of groups that have a run."""
        lengths = self.lengths[groups]
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return self.members[np.repeat(self.starts[groups], lengths) + within]

    def _write(self, groups: np.ndarray, members: np.ndarray) -> None:
        """Store the members of some groups as their runs, in order."""
        columns = self.contributors.columns[:, members]
        order = np.arange(len(members)) if self.spec.order is None else self.spec.order(columns[1:])
        order = order[np.argsort(columns[0, order], kind="stable")]
        if self.top + len(members) > 4 * self.n_sorted + FIRST_GROUPS:
            self._compact(groups)
        if self.top + len(members) > len(self.members):
            self.members = grown(self.members, self.top + len(members))
        self.members[self.top : self.top + len(members)] = members[order]
        _, counts = np.unique(columns[0], return_counts=True)
        self.lengths[groups] = counts
        self.starts[groups] = self.top + np.cumsum(counts) - counts
        self.top += len(members)

    def _compact(self, rewritten: np.ndarray) -> None:
        """Drop what is in no run any more, and the runs that are about to be written."""
        self.lengths[rewritten] = 0
        groups = np.flatnonzero(self.lengths)
        kept = self._runs(groups)
        self.members[: len(kept)], self.top = kept, len(kept)
        self.starts[groups] = np.cumsum(self.lengths[groups]) - self.lengths[groups]

    def _sort_values(self, groups: np.ndarray) -> None:
        """Put the runs of groups in increasing order of their values."""
        members = self._runs(groups)
        lengths = self.lengths[groups]
        order = np.lexsort((self.best[members], np.repeat(np.arange(len(groups)), lengths)))
        starts = np.repeat(self.starts[groups], lengths)
        within = np.arange(len(members)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self.members[starts + within] = members[order]

    def recount(self, n_groups: int) -> None:
        self.n_sorted = self.top = 0


def grown(array: np.ndarray, n: int) -> np.ndarray:
    """Return a copy with room for at least n entries; what is new is zero for booleans, undefined else."""
    if n <= len(array):
        return array
    bigger = (np.zeros if array.dtype == np.bool_ else np.empty)(max(n, 2 * len(array)), array.dtype)
    bigger[: len(array)] = array
    return bigger
