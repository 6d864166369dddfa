"""What is to be decided in which iteration: supports that tuples gain and lose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engine.kernels.ranks import account, collect, settle

if TYPE_CHECKING:
    from engine.incremental.tracked import Tracked

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
        self._events: dict[int, dict[Tracked, list[Events]]] = {}
        self._coming: set[Tracked] = set()
        self.iteration = 0
        self.last: int | None = None

    def account(
        self,
        relation: Tracked,
        heads: np.ndarray,
        states: tuple[np.ndarray, np.ndarray],
        iterations: tuple[np.ndarray, np.ndarray],
        *,
        fresh: bool,
        exact: bool,
    ) -> None:
        """Account for instantiations with these heads; see `kernels.ranks.account`.

        `states` are the largest iterations of their bodies before and after, `iterations` those of the relation.
        """
        n = len(heads)
        times, late, signs = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32), np.empty(2 * n, np.int8)
        sums = (relation.pending, relation.marked, relation.touched, relation.n_touched)
        coming = self.iteration + 1
        relation.n_touched, m = account(heads, n, *states, fresh, *iterations, exact, coming, *sums, times, late, signs)
        if relation.n_touched:
            self._coming.add(relation)
        if m:
            self._wait(relation, times[:m], late[:m], signs[:m])

    def _wait(self, relation: Tracked, times: np.ndarray, heads: np.ndarray, signs: np.ndarray) -> None:
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
            touched = relation.touched[: relation.n_touched]
            relation.pending[touched], relation.marked[touched], relation.n_touched = 0, False, 0
        self._events, self._coming, self.iteration = {}, set(), 0

    def decide(self, iteration: int) -> list[tuple[Tracked, np.ndarray, np.ndarray]]:
        """Return the relations in which tuples leave or arrive in an iteration, with the ids of both."""
        self.watch()
        self.iteration, found = iteration, []
        waiting = self._events.pop(iteration, {})
        for relation, events in waiting.items():
            for heads, signs in events:
                sums = (relation.pending, relation.marked, relation.touched, relation.n_touched)
                relation.n_touched = collect(heads, signs, *sums)
        for relation in dict.fromkeys([*self._coming, *waiting]):
            n, relation.n_touched = relation.n_touched, 0
            left, arrived = np.empty(n, np.int32), np.empty(n, np.int32)
            sums = (relation.touched, n, relation.pending, relation.marked)
            n_left, n_arrived = settle(iteration, *sums, relation.count, relation.later, left, arrived)
            if n_left or n_arrived:
                found.append((relation, left[:n_left], arrived[:n_arrived]))
        self._coming = set()
        return found
