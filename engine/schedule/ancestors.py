"""The ancestors of each node, as intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from engine.schedule.dag import Dag


class OverBudget(Exception):
    """The structure under construction exceeds its memory limit."""


class Ancestors:
    """For each node the numbers of its ancestors, as the fewest intervals that hold no others.

    Numbers are those of a depth-first search from the sinks upwards, at the end of each node: the ancestors that it
    reaches first from a node have consecutive ones, and only what it comes to again takes intervals of its own
    (Agrawal, Borgida and Jagadish, 1989). Nodes with the same parents share a list. `n_intervals` is the length of all
    lists, O(V²) at worst. Raises OverBudget above `max_intervals`.
    """

    def __init__(self, dag: Dag, max_intervals: int | None = None) -> None:
        self.numbers = upward_order(dag)
        self.n_intervals = 0
        order = sorted(range(dag.n), key=self.numbers.__getitem__)
        nothing = np.empty((2, 0), np.int32)
        self._above = [nothing] * dag.n
        shared: dict[tuple[int, ...], np.ndarray] = {(): nothing}
        for node in order:
            parents = tuple(dag.parents[node])
            if parents not in shared:
                own = np.array([[self.numbers[parent] for parent in parents]] * 2, np.int32)
                shared[parents] = united(np.concatenate([own, *(self._above[parent] for parent in parents)], axis=1))
                self.n_intervals += shared[parents].shape[1]
            self._above[node] = shared[parents]
            if max_intervals is not None and self.n_intervals > max_intervals:
                raise OverBudget

    def has(self, node: int, numbers: np.ndarray) -> np.ndarray:
        """Return for each number whether it is of an ancestor of a node."""
        starts, ends = self._above[node]
        if not len(starts):
            return np.zeros(len(numbers), np.bool_)
        at = np.searchsorted(starts, numbers, "right") - 1
        return (at >= 0) & (numbers <= ends[at])


def upward_order(dag: Dag) -> list[int]:
    """Return the number of each node in the order in which a depth-first search upwards leaves them."""
    numbers, n_left = [-1] * dag.n, 0
    entered = bytearray(dag.n)
    for sink in range(dag.n):
        if dag.children[sink]:
            continue
        entered[sink] = True
        path = [(sink, iter(dag.parents[sink]))]
        while path:
            node, parents = path[-1]
            for parent in parents:
                if not entered[parent]:
                    entered[parent] = True
                    path.append((parent, iter(dag.parents[parent])))
                    break
            else:
                path.pop()
                numbers[node] = n_left
                n_left += 1
    return numbers


def united(intervals: np.ndarray) -> np.ndarray:
    """Return the union of intervals, of which there is one at least, in increasing order; what touches is one interval.

    Intervals are [2, n]: where each starts, and the last that it holds.
    """
    starts, ends = intervals[:, np.argsort(intervals[0], kind="stable")]
    ends = np.maximum.accumulate(ends)
    apart = starts[1:] > ends[:-1] + 1
    return np.stack([starts[np.append(True, apart)], ends[np.append(apart, True)]])
