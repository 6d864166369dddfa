"""The agenda of an update: supports that tuples gain and lose, by the iteration that decides them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engine.incremental.support_sums import SupportSums
from engine.kernels.iterations import ABSENT, account, collect, settle

if TYPE_CHECKING:
    from engine.incremental.maintained_relation import MaintainedRelation

Events = tuple[np.ndarray, np.ndarray]
"""Ids of tuples, and for each +1 for a support gained, -1 for one lost."""


class Agenda:
    """Supports gained and lost, by iteration and relation. Who accounts for some holds the `lock`.

    Those of the iteration that comes next are added up in the relations at once, others wait as events. What is beyond
    the iteration `last`, if that is given, is not decided. `watch` is called whenever there are some, and for each
    iteration; it may raise to give up.
    """

    def __init__(self, watch: Callable[[], None]) -> None:
        self.lock, self.watch = Lock(), watch
        self._events: dict[int, dict[MaintainedRelation, list[Events]]] = {}
        self._coming: set[MaintainedRelation] = set()
        self.iteration = 0
        self.last: int | None = None

    def account(
        self,
        relation: MaintainedRelation,
        heads: np.ndarray,
        states: tuple[np.ndarray, np.ndarray],
        *,
        fresh: bool,
        is_fixed: bool,
        exact: bool,
    ) -> None:
        """Account for instantiations with these heads; see `kernels.iterations.account`.

        `states` are the largest iterations of their bodies before and after.
        """
        n, sums = len(heads), relation.pending
        times, late, signs = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32), np.empty(2 * n, np.int8)
        sums.reserve(n)
        iterations = (relation.later, relation.moving.earlier, relation.moving.later, is_fixed)
        held = (sums.slots, sums.ids, sums.sums, sums.n)
        sums.n, m = account(heads, n, *states, fresh, *iterations, exact, self.iteration + 1, *held, times, late, signs)
        if sums.n:
            self._coming.add(relation)
        if m:
            self._wait(relation, times[:m], late[:m], signs[:m])

    def _wait(self, relation: MaintainedRelation, times: np.ndarray, heads: np.ndarray, signs: np.ndarray) -> None:
        order = np.argsort(times, kind="stable")
        times, heads, signs = times[order], heads[order], signs[order]
        begins = np.flatnonzero(np.diff(times, prepend=-1)).tolist()
        for lo, hi in zip(begins, [*begins[1:], len(times)], strict=True):
            at = self._events.setdefault(int(times[lo]), defaultdict(list))
            at[relation].append((heads[lo:hi], signs[lo:hi]))

    def next(self) -> int | None:
        """The next iteration in which something is to be decided."""
        found = self.iteration + 1 if self._coming else min(self._events, default=None)
        return None if self.last is not None and found is not None and found > self.last else found

    def close(self) -> None:
        """Drop what is left, and begin with iteration 1 the next time."""
        for relation in self._coming:
            relation.pending = SupportSums()
        self._events, self._coming, self.iteration = {}, set(), 0

    def decide(self, iteration: int) -> list[tuple[MaintainedRelation, np.ndarray]]:
        """Begin a batch in each of the relations in which tuples leave or arrive in an iteration.

        Returns these relations, with the ids of the tuples that leave.
        """
        self.watch()
        self.iteration, found = iteration, []
        waiting = self._events.pop(iteration, {})
        for relation, events in waiting.items():
            sums = relation.pending
            for heads, signs in events:
                sums.reserve(len(heads))
                sums.n = collect(heads, signs, sums.slots, sums.ids, sums.sums, sums.n)
        for relation in dict.fromkeys([*self._coming, *waiting]):
            sums, relation.pending = relation.pending, SupportSums()
            relation.note(sums.ids[: sums.n].copy())
            left, arrived, arrived_from = (np.empty(sums.n, np.int32) for _ in range(3))
            numbers = (relation.count, relation.later)
            n, m = settle(iteration, sums.ids, sums.sums, sums.n, *numbers, left, arrived, arrived_from)
            if n or m:
                ids, at = np.concatenate([left[:n], arrived[:m]]), np.full(n + m, iteration, np.int32)
                earlier, later = at.copy(), at
                earlier[n:], later[:n] = arrived_from[:m], ABSENT
                relation.open_batch(ids, earlier, later)
                found.append((relation, left[:n]))
        self._coming = set()
        return found
