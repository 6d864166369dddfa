"""What is to be decided in which iteration: supports that tuples gain and lose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engine.kernels.ranks import collect, settle

if TYPE_CHECKING:
    from engine.incremental.tracked import Tracked

Events = tuple[np.ndarray, np.ndarray]
"""Ids of tuples, and for each +1 for a support gained, -1 for one lost."""


class Agenda:
    """Events by iteration and relation. Who adds some holds the `lock`.

    `watch` is called whenever some are to be added, and for each iteration; it may raise to give up.
    """

    def __init__(self, watch: Callable[[], None]) -> None:
        self.lock, self.watch = Lock(), watch
        self._events: dict[int, dict[Tracked, list[Events]]] = {}

    def add(self, relation: Tracked, times: np.ndarray, heads: np.ndarray, signs: np.ndarray) -> None:
        """Write down events at the iterations `times`."""
        if not len(times):
            return
        if times[0] == times[-1] and (times == times[0]).all():
            self._put(int(times[0]), relation, heads, signs)
            return
        order = np.argsort(times, kind="stable")
        times, heads, signs = times[order], heads[order], signs[order]
        begins = np.flatnonzero(np.diff(times, prepend=-1))
        for lo, hi in zip(begins, [*begins[1:], len(times)], strict=True):
            self._put(int(times[lo]), relation, heads[lo:hi], signs[lo:hi])

    def _put(self, iteration: int, relation: Tracked, heads: np.ndarray, signs: np.ndarray) -> None:
        at = self._events.setdefault(iteration, defaultdict(list))
        at[relation].append((heads.copy(), signs.copy()))

    def next(self) -> int | None:
        """The next iteration that something is written down for."""
        return min(self._events, default=None)

    def decide(self, iteration: int) -> list[tuple[Tracked, np.ndarray, np.ndarray]]:
        """Return the relations in which tuples leave or arrive in an iteration, with the ids of both."""
        found = []
        self.watch()
        for relation, events in self._events.pop(iteration).items():
            touched, n = np.empty(min(sum(len(h) for h, _ in events), relation.n_ids), np.int32), 0
            for heads, signs in events:
                n = collect(heads, signs, relation.pending, relation.marked, touched, n)
            left, arrived = np.empty(n, np.int32), np.empty(n, np.int32)
            n_left, n_arrived = settle(
                iteration, touched, n, relation.pending, relation.marked, relation.count, relation.later, left, arrived
            )
            if n_left or n_arrived:
                found.append((relation, left[:n_left], arrived[:n_arrived]))
        return found
