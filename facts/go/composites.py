"""Composite literals: structs, slices, arrays and maps."""

from tree_sitter import Node

from facts.go import tree
from facts.go.tree import EXPRESSIONS, children, only_child
from facts.go.type_values import made
from facts.go.unit import Unit
from facts.instructions import allocate, store_attribute
from facts.row_builder import tail

_KINDS = {
    "slice_type": "slice",
    "array_type": "array",
    "implicit_length_array_type": "array",
    "map_type": "map",
    "struct_type": "struct",
}


@EXPRESSIONS("composite_literal")
def _composite(unit: Unit, node: Node) -> int:
    kind = node.child_by_field_id(tree.TYPE)
    return _build(unit, kind, unit.value(kind), node.child_by_field_id(tree.BODY), node)


def pointed_at(unit: Unit, node: Node) -> int:
    """Return the object that `&T{…}` points to: its type is a pointer."""
    kind = node.child_by_field_id(tree.TYPE)
    return _build(unit, kind, _pointer_to(unit, kind), node.child_by_field_id(tree.BODY), node)


def _pointer_to(unit: Unit, kind: Node | None) -> int | None:
    return made(unit, "*", [unit.value(kind)], "*" + unit.words(kind)) if kind is not None else None


@EXPRESSIONS("literal_value")
def _untyped(unit: Unit, node: Node) -> int:
    """`{…}` without a type that is known here."""
    return _build(unit, None, None, node, node)


@EXPRESSIONS("literal_element")
def _element(unit: Unit, node: Node) -> int:
    return unit.value(only_child(node))


def _build(unit: Unit, kind: Node | None, type_value: int | None, body: Node | None, node: Node) -> int:
    """Return a new object of a type that holds what stands in the braces."""
    shape = _shape(unit, kind)
    form = _KINDS.get(shape.type, "struct") if shape is not None else _guess(body)
    label = unit.words(kind) if kind is not None else form
    value = allocate(unit, unit.entity(tail(label + "{}"), node), form)
    if type_value is not None:
        unit.emit("annotation", value, type_value)
    parts = children(body) if body is not None else []
    if form == "struct":
        _fill_struct(unit, value, shape, parts)
    else:
        _fill(unit, value, form, shape, parts)
    return value


def _shape(unit: Unit, kind: Node | None) -> Node | None:
    """Return what a type is made of, as far as this file says."""
    for _ in range(10):
        while kind is not None and kind.type in ("generic_type", "parenthesized_type", "pointer_type"):
            kind = kind.child_by_field_id(tree.TYPE) if kind.type == "generic_type" else only_child(kind)
        if kind is None or kind.type != "type_identifier":
            break
        found = unit.scope.find(unit.text(kind))
        kind = found.shape if found is not None else None
    return kind if kind is not None and kind.type in _KINDS else None


def _guess(body: Node | None) -> str:
    """Return the kind of an object whose type is unknown: keys that are no names are those of a map."""
    for part in children(body) if body is not None else ():
        if part.type == "keyed_element":
            key = only_child(part.child_by_field_id(tree.KEY))
            return "struct" if key is not None and key.kind_id in tree.IDENTIFIER else "map"
    return "struct"


def _fill_struct(unit: Unit, value: int, shape: Node | None, parts: list[Node]) -> None:
    """Store fields by their names; without names they have a position, and a name if the file knows the struct."""
    fields = _fields(unit, shape)
    for position, part in enumerate(parts):
        if part.type == "keyed_element":
            key = part.child_by_field_id(tree.KEY)
            name = unit.text(key)
            kind = fields.get(name)
            source = _element_value(unit, kind, part.child_by_field_id(tree.VALUE))
            store_attribute(unit, value, name, source, part)
        elif position < len(fields):
            name, kind = list(fields.items())[position]
            store_attribute(unit, value, name, _element_value(unit, kind, part), part)
        else:
            unit.emit("position_item", value, position, _element_value(unit, None, part))


def _fields(unit: Unit, shape: Node | None) -> dict[str, Node | None]:
    """Return the types of a struct's fields by name."""
    fields: dict[str, Node | None] = {}
    for declarations in children(shape) if shape is not None and shape.type == "struct_type" else ():
        for declaration in children(declarations):
            kind = declaration.child_by_field_id(tree.TYPE)
            names = [unit.text(name) for name in tree.with_fields(declaration, tree.NAME)]
            if not names and kind is not None:
                names = [unit.text(kind).rpartition(".")[2].partition("[")[0]]
            fields.update(dict.fromkeys(names, kind))
    return fields


def _fill(unit: Unit, value: int, form: str, shape: Node | None, parts: list[Node]) -> None:
    """Put elements in a slice, array or map. An index may be given; those that follow count on from it."""
    element = shape.child_by_field_id(tree.VALUE if form == "map" else tree.ELEMENT) if shape is not None else None
    position: int | None = 0
    for part in parts:
        if part.type != "keyed_element":
            source = _element_value(unit, element, part)
            if position is None:
                unit.emit("element", value, source)
            else:
                unit.emit("position_item", value, position, source)
                position += 1
            continue
        key_type = shape.child_by_field_id(tree.KEY) if shape is not None and form == "map" else None
        key = _element_value(unit, key_type, part.child_by_field_id(tree.KEY))
        unit.emit("item", value, key, _element_value(unit, element, part.child_by_field_id(tree.VALUE)))
        position = None


def _element_value(unit: Unit, kind: Node | None, node: Node | None) -> int:
    """Evaluate an element; `{…}` alone is a literal of the element type, or of what that points to."""
    inner = only_child(node) if node is not None and node.type == "literal_element" else node
    if inner is None or inner.type != "literal_value":
        return unit.value(inner)
    if kind is not None and kind.type == "pointer_type":
        kind = only_child(kind)
        return _build(unit, kind, _pointer_to(unit, kind), inner, inner)
    return _build(unit, kind, unit.value(kind) if kind is not None else None, inner, inner)
