"""Renders the call graph in PyCG's form: `{caller: [callees]}` by qualified names."""

from collections.abc import Iterable

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


def render(edges: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the callees of every caller, both in alphabetical order, from rows of `call_edge`."""
    graph: dict[str, set[str]] = {}
    for caller, callee in edges:
        graph.setdefault(caller, set()).add(_name(callee))
    return {caller: sorted(graph[caller]) for caller in sorted(graph)}


def _name(callee: str) -> str:
    """Return a callee's name with builtins in PyCG's notation."""
    prefix, dot, name = callee.partition(".")
    if prefix != "builtins" or not dot:
        return callee
    kind, dot, method = name.partition(".")
    return f"{_LITERAL_TYPES[kind]}.{method}" if dot and kind in _LITERAL_TYPES else f"<builtin>.{name}"
