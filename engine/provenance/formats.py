"""Explanations as indented text, and as a graph in DOT."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.provenance.derivations import CHAIN, CHOSEN, CUT, GIVEN, GROUP, STATED

Document = dict[str, Any]
INDENT = "  "
WORDS = {
    GIVEN: "fact",
    STATED: "fact of the program",
    CHOSEN: "fact that keeps the recursion within its bound",
    GROUP: "aggregate of",
    CHAIN: "equivalence: a chain of",
    CUT: "not looked into: the search was cut",
}
LEFT_OUT = {"above": "as above", "depth": "left out: deeper than asked for"}


def as_text(document: Document) -> list[str]:
    """Return an explanation as lines: `why` as a tree, `why_not` rule by rule."""
    if "rules" in document:
        return list(absence_lines(document))
    least = "" if document["least"] else ", the least within each recursion"
    first, *rest = tree_lines(document, 0)
    return [f"{first}    height {document['height']}{least}", *rest]


def tree_lines(node: Document, level: int) -> Iterator[str]:
    indent, inner = INDENT * level, INDENT * (level + 1)
    words = LEFT_OUT.get(node.get("left_out", ""), WORDS.get(node["by"], ""))
    if node["by"] == STATED:
        words += f"  ({place(node['rule'])})"
    yield f"{indent}{node['atom']}" + (f"    {words}" if words else "")
    if "rule" in node and "body" in node:
        yield f"{inner}by {node['rule']['text']}  ({place(node['rule'])})"
    for part in node.get("body", ()):
        yield from part_lines(part, level + 1)
    for each in node.get("contributions", ()):
        yield f"{inner}{each['value']}  from  {', '.join(each['tuples'])}  ({place(each['rule'])})"
    yield from more(node, inner)


def part_lines(part: Document, level: int) -> Iterator[str]:
    indent = INDENT * level
    if "tuple" in part:
        yield from tree_lines(part["tuple"], level)
    elif "absent" in part:
        yield f"{indent}{part['absent']}    {absence_words(part)}"
    elif "counted" in part:
        yield f"{indent}{part['counted']}"
        for text in part["tuples"]:
            yield f"{indent}{INDENT}{text}"
        yield from more(part, indent + INDENT)
    else:
        yield f"{indent}{part['test']}"


def more(part: Document, indent: str) -> Iterator[str]:
    if part.get("more"):
        yield f"{indent}… and {part['more']} more"


def place(rule: Document) -> str:
    return f"{rule['file']}:{rule['line']}"


def absence_words(part: Document) -> str:
    """Return why nothing matches an atom."""
    if not part["tuples"]:
        return "there is none at all"
    if "nearest" in part:
        return f"not there; nearest: {part['nearest']}, which differs in {part['differs']}"
    return f"not among the {part['tuples']}" if part["tuples"] > 1 else "not the only one there"


def absence_lines(document: Document) -> Iterator[str]:
    nearest = f"; nearest: {document['nearest']}" if "nearest" in document else ""
    yield f"{document['atom']}    is not there{nearest}"
    if not document["rules"]:
        yield f"{INDENT}no rule derives it, and no fact states it"
    for rule in document["rules"]:
        yield f"{INDENT}not by {rule['rule']['text']}  ({place(rule['rule'])})"
        if "head" in rule:
            yield f"{INDENT * 2}its head has other values: {rule['head']}"
        elif not rule["missing"]:
            yield f"{INDENT * 2}it holds, and gave another row: the relation aggregates, or was full"
        for part in rule["body"]:
            yield INDENT * 2 + f"{sign(part)} {part['literal']}" + missing_words(part)


def sign(part: Document) -> str:
    return "✗" if part.get("missing") else {True: "✓", False: "✗", None: "?"}[part["holds"]]


def missing_words(part: Document) -> str:
    if "tuples" in part:
        return f"    missing: {absence_words(part)}"
    if "value" in part:
        return f"    missing: the value is {part['value']}"
    return "    missing" if part.get("missing") else ""


# ---- DOT


def as_dot(document: Document) -> str:
    """Return a derivation as a graph: tuples are boxes, rules circles between them."""
    lines = ["digraph derivation {", "  rankdir=BT;", '  node [shape=box, fontname="monospace"];']
    lines += dict.fromkeys(graph_lines(document))
    return "\n".join([*lines, "}"]) + "\n"


def graph_lines(node: Document) -> Iterator[str]:
    """Yield the nodes and edges below a tuple."""
    name = quoted(node["atom"])
    yield f"  {name};"
    below = [part["tuple"] for part in node.get("body", ()) if "tuple" in part]
    tests = [part.get("absent") or part.get("counted") or part.get("test") for part in node.get("body", ())]
    if not node.get("body") and not node.get("contributions"):
        return
    rule = quoted(f"{node['atom']} by")
    label = place(node["rule"]) if "rule" in node else WORDS[node["by"]]
    yield f"  {rule} [shape=ellipse, label={quoted(chr(10).join([label, *filter(None, tests)]))}];"
    yield f"  {rule} -> {name};"
    for part in below:
        yield f"  {quoted(part['atom'])} -> {rule};"
        yield from graph_lines(part)
    for each in node.get("contributions", ()):
        for text in each["tuples"]:
            yield f"  {quoted(text)} -> {rule};"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
