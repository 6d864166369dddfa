"""Sums of floats whose digits do not depend on the order of arrival."""

from __future__ import annotations

import numpy as np

from engine.kernels.aggregates import add_runs, distinct, lift_contributors, order_by
from engine.storage.accumulator import AggregatedColumn
from engine.storage.changed_groups import FIRST_GROUPS, ChangedGroups, grown
from engine.storage.sum_accumulator import Sum


class FloatSum(Sum):
    """Sums, or means, of floats, added up anew when they are shown: the digits do not depend on the order of arrival.

    `members[starts[g]:][:lengths[g]]` are the contributors of group g, in order; those from `n_sorted` on are in no run
    yet. `seen` is for `distinct`.
    """

    def __init__(self, spec: AggregatedColumn) -> None:
        super().__init__(spec)
        self.members, self.top, self.n_sorted = np.empty(FIRST_GROUPS, np.int32), 0, 0
        self.starts, self.lengths = np.zeros(FIRST_GROUPS, np.int64), np.zeros(FIRST_GROUPS, np.int64)
        self.seen = np.zeros(FIRST_GROUPS, np.bool_)

    def reserve(self, n: int) -> None:
        super().reserve(n)
        if n > len(self.starts):
            known = len(self.starts)
            self.starts, self.lengths = grown(self.starts, n), grown(self.lengths, n)
            self.seen = grown(self.seen, n)
            self.lengths[known:] = 0

    def lift(
        self, values: np.ndarray, contributors: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        args = (values, self.best, contributors, groups, len(values), known)
        to.n = lift_contributors(*args, to.dirty, to.listed, to.n)

    def in_order(self) -> np.ndarray:
        self._sort_new()
        return self._runs(np.flatnonzero(self.lengths))

    def number_in_order(self) -> None:
        super().number_in_order()
        self.top = self.n_sorted = n = self.contributors.n
        self.members = np.arange(n, dtype=np.int32)
        self.lengths = np.bincount(self.contributors.columns[0, :n], minlength=len(self.starts))
        self.starts = np.cumsum(self.lengths) - self.lengths

    def current(self, groups: np.ndarray) -> np.ndarray:
        self._sort_new()
        totals = np.empty(len(groups))
        if self.spec.order is None:
            self._sort_values(groups)
        add_runs(self.best, self.members, self.starts, self.lengths, groups, totals)
        if self.spec.kind == "mean":
            totals /= self.lengths[groups]
        return totals

    def _sort_new(self) -> None:
        """Write new runs for the groups that have new contributors, behind all others."""
        new = np.arange(self.n_sorted, self.contributors.n, dtype=np.int32)
        self.n_sorted = self.contributors.n
        if not len(new):
            return
        touched = distinct(self.contributors.columns[0, new], self.seen)
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
        position = np.empty(len(self.starts), np.int32)
        position[groups] = np.arange(len(groups))
        owners = position[columns[0, order]]
        order = order[order_by(owners, len(groups))]
        if self.top + len(members) > 4 * self.n_sorted + FIRST_GROUPS:
            self._compact(groups)
        if self.top + len(members) > len(self.members):
            self.members = grown(self.members, self.top + len(members))
        self.members[self.top : self.top + len(members)] = members[order]
        counts = np.bincount(owners)
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
