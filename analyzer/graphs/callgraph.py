"""The call graph of a program: reachability, dead functions, and PyCG's format."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from analyzer.report import Place

REASONS = ("module", "main", "test", "exported", "handler", "override")
"""Kinds of entry points, as in `rules/exports/call_graph.dl`."""

# How PyCG (Salis et al., ICSE 2021) names methods of values that literals make.
_LITERAL_TYPES = {
    "str": "<**PyStr**>",
    "list": "<**PyList**>",
    "dict": "<**PyDict**>",
    "tuple": "<**PyTuple**>",
    "set": "<**PySet**>",
    "bytes": "<**PyBytes**>",
    "int": "<**PyNum**>",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A body of the program or, of kind library, something outside of it; `reasons` tell why a program begins there."""

    name: str
    kind: str
    place: Place | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallGraph:
    """Bodies by qualified name. `calls` are edges of the call graph; what a body hands on `may_run` because of it."""

    nodes: dict[str, Node]
    calls: frozenset[tuple[str, str]]
    may_run: frozenset[tuple[str, str]] = frozenset()
    entries: tuple[str, ...] = field(default=REASONS)

    def reachable(self, names: Iterable[str]) -> set[str]:
        """Return the bodies reachable by `calls` and `may_run` from the named ones, these included."""
        following: dict[str, list[str]] = {}
        for body, other in (*self.calls, *self.may_run):
            following.setdefault(body, []).append(other)
        found, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += following.get(name, ())
        return found

    def entry_points(self) -> list[str]:
        """Return the entry points by name: modules, and bodies with a reason in `entries`."""
        wanted = {"module", *self.entries}
        return sorted(name for name, node in self.nodes.items() if wanted.intersection(node.reasons))

    def restricted(self, names: Collection[str]) -> CallGraph:
        """Return the subgraph of some bodies."""

        def within(edges: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
            return frozenset(edge for edge in edges if edge[0] in names and edge[1] in names)

        nodes = {name: node for name, node in self.nodes.items() if name in names}
        return CallGraph(nodes, within(self.calls), within(self.may_run), self.entries)

    def dead(self) -> list[Node]:
        """Return the functions unreachable from entry points, by file and line, without lambdas."""
        alive = self.reachable(self.entry_points())
        found = [n for n in self.nodes.values() if n.kind == "function" and n.name not in alive and "<" not in n.name]
        return sorted(
            found, key=lambda node: (node.place.file, node.place.line, node.name) if node.place else ("", 0, "")
        )


def render(edges: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the callees of every caller, both in alphabetical order, from rows of `call_edge`."""
    graph: dict[str, set[str]] = {}
    for caller, callee in edges:
        graph.setdefault(caller, set()).add(shown(callee))
    return {caller: sorted(graph[caller]) for caller in sorted(graph)}


def shown(callee: str) -> str:
    """Return a callee's name with builtins in PyCG's notation."""
    prefix, dot, name = callee.partition(".")
    if prefix != "builtins" or not dot:
        return callee
    kind, dot, method = name.partition(".")
    return f"{_LITERAL_TYPES[kind]}.{method}" if dot and kind in _LITERAL_TYPES else f"<builtin>.{name}"
