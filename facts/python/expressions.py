"""Names, attributes, subscripts, displays and the other expressions that make values."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import allocate, awaited, load_attribute, load_index
from facts.python import tree
from facts.python.literals import constant
from facts.python.tree import EXPRESSIONS, children, only_child, with_fields
from facts.python.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import has_token


@EXPRESSIONS("identifier")
def _identifier(unit: Unit, node: Node) -> int:
    return unit.read(unit.text(node))


@EXPRESSIONS("parenthesized_expression")
def _parenthesized(unit: Unit, node: Node) -> int:
    while node is not None and node.kind_id in _PARENTHESES:
        node = only_child(node)
    return unit.value(node)


_PARENTHESES = tree.kind_ids("parenthesized_expression")


@EXPRESSIONS("attribute")
def _attribute(unit: Unit, node: Node) -> int:
    base = unit.value(node.child_by_field_id(tree.OBJECT))
    return load_attribute(unit, base, attribute_name(unit, node), node)


def attribute_name(unit: Unit, node: Node) -> str:
    """Return the attribute's name, with the class's for a private one."""
    return unit.scope.mangled(unit.text(node.child_by_field_id(tree.ATTRIBUTE)))


# ---- Subscripts


@EXPRESSIONS("subscript")
def _subscript(unit: Unit, node: Node) -> int:
    base = unit.value(node.child_by_field_id(tree.VALUE))
    index = index_of(unit, node)
    if isinstance(index, tuple):
        value = unit.body.instruction(unit.entity(tail(unit.label(base) + "[:]"), node))
        unit.emit("load_slice", value, base, *index)
        return value
    return load_index(unit, base, index, node)


def index_of(unit: Unit, node: Node) -> int | tuple[int, int, int]:
    """Evaluate what stands in a subscript's brackets: one index, or start, stop and step of a slice."""
    indices = list(with_fields(node, tree.SUBSCRIPT))
    if len(indices) != 1:
        return display(unit, "tuple", indices, node)
    return slice_bounds(unit, indices[0]) if indices[0].type == "slice" else unit.value(indices[0])


def slice_bounds(unit: Unit, node: Node) -> tuple[int, int, int]:
    """Evaluate `start:stop:step`; NIL for what is not given."""
    bounds, position = [NIL, NIL, NIL], 0
    for child in node.children:
        if child.type == ":":
            position += 1
        elif child.is_named and child.kind_id not in tree.GRAMMAR.extras:
            bounds[min(position, 2)] = unit.value(child)
    return tuple(bounds)


@EXPRESSIONS("slice")
def _slice(unit: Unit, node: Node) -> int:
    """A slice among several indices, `a[1:2, 3]`: an object of kind slice that holds its bounds."""
    value = unit.entity("slice", node)
    for position, bound in enumerate(slice_bounds(unit, node)):
        if bound != NIL:
            unit.emit("position_item", value, position, bound)
    return allocate(unit, value, "slice")


# ---- Displays


@EXPRESSIONS("list", "tuple", "set", "expression_list", "pattern_list", "list_pattern", "tuple_pattern")
def _display(unit: Unit, node: Node) -> int:
    kind = {"list": "list", "list_pattern": "list", "set": "set"}.get(node.type, "tuple")
    return display(unit, kind, children(node), node)


def display(unit: Unit, kind: str, parts: list[Node], node: Node) -> int:
    """Return a new container of the parts' values; positions are known up to the first `*part`."""
    container = unit.entity(kind, node)
    position = 0
    for part in parts:
        if part.type in ("list_splat", "parenthesized_list_splat", "list_splat_pattern"):
            unit.emit("spread", container, unit.value(splatted(part)), position)
            position = -1
        elif kind == "set" or position < 0:
            unit.emit("element", container, unit.value(part))
        else:
            unit.emit("position_item", container, position, unit.value(part))
            position += 1
    return allocate(unit, container, kind)


def splatted(node: Node) -> Node | None:
    """Return the expression after the stars of `*x`, `(*x)` or `**x`."""
    inner = only_child(node)
    return splatted(inner) if inner is not None and inner.type == "list_splat" else inner


@EXPRESSIONS("dictionary")
def _dictionary(unit: Unit, node: Node) -> int:
    container = unit.entity("dict", node)
    for part in children(node):
        if part.type == "pair":
            key = unit.value(part.child_by_field_id(tree.KEY))
            unit.emit("item", container, key, unit.value(part.child_by_field_id(tree.VALUE)))
        elif part.type == "dictionary_splat":
            unit.emit("spread", container, unit.value(splatted(part)), -1)
        else:
            unit.unknown(part)
    return allocate(unit, container, "dict")


@EXPRESSIONS("list_splat", "parenthesized_list_splat", "dictionary_splat", "list_splat_pattern")
def _lone_splat(unit: Unit, node: Node) -> int:
    """A starred expression outside of displays and calls: the values it stands for, as a tuple."""
    return display(unit, "tuple", [node], node) if node.type != "dictionary_splat" else unit.value(splatted(node))


@EXPRESSIONS("named_expression")
def _named(unit: Unit, node: Node) -> int:
    source = unit.value(node.child_by_field_id(tree.VALUE))
    name = node.child_by_field_id(tree.NAME)
    return unit.assign(unit.text(name), source, "variable", name)


# ---- Coroutines and generators


@EXPRESSIONS("await")
def _await(unit: Unit, node: Node) -> int:
    return awaited(unit, unit.value(only_child(node)), node)


@EXPRESSIONS("yield")
def _yield(unit: Unit, node: Node) -> int:
    parts = children(node)
    if has_token(node, "from"):
        source = unit.value(parts[0])
        result = unit.body.running(unit.entity(tail("yield from " + unit.label(source)), node))
        unit.emit("delegates", unit.body.entity, source, result)
        return result
    if len(parts) > 1:
        value = display(unit, "tuple", parts, node)
    else:
        value = unit.value(parts[0]) if parts else constant(unit, "none", "None")
    unit.emit("yields", unit.body.entity, value)
    return unit.body.running(unit.entity(tail("yield " + unit.label(value)), node))
