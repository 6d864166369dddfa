"""Places: what can be stored to and have its address taken. Variables, fields, elements, what pointers lead to."""

from dataclasses import dataclass

from tree_sitter import Node

from facts.function_body import MODULE
from facts.go import tree
from facts.go.composites import pointed_at
from facts.go.scopes import VARIABLE, Name
from facts.go.unit import Unit
from facts.instructions import load_attribute, load_index, store_attribute, store_index
from facts.row_builder import tail
from facts.ssa import UNDEFINED
from facts.tree_sitter_grammar import is_broken

NAME, ATTRIBUTE, INDEX, POINTER, BLANK, NONE = "name", "attribute", "index", "pointer", "blank", "none"
_SELECTOR, _INDEX = tree.kind_ids("selector_expression"), tree.kind_ids("index_expression")


@dataclass(frozen=True)
class Place:
    """A place: a variable, or a field, element or target of `base`; `key` is a field's name or an index.

    A variable that another file of the package declares has no `name`, but its text as `key`. Nothing is kept in the
    `_` of an assignment, and in what is none of these.
    """

    kind: str
    base: int = UNDEFINED
    key: str | int = ""
    name: Name | None = None


def place_of(unit: Unit, node: Node | None) -> Place:
    """Evaluate an expression up to the place it means."""
    node = tree.inside(node)
    if node is None or (unit.broken and is_broken(node)):
        unit.unknown(node)
        return Place(NONE)
    if node.kind_id in tree.IDENTIFIER:
        text = unit.text(node)
        return Place(BLANK) if text == "_" else Place(NAME, key=text, name=unit.scope.find(text))
    if node.kind_id in _SELECTOR:
        return Place(ATTRIBUTE, base_of(unit, node), unit.text(node.child_by_field_id(tree.FIELD)))
    if node.kind_id in _INDEX:
        base = unit.value(node.child_by_field_id(tree.OPERAND))
        return Place(INDEX, base, unit.value(node.child_by_field_id(tree.INDEX)))
    if node.kind_id in tree.UNARY and tree.operator_of(node) == "*":
        return Place(POINTER, unit.value(node.child_by_field_id(tree.OPERAND)))
    unit.value(node)
    return Place(NONE)


def base_of(unit: Unit, selector: Node) -> int:
    """Evaluate what a field is selected of: a struct and a pointer to it are the same, so `(*p).x` is `p.x`."""
    operand = tree.inside(selector.child_by_field_id(tree.OPERAND))
    if operand is not None and operand.kind_id in tree.UNARY and tree.operator_of(operand) == "*":
        return unit.value(operand.child_by_field_id(tree.OPERAND))
    return unit.value(operand)


def load(unit: Unit, place: Place, node: Node) -> int:
    """Return the value at a place."""
    if place.kind == NAME:
        return unit.read(place.key)
    if place.kind == ATTRIBUTE:
        return load_attribute(unit, place.base, place.key, node)
    if place.kind == INDEX:
        return load_index(unit, place.base, place.key, node)
    if place.kind == POINTER:
        return load_pointer(unit, place.base, node)
    return unit.entity("unknown", node)


def load_pointer(unit: Unit, pointer: int, node: Node) -> int:
    """Return what a pointer leads to."""
    value = unit.body.instruction(unit.entity(tail("*" + unit.label(pointer)), node))
    unit.emit("load_pointer", value, pointer)
    return value


def store(unit: Unit, place: Place, source: int, node: Node) -> None:
    """Store a value to a place. Through a pointer it may change any variable that has a cell."""
    if place.kind == NAME:
        _assign(unit, place, source, node)
    elif place.kind == ATTRIBUTE:
        store_attribute(unit, place.base, place.key, source, node)
    elif place.kind == INDEX:
        store_index(unit, place.base, place.key, source, node)
    elif place.kind == POINTER:
        entity = unit.body.instruction(unit.entity(tail(f"*{unit.label(place.base)} ="), node))
        unit.emit("store_pointer", entity, place.base, source)
        unit.body.other_code()


def _assign(unit: Unit, place: Place, source: int, node: Node) -> None:
    if place.name is None:
        entity = unit.body.allocation(unit.entity(tail(f"{place.key} ="), node))
        unit.emit("store_name", entity, MODULE, place.key, source)
    elif place.name.form == VARIABLE and place.name.value == UNDEFINED:
        unit.assign(place.name, source, "variable", node)


def address(unit: Unit, node: Node) -> int:
    """Return the address that `&node` gives: for a composite literal, the new object itself."""
    plain = tree.inside(node)
    if plain is None:
        return unit.value(plain)
    if plain.kind_id in tree.COMPOSITE:
        return pointed_at(unit, plain)
    place = place_of(unit, plain)
    if place.kind == NAME:
        name = place.name or unit.file.external(place.key)
        if name.form != VARIABLE or name.value != UNDEFINED:
            return unit.value_of(name)
        value = unit.address(name)
        unit.facts.place(value, node.start_byte, node.end_byte)
        return value
    if place.kind == POINTER:
        return place.base
    if place.kind not in (ATTRIBUTE, INDEX):
        return unit.entity("unknown", node)
    text = f".{place.key}" if place.kind == ATTRIBUTE else f"[{unit.label(place.key)}]"
    value = unit.body.instruction(unit.entity(tail(f"&{unit.label(place.base)}{text}"), node))
    unit.emit("address_" + place.kind, value, place.base, place.key)
    return value
