"""Names, fields, array elements, new arrays and casts."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import allocate, load_attribute, load_index
from facts.java import tree
from facts.java.tree import EXPRESSIONS, children, only_child, with_fields
from facts.java.type_values import array, array_of
from facts.java.unit import Unit
from facts.row_builder import tail

_PARENTHESES = tree.kind_ids("parenthesized_expression")


@EXPRESSIONS("identifier")
def _identifier(unit: Unit, node: Node) -> int:
    return unit.read(unit.text(node), node)


@EXPRESSIONS("underscore_pattern")
def _underscore(unit: Unit, node: Node) -> int:
    """`_` as an expression is no Java; as a name it binds nothing."""
    return unit.entity("unknown", node)


@EXPRESSIONS("this")
def _this(unit: Unit, node: Node) -> int:
    return unit.this()


@EXPRESSIONS("super")
def _super(unit: Unit, node: Node) -> int:
    return unit.super(NIL)


@EXPRESSIONS("parenthesized_expression")
def _parenthesized(unit: Unit, node: Node) -> int:
    while node is not None and node.kind_id in _PARENTHESES:
        node = only_child(node)
    return unit.value(node)


@EXPRESSIONS("field_access")
def _field_access(unit: Unit, node: Node) -> int:
    """`a.b`; `K.this` and `K.super.b` name an object around."""
    field = node.child_by_field_id(tree.FIELD)
    base = field_base(unit, node)
    if field is not None and field.type == "this":
        return unit.body.load_once(("this", base), "this", "outer_receiver", unit.body.entity, base)
    return load_attribute(unit, base, unit.text(field), node)


def field_base(unit: Unit, node: Node) -> int:
    """Evaluate what stands before the dot of `a.b`, `super.b` or `K.super.b`."""
    base = unit.qualifier(node.child_by_field_id(tree.OBJECT))
    return unit.super(base) if _names_super(node) else base


def _names_super(node: Node) -> bool:
    """Return True if `super` stands between an object and a name: `K.super.m()`."""
    base = node.child_by_field_id(tree.OBJECT)
    return any(child.type == "super" and child != base for child in node.named_children)


@EXPRESSIONS("array_access")
def _array_access(unit: Unit, node: Node) -> int:
    base = unit.value(node.child_by_field_id(tree.ARRAY))
    return load_index(unit, base, unit.value(node.child_by_field_id(tree.INDEX)), node)


# ---- New arrays


@EXPRESSIONS("array_creation_expression")
def _array_creation(unit: Unit, node: Node) -> int:
    """`new T[n][]` and `new T[] {…}`. Where several sizes are given, arrays are the elements of the outer ones."""
    kind = array_of(unit, unit.value(node.child_by_field_id(tree.TYPE)), tree.child_of_type(node, "dimensions"))
    initializer = node.child_by_field_id(tree.VALUE)
    if initializer is not None:
        value = unit.value(initializer)
        unit.emit("annotation", value, kind)
        return value
    return _sized_array(unit, kind, [child for child in node.named_children if child.type == "dimensions_expr"], node)


def _sized_array(unit: Unit, kind: int, sizes: list[Node], node: Node) -> int:
    lengths = [unit.value(children(size)[-1]) for size in sizes]
    value, inner = NIL, NIL
    for length in reversed(lengths):
        kind = array(unit, kind)
        value = unit.entity("array", node)
        if inner != NIL:
            unit.emit("element", value, inner)
        allocate(unit, value, "array")
        unit.emit("array_length", value, length)
        unit.emit("annotation", value, kind)
        inner = value
    return value


@EXPRESSIONS("array_initializer", "element_value_array_initializer")
def _array_initializer(unit: Unit, node: Node) -> int:
    value = unit.entity("array", node)
    for position, part in enumerate(children(node)):
        unit.emit("position_item", value, position, unit.value(part))
    return allocate(unit, value, "array")


# ---- Casts


@EXPRESSIONS("cast_expression")
def _cast(unit: Unit, node: Node) -> int:
    """`(A & B) value` is of each type."""
    kinds = [unit.value(kind) for kind in with_fields(node, tree.TYPE)]
    source = unit.value(node.child_by_field_id(tree.VALUE))
    return cast(unit, source, kinds, node)


def cast(unit: Unit, source: int, kinds: list[int], node: Node) -> int:
    """Return `source` as a value of these types."""
    label = f"({'&'.join(map(unit.label, kinds))}) {unit.label(source)}"
    value = unit.body.instruction(unit.entity(tail(label), node))
    for kind in kinds:
        unit.emit("cast", value, source, kind)
    return value
