"""Arrays, objects, `await` and `yield`."""

from tree_sitter import Node

from facts.instructions import allocate, awaited, store_attribute, store_index
from facts.javascript.functions import define_function
from facts.javascript.handler_tables import EXPRESSIONS, children, field, only_child, tokens
from facts.javascript.literals import (
    property_label,
    property_name,
    undefined,
)
from facts.javascript.names import evaluate_named
from facts.javascript.unit import Unit
from facts.row_builder import tail


@EXPRESSIONS("array")
def _array(unit: Unit, node: Node) -> int:
    """A new array; positions are known up to the first `...`."""
    container = unit.entity("array", node)
    position, known = 0, True
    for child in node.children:
        if child.type == ",":
            position += 1
        elif child.type == "spread_element":
            unit.emit("spread", container, unit.value(only_child(child)), position if known else -1)
            known = False
        elif child.is_named and child.type not in ("comment", "html_comment"):
            value = unit.value(child)
            unit.emit(*(("position_item", container, position, value) if known else ("element", container, value)))
    return allocate(unit, container, "array")


@EXPRESSIONS("object")
def _object(unit: Unit, node: Node) -> int:
    container = allocate(unit, unit.entity("object", node), "object")
    for part in children(node):
        _PARTS.get(part.type, _unknown_part)(unit, part, container)
    return container


def _pair(unit: Unit, node: Node, container: int) -> None:
    key = field(node, "key")
    index = property_index(unit, key)
    value = evaluate_named(unit, field(node, "value"), property_label(unit, key))
    store_property(unit, container, index, value, node)


def property_index(unit: Unit, key: Node | None) -> str | int:
    """Return the name of a property, or the value of one that is computed."""
    name = property_name(unit, key)
    return unit.value(only_child(key)) if name is None else name


def store_property(unit: Unit, base: int, key: str | int, source: int, node: Node) -> None:
    """Store a property of a new object or class."""
    if isinstance(key, str):
        store_attribute(unit, base, key, source, node)
    else:
        store_index(unit, base, key, source, node)


def _shorthand(unit: Unit, node: Node, container: int) -> None:
    name = unit.text(node)
    store_attribute(unit, container, name, unit.read(name), node)


def _spread(unit: Unit, node: Node, container: int) -> None:
    unit.emit("spread", container, unit.value(only_child(node)), -1)


def _method(unit: Unit, node: Node, container: int) -> None:
    index = property_index(unit, field(node, "name"))
    definition, value = define_function(unit, node, property_label(unit, field(node, "name")))
    kind = accessor_kind(node)
    if kind and isinstance(index, str):
        unit.emit("accessor", container, index, definition.function, kind)
    else:
        store_property(unit, container, index, value, node)


def accessor_kind(node: Node) -> str:
    """Return `get` or `set` for an accessor, else the empty string."""
    return next((token for token in tokens(node) if token in ("get", "set")), "")


def _unknown_part(unit: Unit, node: Node, container: int) -> None:
    unit.unknown(node)


_PARTS = {
    "pair": _pair,
    "shorthand_property_identifier": _shorthand,
    "spread_element": _spread,
    "method_definition": _method,
}


# ---- Coroutines and generators


@EXPRESSIONS("await_expression")
def _await(unit: Unit, node: Node) -> int:
    return awaited(unit, unit.value(only_child(node)), node)


@EXPRESSIONS("yield_expression")
def _yield(unit: Unit, node: Node) -> int:
    argument = only_child(node)
    value = unit.value(argument) if argument is not None else undefined(unit)
    if "*" in tokens(node):
        result = unit.body.running(unit.entity(tail("yield* " + unit.label(value)), node))
        unit.emit("delegates", unit.body.entity, value, result)
        return result
    unit.emit("yields", unit.body.entity, value)
    return unit.body.running(unit.entity(tail("yield " + unit.label(value)), node))
