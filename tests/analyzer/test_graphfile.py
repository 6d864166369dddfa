"""Call graphs as files: what a reader of each format gets is what was written."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from analyzer.graphs.callgraph import CallGraph, Node
from analyzer.graphs.graph_files import GRAPHML, dead_to_json, dead_to_text, to_dot, to_graphml, to_json
from analyzer.report import Place

STRANGE = 'we"ird\\n & <b>.é\n'


def body(name, line, *reasons, kind="function"):
    return Node(name, kind, Place("a.py", line, 1, line, 9), reasons)


@pytest.fixture
def graph():
    """The module runs f, which hands g on; d and e call one another; f calls two things outside."""
    nodes = [
        Node("a", "module", None, ("module",)),
        body("a.f", 3, "main"),
        body("a.g", 5),
        body("a.d", 7),
        body("a.e", 9),
    ]
    nodes += [Node("builtins.str.join", "library"), Node(STRANGE, "library"), body("a.<lambda1>", 11)]
    calls = {("a", "a.f"), ("a.f", "builtins.str.join"), ("a.f", STRANGE), ("a.d", "a.e"), ("a.e", "a.d")}
    return CallGraph({node.name: node for node in nodes}, frozenset(calls), frozenset({("a.f", "a.g")}))


def unquoted(text):
    """What a quoted string of DOT stands for as a label."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r"}.get(found[1], found[1]), text)


def read_dot(text):
    """Return {name: attributes} and {(tail, head): attributes} of a graph with one statement a line."""
    string = r'"((?:[^"\\]|\\.)*)"'
    nodes, edges = {}, {}
    first, second, *statements, last = text.splitlines()
    assert (first, second, last) == ("digraph calls {", "  rankdir=LR;", "}")
    for statement in statements:
        if found := re.fullmatch(rf"  {string} \[(.*)\];", statement):
            attributes = dict(re.findall(rf"(\w+)={string}", found[2]))
            nodes[unquoted(found[1])] = {key: unquoted(value) for key, value in attributes.items()}
        else:
            found = re.fullmatch(rf"  {string} -> {string}(| \[style=dashed\]);", statement)
            edges[unquoted(found[1]), unquoted(found[2])] = found[3]
    return nodes, edges


def test_dot_has_all_nodes_and_edges(graph):
    nodes, edges = read_dot(to_dot(graph))
    assert nodes.keys() == graph.nodes.keys() and list(nodes) == sorted(nodes)
    assert edges.keys() == graph.calls | graph.may_run
    assert {edge for edge, style in edges.items() if style} == graph.may_run
    assert nodes["a.f"] == {"label": "a.f", "shape": "box", "tooltip": "a.py:3", "style": "bold"}
    assert nodes[STRANGE]["label"] == STRANGE
    assert nodes["builtins.str.join"]["label"] == "<**PyStr**>.join"


def test_graphml_has_all_nodes_and_edges_with_their_data(graph):
    top = ET.fromstring(to_graphml(graph))
    names = {"": GRAPHML}
    keys = {key.get("id"): (key.get("for"), key.get("attr.type")) for key in top.findall("key", names)}

    def data(element):
        found = {child.get("key"): child.text for child in element.findall("data", names)}
        assert all(keys[key][0] == element.tag.rpartition("}")[2] for key in found)
        return found

    nodes = {node.get("id"): data(node) for node in top.findall("graph/node", names)}
    edges = {(e.get("source"), e.get("target")): data(e) for e in top.findall("graph/edge", names)}
    assert nodes.keys() == graph.nodes.keys()
    assert nodes["a.f"] == {"kind": "function", "file": "a.py", "line": "3", "entry": "main"}
    assert nodes[STRANGE] == {"kind": "library"}
    assert {edge for edge, found in edges.items() if found == {"relation": "calls"}} == graph.calls
    assert {edge for edge, found in edges.items() if found == {"relation": "may_run"}} == graph.may_run
    assert top.find("graph", names).get("edgedefault") == "directed"


def test_graphml_holds_no_character_that_xml_cannot():
    graph = CallGraph(
        {name: Node(name, "library") for name in ("a\x01", "b\ud800", "c\ufffe", "d\U0001f600")}, frozenset()
    )
    ids = [node.get("id") for node in ET.fromstring(to_graphml(graph)).iter(f"{{{GRAPHML}}}node")]
    assert ids == ["a\ufffd", "b\ufffd", "c\ufffd", "d\U0001f600"]


def test_json_is_pycgs_form(graph):
    assert json.loads(to_json(graph)) == {
        "a": ["a.f"],
        "a.d": ["a.e"],
        "a.e": ["a.d"],
        "a.f": sorted(["<**PyStr**>.join", STRANGE]),
    }


def test_what_nothing_leads_to_is_dead(graph):
    """d and e only call one another; g is handed on by f; the lambda has no name that anybody could look for."""
    assert [node.name for node in graph.dead()] == ["a.d", "a.e"]
    assert dead_to_text(graph.dead()) == "a.py:7: a.d\na.py:9: a.e\n"
    assert json.loads(dead_to_json(graph.dead()))[0] == {"name": "a.d", "file": "a.py", "line": 7}


def test_the_reachable_part_of_a_graph(graph):
    part = graph.restricted(graph.reachable(["a.d"]))
    assert (set(part.nodes), part.calls) == ({"a.d", "a.e"}, {("a.d", "a.e"), ("a.e", "a.d")})
    assert graph.reachable(["a.f"]) == {"a.f", "a.g", "builtins.str.join", STRANGE}


def test_the_order_of_edges_does_not_matter(graph):
    reverse = CallGraph(dict(reversed(graph.nodes.items())), frozenset(sorted(graph.calls)), graph.may_run)
    assert (to_dot(reverse), to_graphml(reverse)) == (to_dot(graph), to_graphml(graph))
