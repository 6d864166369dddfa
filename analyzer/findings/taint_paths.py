"""The shortest path of tainted data from a source to a sink, searched backwards after the fixpoint.

`rules/lib/findings.dl` describes the relations that the search reads. A path is realisable: calls and returns on it
match as parentheses do. The search is A* (Hart, Nilsson and Raphael, 1968) over (node, stack of calls still to be
entered); its lower bound is the number of steps from the nearest source when calls need not match. Among paths of equal
length the one whose steps come first by (file, line, column), read from the sink, is taken: the order of rows does not
matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from analyzer.findings.entities import Entities

if TYPE_CHECKING:
    import engine

MAX_DEPTH = 12
MAX_STATES = 50_000
UNREACHED = np.iinfo(np.int32).max

Node = int
State = tuple[Node, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Hop:
    """A value on a path, and the way in which data came there: "source", "step", "share", "enter" or "leave".

    The data is the value itself, or is held by it: in an attribute, or in an element.
    """

    value: int
    way: str
    is_held: bool


class Steps:
    """Steps between nodes, found by the node at one end. `rows` is [4, n]: source, target, way, call."""

    def __init__(self, rows: np.ndarray, end: int, n_nodes: int) -> None:
        """`end` is 0 to find steps by their source, 1 by their target."""
        order = np.argsort(rows[end], kind="stable")
        self.rows = np.ascontiguousarray(rows[:, order])
        self.starts = np.searchsorted(self.rows[end], np.arange(n_nodes + 2, dtype=self.rows.dtype))

    def at(self, node: Node) -> list[list[int]]:
        return self.rows[:, self.starts[node] : self.starts[node + 1]].T.tolist()

    def targets(self, nodes: np.ndarray) -> np.ndarray:
        """Return the other end of every step at one of the nodes, for steps found by their source."""
        first, last = self.starts[nodes], self.starts[nodes + 1]
        lengths = last - first
        before = np.cumsum(lengths) - lengths
        return self.rows[1][np.repeat(first - before, lengths) + np.arange(lengths.sum())]


class Paths:
    """The steps of an evaluation, ready to be searched."""

    def __init__(self, result: engine.Result, entities: Entities) -> None:
        self._entities = entities
        self._records = result.records
        self._text = entities.text
        self._n_nodes = result.records["Node"].shape[1]
        self._rows = result.relation("taint_step")
        self._sinks = _grouped(result.relation("sink_node"), 2)
        self._sources = _grouped(result.relation("source_node"), 1)
        self._clearing = _grouped(result.relation("clearing_step"), 1)
        self._distances: dict[int, np.ndarray] = {}
        self._keys: dict[Node, tuple[object, ...]] = {}
        self._steps_to: dict[Node, list[tuple[str, int, Node, Node]]] = {}

    @cached_property
    def _forwards(self) -> Steps:
        return Steps(self._rows, 0, self._n_nodes)

    @cached_property
    def _backwards(self) -> Steps:
        return Steps(self._rows, 1, self._n_nodes)

    def find(self, check: int, place: int) -> list[Hop] | None:
        """Return the hops from the nearest source to a sink of the check at `place`, as `find_nodes` does."""
        nodes = self.find_nodes(check, place)
        return None if nodes is None else [self._hop(node, way) for node, way in nodes]

    def find_nodes(self, check: int, place: int) -> list[tuple[Node, str]] | None:
        """Return the nodes from the nearest source to a sink of the check at `place`, and the way to each.

        It is [] where data flows to none there, and None where the search was abandoned: it looks at MAX_STATES states,
        and at stacks of up to MAX_DEPTH calls.
        """
        starts = {node for (node,) in self._sinks.get((check, place), ())}
        if not starts:
            return []
        remaining = self._distance(check)
        cleared = set(self._clearing.get((check,), ()))
        came_from: dict[State, tuple[State, str] | None] = {}
        queue: list[tuple[int, int, tuple[object, ...], State]] = []
        taken: dict[State, int] = {}

        def push(state: State, taken_so_far: int, origin: tuple[State, str] | None) -> None:
            left = int(remaining[state[0]])
            if left != UNREACHED and taken_so_far < taken.get(state, UNREACHED):
                taken[state], came_from[state] = taken_so_far, origin
                heappush(queue, (taken_so_far + left, left, self._key(state[0]), state))

        for node in sorted(starts, key=self._key):
            push((node, ()), 0, None)
        while queue and len(taken) <= MAX_STATES:
            total, left, _, state = heappop(queue)
            if left == 0:
                return self._unwind(state, came_from)
            if total - left == taken[state]:
                for before, way in self._before(state, cleared):
                    push(before, taken[state] + 1, (state, way))
        return None if queue or any(len(stack) == MAX_DEPTH for _, stack in taken) else []

    def _distance(self, check: int) -> np.ndarray:
        """Return for every node the least number of steps from a source of the check, calls not matched."""
        if check not in self._distances:
            distance = np.full(self._n_nodes + 1, UNREACHED, np.int32)
            frontier = np.array([node for (node,) in self._sources.get((check,), ())], np.int64)
            steps = 0
            while frontier.size:
                distance[frontier] = steps
                steps += 1
                reached = self._forwards.targets(frontier)
                reached = np.sort(reached[distance[reached] == UNREACHED])
                frontier = reached[np.diff(reached, prepend=-1) != 0]
            self._distances[check] = distance
        return self._distances[check]

    def _before(self, state: State, cleared: set[tuple[int, ...]]) -> Iterator[tuple[State, str]]:
        """Yield the states from which one step leads to `state`, those of equal node in a fixed order."""
        node, stack = state
        for way, call, source, target in self._sorted_steps(node):
            if (source, target, call) in cleared:
                continue
            if way == "step":
                yield (source, stack), way
            elif way == "share":
                yield (source, ()), way
            elif way == "leave" and len(stack) < MAX_DEPTH and call not in stack:
                yield (source, (*stack, call)), way
            elif way == "enter" and (not stack or stack[-1] == call):
                yield (source, stack[:-1]), way

    def _sorted_steps(self, node: Node) -> list[tuple[str, int, Node, Node]]:
        """Return the steps to a node as (way, call, source, target), in order; many states are at the same node."""
        if node not in self._steps_to:
            steps = self._backwards.at(node)
            self._steps_to[node] = sorted((self._text(way), call, at, to) for at, to, way, call in steps)
        return self._steps_to[node]

    def _unwind(self, state: State, came_from: Mapping[State, tuple[State, str] | None]) -> list[tuple[Node, str]]:
        nodes = [(state[0], "source")]
        while (after := came_from[state]) is not None:
            state, way = after
            nodes.append((state[0], way))
        return nodes

    def _hop(self, node: Node, way: str) -> Hop:
        return Hop(self.value(node), way, bool(self._records["Node"][1][node - 1]))

    def value(self, node: Node) -> int:
        return int(self._records["Node"][0][node - 1])

    def _key(self, node: Node) -> tuple[object, ...]:
        """Return a deterministic sort key of nodes: place and content."""
        if node not in self._keys:
            value, path, since = (int(column[node - 1]) for column in self._records["Node"])
            place = self._entities.place(value)
            where = (place.file, place.line, place.column) if place else ("", 0, 0)
            content = (self._entities.chain(value), self._path(path), self._entities.chain(since))
            # Clones of an entity have its content. Their ids are the same in every run, as those of all facts.
            self._keys[node] = (*where, *content, value, since)
        return self._keys[node]

    def _path(self, path: int) -> str:
        keys = []
        while path:
            key, path, _ = (int(column[path - 1]) for column in self._records["Path"])
            keys.append(self._text(key))
        return "\0".join(keys)


def _grouped(rows: np.ndarray, n_keys: int) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Return rows by their first columns."""
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for row in rows.T.tolist():
        groups.setdefault(tuple(row[:n_keys]), []).append(tuple(row[n_keys:]))
    return groups


