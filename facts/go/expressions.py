"""Names, fields, elements, slices, conversions and tests of types."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.go import tree
from facts.go.places import base_of
from facts.go.tree import EXPRESSIONS, children
from facts.go.type_values import is_type_name, with_arguments
from facts.go.unit import Unit
from facts.instructions import load_attribute, load_index, operation
from facts.row_builder import tail

_TYPES = tree.kind_ids(
    "slice_type", "array_type", "map_type", "channel_type", "function_type", "pointer_type", "struct_type",
    "interface_type", "generic_type", "qualified_type",
)  # fmt: skip


@EXPRESSIONS("identifier", "blank_identifier")
def _identifier(unit: Unit, node: Node) -> int:
    text = unit.text(node)
    return unit.read(text) if text != "_" else unit.entity("unknown", node)


@EXPRESSIONS("parenthesized_expression")
def _parenthesized(unit: Unit, node: Node) -> int:
    return unit.value(tree.inside(node))


@EXPRESSIONS("selector_expression")
def _selector(unit: Unit, node: Node) -> int:
    return load_attribute(unit, base_of(unit, node), unit.text(node.child_by_field_id(tree.FIELD)), node)


@EXPRESSIONS("index_expression")
def _index(unit: Unit, node: Node) -> int:
    """`a[i]`; a generic function with its type argument looks the same, and is told by what stands in the brackets."""
    base, index = unit.value(node.child_by_field_id(tree.OPERAND)), node.child_by_field_id(tree.INDEX)
    if is_type_argument(unit, index):
        return with_arguments(unit, base, [unit.value(index)])
    return load_index(unit, base, unit.value(index), node)


def is_type_argument(unit: Unit, node: Node | None) -> bool:
    """Return True if what stands in brackets is surely a type."""
    while node is not None and node.type in ("type_elem", "parenthesized_type") and len(children(node)) == 1:
        node = tree.only_child(node)
    return node is not None and (node.kind_id in _TYPES or is_type_name(unit, node))


@EXPRESSIONS("type_instantiation_expression")
def _instantiation(unit: Unit, node: Node) -> int:
    base, *arguments = children(node)
    return with_arguments(unit, unit.value(base), [unit.value(argument) for argument in arguments])


@EXPRESSIONS("slice_expression")
def _slice(unit: Unit, node: Node) -> int:
    """`a[i:j]` shares the elements of `a`; a third bound, in the place of a step, only limits how it may grow."""
    base = unit.value(node.child_by_field_id(tree.OPERAND))
    start, stop, end = (_bound(unit, node.child_by_field_id(field)) for field in (tree.START, tree.END, tree.CAPACITY))
    value = unit.body.instruction(unit.entity(tail(unit.label(base) + "[:]"), node))
    unit.emit("load_slice", value, base, start, stop, end)
    return value


def _bound(unit: Unit, node: Node | None) -> int:
    return unit.value(node) if node is not None else NIL


@EXPRESSIONS("type_assertion_expression")
def _assertion(unit: Unit, node: Node) -> int:
    """`x.(T)`: x as a T; it panics if it is none."""
    source = unit.value(node.child_by_field_id(tree.OPERAND))
    return cast(unit, source, unit.value(node.child_by_field_id(tree.TYPE)), node)


def cast(unit: Unit, source: int, kind: int, node: Node) -> int:
    """Return `source` as a value of a type."""
    value = unit.body.instruction(unit.entity(tail(f"{unit.label(source)}.({unit.label(kind)})"), node))
    unit.emit("cast", value, source, kind)
    return value


def instance_test(unit: Unit, subject: int, kind: Node, node: Node) -> tuple[int, int]:
    """Return whether `subject` is of a type, and that type; `nil` among types is the value."""
    if kind.type == "type_identifier" and unit.text(kind) == "nil":
        nil = unit.body.load_constant("none", "nil")
        return operation(unit, "==", [subject, nil], node), nil
    value = unit.value(kind)
    return operation(unit, "instanceof", [subject, value], node), value
