"""Assignment to variables, fields and array elements; compound assignment, `++` and `--`; local declarations."""

from collections.abc import Callable

from tree_sitter import Node

from facts.instructions import load_attribute, load_index, operation, store_attribute, store_index
from facts.java import tree
from facts.java.annotations import decorate, modifiers_of
from facts.java.expressions import field_base
from facts.java.tree import EXPRESSIONS, STATEMENTS, only_child, with_fields
from facts.java.type_values import declared_type
from facts.java.unit import Unit
from facts.row_builder import tail


@STATEMENTS("local_variable_declaration")
def _local_variables(unit: Unit, node: Node) -> None:
    for declarator in with_fields(node, tree.DECLARATOR):
        declare_variable(unit, node, declarator)


def declare_variable(unit: Unit, node: Node, declarator: Node) -> None:
    """Declare the local variable that `declarator` names, with what `node` says of it, and give it its first value."""
    kind = declared_type(unit, node, declarator)
    initial, name = declarator.child_by_field_id(tree.VALUE), declarator.child_by_field_id(tree.NAME)
    source = unit.value(initial) if initial is not None else None
    if name is None or name.type == "underscore_pattern":
        return
    variable = unit.declare(unit.text(name), kind)
    if source is not None:
        value = unit.assign(variable, source, "variable", name)
        _, annotations = modifiers_of(unit, node)
        decorate(unit, value, annotations)


@EXPRESSIONS("variable_declarator")
def _declarator(unit: Unit, node: Node) -> int:
    """A declarator without its declaration, in broken code: what it is given is evaluated."""
    return unit.value(node.child_by_field_id(tree.VALUE))


@EXPRESSIONS("assignment_expression")
def _assignment(unit: Unit, node: Node) -> int:
    target = node.child_by_field_id(tree.LEFT)
    right, operator = node.child_by_field_id(tree.RIGHT), node.child_by_field_id(tree.OPERATOR).type
    if operator == "=":
        return _store(unit, target, lambda: unit.value(right))
    return _update(unit, target, lambda old: operation(unit, operator, [old, unit.value(right)], node))[1]


@EXPRESSIONS("update_expression")
def _increment(unit: Unit, node: Node) -> int:
    """`++x` gives the new value, `x++` the old one."""
    is_prefix = not node.children[0].is_named
    operator = node.children[0 if is_prefix else -1].type

    def step(old: int) -> int:
        value = unit.body.instruction(unit.entity(tail(f"{unit.label(old)} {operator}"), node))
        unit.emit("operation", value, operator)
        unit.emit("operand", value, 0, old)
        return value

    return _update(unit, only_child(node), step)[is_prefix]


def _unwrapped(target: Node) -> Node:
    """Return the target without parentheses and casts: the grammar reads `(long) n++` as if it were `((long) n)++`."""
    while True:
        if target.type == "cast_expression":
            inner = target.child_by_field_id(tree.VALUE)
        else:
            inner = only_child(target) if target.type == "parenthesized_expression" else None
        if inner is None:
            return target
        target = inner


def _store(unit: Unit, target: Node, evaluate: Callable[[], int]) -> int:
    """Assign what `evaluate` gives, after the parts of `target` are evaluated; return it."""
    target = _unwrapped(target)
    if target.type == "field_access":
        base, name = field_base(unit, target), unit.text(target.child_by_field_id(tree.FIELD))
        source = evaluate()
        store_attribute(unit, base, name, source, target)
    elif target.type == "array_access":
        base = unit.value(target.child_by_field_id(tree.ARRAY))
        index = unit.value(target.child_by_field_id(tree.INDEX))
        source = evaluate()
        store_index(unit, base, index, source, target)
    else:
        source = evaluate()
        if target.kind_id == tree.IDENTIFIER:
            _store_name(unit, target, source)
        else:
            unit.unknown(target)
    return source


def _store_name(unit: Unit, target: Node, source: int) -> None:
    name = unit.text(target)
    variable = unit.names.variables.get(name)
    if variable is None:
        unit.store_outer(name, source, target)
    else:
        unit.assign(variable, source, "variable", target)


def _update(unit: Unit, target: Node, step: Callable[[int], int]) -> tuple[int, int]:
    """Replace the value of `target` by what `step` makes of it, its parts evaluated once; return both values."""
    target = _unwrapped(target)
    if target.type == "field_access":
        base, name = field_base(unit, target), unit.text(target.child_by_field_id(tree.FIELD))
        old = load_attribute(unit, base, name, target)
        value = step(old)
        store_attribute(unit, base, name, value, target)
    elif target.type == "array_access":
        base = unit.value(target.child_by_field_id(tree.ARRAY))
        index = unit.value(target.child_by_field_id(tree.INDEX))
        old = load_index(unit, base, index, target)
        value = step(old)
        store_index(unit, base, index, value, target)
    else:
        old = unit.value(target)
        value = step(old)
        if target.kind_id == tree.IDENTIFIER:
            _store_name(unit, target, value)
        else:
            unit.facts.unparsed(target.start_byte, target.end_byte)
    return old, value
