"""Places, which are loaded, stored to and have addresses: variables, fields, elements, what pointers lead to."""

from dataclasses import dataclass

from tree_sitter import Node

from facts.c import tree
from facts.c.declarators import ARRAY, FUNCTION
from facts.c.scopes import MACRO_CODE, TYPE, Name
from facts.c.tree import EXPRESSIONS
from facts.c.unit import Unit
from facts.row_builder import tail
from facts.ssa import UNDEFINED
from facts.tree_sitter_grammar import is_broken

VARIABLE, ATTRIBUTE, INDEX, POINTER = "variable", "attribute", "index", "pointer"

MOST_DIMENSIONS = 64
"""Maximum number of dimensions of arrays; others are treated as pointers. C11, 5.2.4.1, requires only twelve."""


@dataclass(frozen=True)
class Place:
    """A place: a variable's `name`, or a field, element or target of `base`; `key` is a field's name or an index."""

    kind: str
    label: str
    base: int = UNDEFINED
    key: str | int = ""
    name: Name | None = None

    @property
    def row(self) -> tuple:
        """The columns that tell the place in relations of loads, stores and addresses."""
        return (self.base,) if self.kind == POINTER else (self.base, self.key)


def place_of(unit: Unit, node: Node) -> Place | None:
    """Evaluate an expression up to the place it means; None if it means none: then nothing is evaluated."""
    node = tree.inside(node)
    if node is None or (unit.broken and is_broken(node)):
        return None
    if node.kind_id in tree.IDENTIFIER:
        return _variable(unit, unit.text(node))
    if node.kind_id in _FIELD:
        return _field(unit, node)
    if node.kind_id in _SUBSCRIPT:
        base, index = unit.value(node.child_by_field_id(tree.ARGUMENT)), unit.value(node.child_by_field_id(tree.INDEX))
        return Place(INDEX, f"{_text(unit, base)}[{unit.label(index)}]", base, index)
    if node.kind_id in _POINTER and _operator(node) == "*":
        base = unit.value(node.child_by_field_id(tree.ARGUMENT))
        return Place(POINTER, "*" + unit.label(base), base)
    return None


_FIELD, _SUBSCRIPT, _POINTER = map(tree.kind_ids, ("field_expression", "subscript_expression", "pointer_expression"))


def _operator(node: Node) -> str:
    return node.child_by_field_id(tree.OPERATOR).type


def _variable(unit: Unit, text: str) -> Place | None:
    name = unit.find(text)
    if name is None or name.form in (FUNCTION, TYPE, MACRO_CODE) or name.value != UNDEFINED:
        return None
    return Place(VARIABLE, text, name=name)


def _field(unit: Unit, node: Node) -> Place:
    argument, name = node.child_by_field_id(tree.ARGUMENT), unit.text(node.child_by_field_id(tree.FIELD))
    if _operator(node) == ".":
        base = address_of(unit, argument)
        return Place(ATTRIBUTE, f"{_text(unit, base)}.{name}", base, name)
    base = unit.value(argument)
    return Place(ATTRIBUTE, f"{_text(unit, base)}->{name}", base, name)


def _text(unit: Unit, base: int) -> str:
    """Return the text of what an address or pointer leads to, for labels."""
    return unit.label(base).removeprefix("&")


def load(unit: Unit, place: Place, node: Node) -> int:
    """Return the value at a place."""
    if place.kind == VARIABLE:
        return unit.address(place.name) if place.name.form == ARRAY else unit.value_of(place.name)
    value = unit.body.instruction(unit.entity(tail(place.label), node))
    unit.emit("load_" + place.kind, value, *place.row)
    return value


def store(unit: Unit, place: Place, source: int, node: Node) -> None:
    """Store a value to a place. Through a pointer it may change any variable that has a cell."""
    if place.kind == VARIABLE:
        unit.assign(place.name, source, "variable", node)
        return
    entity = unit.body.instruction(unit.entity(tail(place.label + " ="), node))
    unit.emit("store_" + place.kind, entity, *place.row, source)
    unit.body.other_code()


def address(unit: Unit, place: Place, node: Node) -> int:
    """Return the address of a place."""
    if place.kind == VARIABLE:
        return unit.address(place.name)
    if place.kind == POINTER:
        return place.base
    value = unit.body.instruction(unit.entity(tail("&" + place.label), node))
    unit.emit("address_" + place.kind, value, *place.row)
    return value


def address_of(unit: Unit, node: Node) -> int:
    """Return the address of what an expression means; for a structure that is only a value, that value."""
    place = place_of(unit, node)
    return unit.value(node) if place is None else address(unit, place, node)


@EXPRESSIONS("identifier")
def _identifier(unit: Unit, node: Node) -> int:
    if node.start_byte in unit.arguments:
        return unit.type_of(" ".join(unit.written[node.start_byte : node.end_byte].decode().split()))
    return unit.read(unit.text(node), node)


@EXPRESSIONS("field_identifier")
def _field_identifier(unit: Unit, node: Node) -> int:
    """A field without the structure it belongs to stands in broken code only."""
    return unit.unknown(None)


@EXPRESSIONS("field_expression")
def _load_field(unit: Unit, node: Node) -> int:
    return load(unit, _field(unit, node), node)


@EXPRESSIONS("subscript_expression")
def _load_element(unit: Unit, node: Node) -> int:
    """`a[i]`; a row of an array of several dimensions is its address."""
    place = place_of(unit, node)
    return address(unit, place, node) if _is_row(unit, node) else load(unit, place, node)


def _is_row(unit: Unit, node: Node) -> bool:
    depth = 0
    while node is not None and node.kind_id in _SUBSCRIPT and depth < MOST_DIMENSIONS:
        node, depth = tree.inside(node.child_by_field_id(tree.ARGUMENT)), depth + 1
    if node is None or node.kind_id not in tree.IDENTIFIER:
        return False
    name = unit.scope.find(unit.text(node))
    return name is not None and name.rank > depth


@EXPRESSIONS("pointer_expression")
def _pointer(unit: Unit, node: Node) -> int:
    if _operator(node) == "&":
        return address_of(unit, node.child_by_field_id(tree.ARGUMENT))
    return load(unit, place_of(unit, node), node)
