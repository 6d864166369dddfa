"""Call graphs as files: JSON in PyCG's form, Graphviz's DOT, GraphML. All in alphabetical order."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator

from analyzer.escaping import json_text, printable
from analyzer.graphs.callgraph import CallGraph, Node, render, shown

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
KEYS = {
    "kind": ("node", "string"),
    "file": ("node", "string"),
    "line": ("node", "int"),
    "entry": ("node", "string"),
    "relation": ("edge", "string"),
}
"""The data of nodes and edges: of which of them, and of which type."""

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

SHAPES = {"function": "box", "module": "folder", "class": "component", "library": "ellipse"}


def to_json(graph: CallGraph) -> str:
    """Return {"caller": ["callee", …]}."""
    return json_text(render(graph.calls))


def dead_to_json(nodes: Iterable[Node]) -> str:
    rows = [{"name": n.name, **({"file": n.place.file, "line": n.place.line} if n.place else {})} for n in nodes]
    return json_text(rows)


def dead_to_text(nodes: Iterable[Node]) -> str:
    """Return a line for each function: its place and name."""
    return "".join(printable(f"{n.place.file}:{n.place.line}: {n.name}" if n.place else n.name) + "\n" for n in nodes)


def edges(graph: CallGraph) -> Iterator[tuple[str, str, str]]:
    """Yield (body, other, relation) in order: calls, and bodies that may run only because they are passed on."""
    both = {edge: "may_run" for edge in graph.may_run} | {edge: "calls" for edge in graph.calls}
    yield from sorted((body, other, relation) for (body, other), relation in both.items())


# ---- DOT


def to_dot(graph: CallGraph) -> str:
    """Return the graph for Graphviz: `may_run` edges are dashed, entry points are bold."""
    lines = ["digraph calls {", "  rankdir=LR;"]
    for name in sorted(graph.nodes):
        node = graph.nodes[name]
        attributes = {"label": shown(name), "shape": SHAPES[node.kind]}
        if node.place:
            attributes["tooltip"] = f"{node.place.file}:{node.place.line}"
        if node.reasons:
            attributes["style"] = "bold"
        lines.append(f"  {quoted(name)} [{', '.join(f'{key}={quoted(value)}' for key, value in attributes.items())}];")
    for body, other, relation in edges(graph):
        lines.append(f"  {quoted(body)} -> {quoted(other)}{' [style=dashed]' if relation == 'may_run' else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def quoted(text: str) -> str:
    """Return a text as a quoted string of the DOT language, where a backslash begins an escape of labels."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r").replace("\n", "\\n")
    return f'"{escaped}"'


# ---- GraphML


def to_graphml(graph: CallGraph) -> str:
    """Return the graph as GraphML (Brandes et al., 2002), with data of nodes and edges as KEYS says."""
    ET.register_namespace("", GRAPHML)
    top = ET.Element(f"{{{GRAPHML}}}graphml")
    for name, (of, type) in KEYS.items():
        ET.SubElement(top, f"{{{GRAPHML}}}key", {"id": name, "for": of, "attr.name": name, "attr.type": type})
    drawn = ET.SubElement(top, f"{{{GRAPHML}}}graph", {"id": "calls", "edgedefault": "directed"})
    for name in sorted(graph.nodes):
        node = graph.nodes[name]
        data = {"kind": node.kind, "entry": " ".join(node.reasons)}
        if node.place:
            data |= {"file": node.place.file, "line": str(node.place.line)}
        add(drawn, "node", {"id": name}, data)
    for body, other, relation in edges(graph):
        add(drawn, "edge", {"source": body, "target": other}, {"relation": relation})
    ET.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(top, encoding="unicode") + "\n"


def add(parent: ET.Element, tag: str, attributes: dict[str, str], data: dict[str, str]) -> None:
    element = ET.SubElement(parent, f"{{{GRAPHML}}}{tag}", {key: plain(value) for key, value in attributes.items()})
    for key in KEYS:
        if data.get(key):
            ET.SubElement(element, f"{{{GRAPHML}}}data", key=key).text = plain(data[key])


def plain(text: str) -> str:
    """Return a text with a sign for each character that XML cannot hold."""
    return NOT_XML.sub("\ufffd", text)


GRAPH_FORMATS = {"json": to_json, "dot": to_dot, "graphml": to_graphml}
DEAD_FORMATS = {"json": dead_to_json, "text": dead_to_text}
