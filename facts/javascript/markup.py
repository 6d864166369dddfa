"""JSX: an element has a type, a component or the name of a tag, and an object of properties, children among them."""

import html
import re

from tree_sitter import Node

from facts.instructions import allocate, store_attribute
from facts.javascript.calls import state_type_arguments
from facts.javascript.handler_tables import EXPRESSIONS, children, field, only_child
from facts.javascript.literals import string_value
from facts.javascript.names import evaluate_named
from facts.javascript.unit import Unit
from facts.row_builder import tail

_BREAK = re.compile(r"[ \t]*\n\s*")


@EXPRESSIONS("jsx_element", "jsx_self_closing_element")
def _element(unit: Unit, node: Node) -> int:
    opening = field(node, "open_tag") or node
    kind = _type(unit, field(opening, "name"), opening)
    properties = allocate(unit, unit.entity("object", opening), "object")
    for attribute in opening.children_by_field_name("attribute"):
        if attribute.is_named:
            _attribute(unit, attribute, properties)
    if opening != node:
        _children(unit, node, properties)
    value = unit.body.running(unit.entity(tail(f"<{unit.label(kind)}>"), node))
    unit.emit("markup", value, kind, properties)
    state_type_arguments(unit, opening, value)
    return value


def _type(unit: Unit, name: Node | None, node: Node) -> int:
    """Return a component, or the name of a tag as a string; the empty one for a fragment."""
    if name is not None and name.type == "member_expression":
        return unit.value(name)
    text = unit.text(name) if name is not None else ""
    if name is not None and name.type == "identifier" and not text[0].islower():
        return unit.read(text)
    return string_value(unit, text, node if name is None else name)


def _attribute(unit: Unit, node: Node, properties: int) -> None:
    """`name="value"`, `name={value}`, `name` alone, which is true, or `{...values}`."""
    if node.type == "jsx_expression":
        inner = only_child(node)
        if inner is not None:
            unit.emit("spread", properties, unit.value(_spread(inner)), -1)
        return
    name, *value = children(node)
    if not value:
        source = unit.body.load_constant("boolean", "true")
    elif value[0].type == "string":
        source = string_value(unit, html.unescape(unit.text(value[0])[1:-1]), value[0])
    else:
        source = _content(unit, value[0], unit.text(name))
    store_attribute(unit, properties, unit.text(name), source, node)


def _content(unit: Unit, node: Node, name: str) -> int:
    """Return a value in braces; of `{...values}`, all that there are."""
    return evaluate_named(unit, _spread(only_child(node)) if node.type == "jsx_expression" else node, f"<{name}>")


def _spread(node: Node | None) -> Node | None:
    """Return what `...` stands before, or the node."""
    return only_child(node) if node is not None and node.type == "spread_element" else node


def _children(unit: Unit, node: Node, properties: int) -> None:
    """Store what stands between the tags: one child as it is, several as an array."""
    values = []
    for parts in _runs(node):
        first = parts[0]
        if first.type in ("jsx_text", "html_character_reference"):
            text = html.unescape("".join(unit.text(part) for part in parts))
            if text := _BREAK.sub(" " if text.strip() else "", text):
                values.append(string_value(unit, text, first))
        elif first.type != "jsx_expression" or only_child(first) is not None:
            values.append(_content(unit, first, "children"))
    if len(values) > 1:
        container = unit.entity("array", node)
        for position, value in enumerate(values):
            unit.emit("position_item", container, position, value)
        values = [allocate(unit, container, "array")]
    if values:
        store_attribute(unit, properties, "children", values[0], node)


def _runs(node: Node) -> list[list[Node]]:
    """Return the parts between the tags; texts and character references that follow each other are one."""
    runs: list[list[Node]] = []
    texts = ("jsx_text", "html_character_reference")
    for child in children(node):
        if child.type in ("jsx_opening_element", "jsx_closing_element"):
            continue
        if runs and child.type in texts and runs[-1][0].type in texts:
            runs[-1].append(child)
        else:
            runs.append([child])
    return runs
