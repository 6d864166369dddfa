"""The contexts of each function, from the results of context-insensitive points-to.

A context is a string of at most two elements (`policy.py`), the last one first, nil where nothing more is known.
Functions that nobody calls, and modules, have the empty one. Contexts of a function are all that its callers' contexts
give it: in recursion strings are cut off, so there are finitely many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analyzer.context_policies import Policy
from analyzer.evaluation.contexts.bodies import NONE, Bodies

MOST_CONTEXTS = 64
"""Maximum number of contexts of a function; one that would have more keeps one."""
GROWTH = 3.0
"""Maximum number of entities of all clones together, in entities of the program."""

AHEAD, BEHIND, DROPPED = range(3)
"""The position of the last element of a giver's context: ahead of the element of the edge, behind it, or dropped."""


@dataclass
class Calls:
    """The functions of calls by context-insensitive points-to.

    `plain` is [2, n]: call, function; `received` is [3, n]: call, function, and the site that made the receiver, or its
    class; `ambient`, [2, n], are calls that give no context: they run the function in all that it has. A pair of a call
    and a function is in one of the three.
    """

    plain: np.ndarray
    received: np.ndarray
    ambient: np.ndarray

    def under(self, policy: Policy) -> Calls:
        """Return the calls as a policy sees them.

        Where contexts are calls, receivers do not count. Where they are receivers, a method called on something unknown
        may be called on any of its receivers.
        """
        if policy.element == "call":
            plain = distinct(np.concatenate([self.plain, self.received[:2]], axis=1))
            return Calls(plain, self.received[:, :0], self.ambient)
        on_unknown = np.isin(self.plain[1], self.received[1])
        ambient = np.concatenate([self.ambient, self.plain[:, on_unknown]], axis=1)
        return Calls(self.plain[:, ~on_unknown], self.received, ambient)


@dataclass
class Contexts:
    """`rows` is [3, n], sorted: function, last element, the one before. `cut` are functions that keep one context."""

    policy: Policy
    calls: Calls
    rows: np.ndarray
    cut: np.ndarray


def choose(bodies: Bodies, calls: Calls, policy: Policy, whole: np.ndarray) -> Contexts:
    """Return the contexts of all functions; those that are `whole` keep one.

    So do those with more than MOST_CONTEXTS, and those whose clones would be largest until all fit GROWTH.
    """
    calls = calls.under(policy)
    limit = int(GROWTH * bodies.n)
    share = limit
    while True:
        cut = np.zeros(bodies.n + 1, bool)
        cut[whole] = True
        Search(bodies, calls, policy, cut, share).run()
        rows = Search(bodies, calls, policy, cut, share).run()
        if share <= 1 or clone_entities(bodies, rows) <= limit:
            cut[whole] = False
            return Contexts(policy, calls, rows, np.flatnonzero(cut))
        share //= 2


def clone_entities(bodies: Bodies, rows: np.ndarray) -> int:
    """Return how many entities the clones have: a nested function is cloned with each clone of the one around."""
    copies = np.bincount(rows[0], minlength=bodies.n + 1).astype(np.float64)
    copies[NONE] = 1
    for function in np.split(bodies.functions, np.flatnonzero(np.diff(bodies.depth[bodies.functions])) + 1):
        copies[function] *= copies[bodies.parent[function]]
    return int(((copies - 1) * bodies.size)[bodies.functions].sum())


class Search:
    """The least set of contexts that callers give; `cut` grows by the functions that come to have too many."""

    def __init__(self, bodies: Bodies, calls: Calls, policy: Policy, cut: np.ndarray, share: int) -> None:
        self.bodies, self.policy, self.cut, self.share = bodies, policy, cut, share
        self.edges = edges_of(bodies, calls, policy)
        self.found = np.empty((3, 0), np.int64)

    def run(self) -> np.ndarray:
        """Return [3, n]: every function with its contexts, sorted."""
        called = np.zeros(self.bodies.n + 1, bool)
        called[self.edges[1]] = True
        self.follow(plain_contexts(np.append(self.bodies.functions[~called[self.bodies.functions]], NONE)))
        # The others only call one another: we may begin at each of them.
        self.follow(plain_contexts(np.setdiff1d(self.bodies.functions, self.found[0])))
        return self.found[:, self.found[0] != NONE]

    def follow(self, new: np.ndarray) -> None:
        """Add contexts, and those that calls give because of them."""
        while new.shape[1]:
            self.found = distinct(np.concatenate([self.found, new], axis=1))
            self.cut_off()
            givers = new.copy()
            givers[1:, self.cut[givers[0]]] = 0
            given = given_contexts(self.edges, distinct(givers))
            given[1:, self.cut[given[0]]] = 0
            new = without(distinct(given), self.found)

    def cut_off(self) -> None:
        """Leave one context, the empty one, to functions with too many."""
        n = np.bincount(self.found[0], minlength=self.bodies.n + 1)
        more = ((n > MOST_CONTEXTS) | ((n > 1) & ((n - 1) * self.bodies.size > self.share))) & ~self.cut
        more[NONE] = False
        self.cut |= more
        self.found[1:, self.cut[self.found[0]]] = 0
        self.found = distinct(self.found)


