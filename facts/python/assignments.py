"""Assignment in every form: names, unpacking, attributes, subscripts, augmented, annotated; and `del`."""

from tree_sitter import Node

from facts.instructions import load_attribute, load_index, operation, store_attribute, store_index
from facts.python import tree
from facts.python.expressions import attribute_name, index_of
from facts.python.tree import EXPRESSIONS, STATEMENTS, children, only_child
from facts.python.type_annotations import annotate
from facts.python.unit import Unit
from facts.row_builder import tail

_UNPACKING = tree.kind_ids("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list")
_WRAPPERS = tree.kind_ids("parenthesized_expression", "as_pattern_target", "list_splat_pattern", "list_splat")


@EXPRESSIONS("assignment")
def _assignment(unit: Unit, node: Node) -> int:
    """`a = b = value`: targets from left to right; an annotation alone binds nothing."""
    targets = []
    while True:
        targets.append(node)
        right = node.child_by_field_id(tree.RIGHT)
        if right is None or right.type != "assignment":
            break
        node = right
    source = unit.value(right) if right is not None else None
    for target in targets:
        left, declared = target.child_by_field_id(tree.LEFT), target.child_by_field_id(tree.TYPE)
        value = assign_target(unit, left, source, "variable") if source is not None else None
        if declared is not None:
            annotate(unit, left, declared, value)
    return source if source is not None else 0


def assign_target(unit: Unit, node: Node, source: int, kind: str) -> int | None:
    """Assign `source` to a target; return the value that a name or store got, None for several."""
    while node.kind_id in _WRAPPERS:
        node = only_child(node)
    if node.kind_id == tree.IDENTIFIER:
        return unit.assign(unit.text(node), source, kind, node)
    if node.kind_id in _UNPACKING:
        _unpack(unit, children(node), source, kind)
        return None
    if node.type == "attribute":
        return _store_attribute(unit, node, source)
    if node.type == "subscript":
        return _store_index(unit, node, source)
    unit.unknown(node)
    return None


def _unpack(unit: Unit, parts: list[Node], source: int, kind: str) -> None:
    """Assign the elements of `source` to the parts, of which one may be starred."""
    starred = [index for index, part in enumerate(parts) if part.type in ("list_splat_pattern", "list_splat")]
    star = starred[0] if starred else len(parts)
    for index, part in enumerate(parts):
        if index == star:
            value = unit.body.instruction(unit.entity(tail(f"*{unit.label(source)}"), part))
            unit.emit("unpack_rest", value, source, index, len(parts) - index - 1)
        else:
            position = index if index < star else index - len(parts)
            value = unit.body.instruction(unit.entity(tail(f"{unit.label(source)}[{position}]"), part))
            unit.emit("unpack", value, source, position)
        assign_target(unit, part, value, kind)


def _store_attribute(unit: Unit, node: Node, source: int) -> int:
    base = unit.value(node.child_by_field_id(tree.OBJECT))
    return store_attribute(unit, base, attribute_name(unit, node), source, node)


def _store_index(unit: Unit, node: Node, source: int) -> int:
    base = unit.value(node.child_by_field_id(tree.VALUE))
    return store_at(unit, base, index_of(unit, node), source, node)


def store_at(unit: Unit, base: int, index: int | tuple, source: int, node: Node) -> int:
    """Store `source` in `base` at an index or a slice."""
    if isinstance(index, tuple):
        store = unit.body.instruction(unit.entity(tail(unit.label(base) + "[:] ="), node))
        unit.emit("store_slice", store, base, *index, source)
        return store
    return store_index(unit, base, index, source, node)


@EXPRESSIONS("augmented_assignment")
def _augmented(unit: Unit, node: Node) -> int:
    """`target op= value`: the target's parts are evaluated once, then read, computed and stored."""
    target, operator = node.child_by_field_id(tree.LEFT), node.child_by_field_id(tree.OPERATOR).type
    right = node.child_by_field_id(tree.RIGHT)
    while target.type == "parenthesized_expression":
        target = only_child(target)
    if target.type == "attribute":
        base = unit.value(target.child_by_field_id(tree.OBJECT))
        name = attribute_name(unit, target)
        old = load_attribute(unit, base, name, target)
        value = operation(unit, operator, [old, unit.value(right)], node)
        store_attribute(unit, base, name, value, target)
    elif target.type == "subscript":
        value = _augmented_index(unit, target, operator, right, node)
    else:
        value = operation(unit, operator, [unit.value(target), unit.value(right)], node)
        assign_target(unit, target, value, "variable")
    return value


def _augmented_index(unit: Unit, target: Node, operator: str, right: Node, node: Node) -> int:
    base = unit.value(target.child_by_field_id(tree.VALUE))
    index = index_of(unit, target)
    if isinstance(index, tuple):
        old = unit.body.instruction(unit.entity(tail(unit.label(base) + "[:]"), target))
        unit.emit("load_slice", old, base, *index)
    else:
        old = load_index(unit, base, index, target)
    value = operation(unit, operator, [old, unit.value(right)], node)
    store_at(unit, base, index, value, target)
    return value


@STATEMENTS("delete_statement")
def _delete(unit: Unit, node: Node) -> None:
    for target in children(node):
        _delete_target(unit, target)


def _delete_target(unit: Unit, node: Node) -> None:
    if node.kind_id == tree.IDENTIFIER:
        unit.unbind(unit.text(node), node)
    elif node.type == "attribute":
        base, name = unit.value(node.child_by_field_id(tree.OBJECT)), attribute_name(unit, node)
        delete = unit.body.instruction(unit.entity(tail(f"del {unit.label(base)}.{name}"), node))
        unit.emit("delete_attribute", delete, base, name)
    elif node.type == "subscript":
        base, index = unit.value(node.child_by_field_id(tree.VALUE)), index_of(unit, node)
        delete = unit.body.instruction(unit.entity(tail(f"del {unit.label(base)}[]"), node))
        if isinstance(index, tuple):
            unit.emit("delete_slice", delete, base, *index)
        else:
            unit.emit("delete_index", delete, base, index)
    else:
        for child in children(node):
            _delete_target(unit, child)