def without_repeats(hops: Sequence[Hop], entities: Entities) -> list[Hop]:
    """Return the hops that a reader can see: each place once in a row, implicit values left out."""
    shown: list[Hop] = []
    for hop in hops:
        place = entities.place(hop.value)
        if place is None:
            continue
        if shown and entities.place(shown[-1].value) == place:
            if hop.way != "step":
                shown[-1] = replace(hop, way=shown[-1].way if shown[-1].way == "source" else hop.way)
            continue
        shown.append(hop)
    return shown


def kept_between(hops: Sequence[Hop], entities: Entities) -> set[int]:
    """Return where hops lie outside of functions, between one whose object holds the data and another that reads it.

    So a variable of a module, or a member of a class, stands for a map or an object there, and holds more than the
    data. Functions that contain one another share their own variables beside.
    """
    kept = set()
    inside: frozenset[int] = frozenset()
    outside, is_held = None, False
    for at, hop in enumerate(hops):
        functions = entities.functions(hop.value)
        if functions or hop.way in ("source", "enter", "leave"):
            if outside is not None and is_held and hop.way in ("step", "share") and inside.isdisjoint(functions):
                kept.add(outside)
            inside, outside, is_held = functions, None, hop.is_held
        else:
            outside = at if inside else None
    return kept