def edges_of(bodies: Bodies, calls: Calls, policy: Policy) -> np.ndarray:
    """Return the edges of all calls, each once."""
    plain = plain_edges(bodies, policy, *calls.plain)
    return distinct(np.concatenate([plain, received_edges(bodies, policy, *calls.received[1:])], axis=1))


def plain_edges(bodies: Bodies, policy: Policy, call: np.ndarray, function: np.ndarray) -> np.ndarray:
    """Return [4, n]: giver, function, element, and the position of the giver's last element in the new context.

    An edge for each pair of a call and a function.
    """
    caller = bodies.owner[call]
    if policy.element == "call":
        return np.stack([caller, function, call, np.full_like(call, BEHIND if policy.depth > 1 else DROPPED)])
    if policy.adds_call:
        return np.stack([caller, function, call, np.full_like(call, AHEAD)])
    # What is defined in a function has the contexts of that one, and no others.
    giver = np.where(bodies.parent[function] == NONE, caller, NONE)
    return np.stack([giver, function, np.zeros_like(call), np.full_like(call, AHEAD)])


def received_edges(bodies: Bodies, policy: Policy, function: np.ndarray, site: np.ndarray) -> np.ndarray:
    """Return the same for each pair of a function and a site that made a receiver of it."""
    element = bodies.type_of[site] if policy.element == "type" else site
    place = np.full_like(site, BEHIND if policy.depth > 1 else DROPPED)
    return np.stack([bodies.owner[site], function, element, place])


def extended(element: np.ndarray, place: np.ndarray, last: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return [2, n]: the contexts that edges make of their givers' own; without an element, those themselves."""
    ahead = np.stack([last, np.where(element == 0, before, element)])
    behind = np.stack([element, np.where(place == BEHIND, last, 0)])
    return np.where(place == AHEAD, ahead, behind)


def given_contexts(edges: np.ndarray, givers: np.ndarray) -> np.ndarray:
    """Return [3, n]: the contexts that functions get because of others'."""
    edge, giver = matches(edges[0], givers[0])
    _, function, element, place = edges[:, edge]
    return np.concatenate([function[None], extended(element, place, *givers[1:, giver])])


def plain_contexts(functions: np.ndarray) -> np.ndarray:
    """Return [3, n]: functions with the empty context."""
    return np.stack([functions, np.zeros_like(functions), np.zeros_like(functions)])


# ---- Rows of integers as columns


def distinct(rows: np.ndarray) -> np.ndarray:
    """Return each row once, sorted by the first column, then the second …"""
    order = np.lexsort(rows[::-1])
    rows = rows[:, order]
    return rows[:, np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0))] if rows.shape[1] else rows


def without(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the rows that are not among the others; both are distinct."""
    both = np.concatenate([rows, others], axis=1)
    kind = np.append(np.zeros(rows.shape[1], bool), np.ones(others.shape[1], bool))
    order = np.lexsort(both[::-1])
    both, kind = both[:, order], kind[order]
    twin = (both[:, 1:] == both[:, :-1]).all(axis=0)
    return both[:, ~kind & ~np.append(twin, False) & ~np.append(False, twin)]


def matches(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of positions at which two columns agree; the right one is sorted."""
    first, last = np.searchsorted(right, left), np.searchsorted(right, left, side="right")
    lengths = last - first
    at = np.repeat(np.arange(len(left)), lengths)
    ends = np.cumsum(lengths)
    return at, np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths) + np.repeat(first, lengths)
