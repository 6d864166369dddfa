"""Assignments to places, and declarations by `:=`."""

from tree_sitter import Node

from facts.go import tree
from facts.go.expressions import cast, instance_test
from facts.go.functions import unpacked
from facts.go.places import BLANK, NAME, NONE, Place, load, place_of, store
from facts.go.tree import STATEMENTS, operator_of
from facts.go.unit import Unit
from facts.instructions import operation
from facts.row_builder import tail

_INDEX, _ASSERTION = tree.kind_ids("index_expression"), tree.kind_ids("type_assertion_expression")


@STATEMENTS("assignment_statement")
def _assignment(unit: Unit, node: Node) -> None:
    lefts, rights = tree.listed(node.child_by_field_id(tree.LEFT)), tree.listed(node.child_by_field_id(tree.RIGHT))
    operator = operator_of(node)
    places = [place_of(unit, left) for left in lefts]
    if operator == "=":
        values = evaluate(unit, rights, len(lefts), node)
    else:
        values = [operation(unit, operator, [load(unit, places[0], lefts[0]), unit.value(rights[0])], node)]
    for place, value, left in zip(places, values, lefts, strict=False):
        store(unit, place, value, left)


@STATEMENTS("inc_statement", "dec_statement")
def _update(unit: Unit, node: Node) -> None:
    operand = tree.only_child(node)
    place = place_of(unit, operand)
    operator = "++" if node.type == "inc_statement" else "--"
    store(unit, place, operation(unit, operator, [load(unit, place, operand)], node), operand)


@STATEMENTS("short_var_declaration")
def _short_declaration(unit: Unit, node: Node) -> None:
    lefts = tree.listed(node.child_by_field_id(tree.LEFT))
    values = evaluate(unit, tree.listed(node.child_by_field_id(tree.RIGHT)), len(lefts), node)
    for left, value in zip(lefts, values, strict=False):
        declare_and_store(unit, left, value, "variable")


def declare_and_store(unit: Unit, node: Node, value: int, kind: str) -> None:
    """Let a name on the left of `:=` have a value: a new variable, unless the block declares it already."""
    plain = tree.inside(node)
    if plain is None or plain.kind_id not in tree.IDENTIFIER:
        store(unit, place_of(unit, node), value, node)
        return
    name = unit.text(plain)
    if name == "_":
        return
    declared = unit.scope.names.get(name) or unit.declare(plain)
    if declared.form == "variable":
        unit.assign(declared, value, kind, plain)


def target(unit: Unit, node: Node, value: int, kind: str, *, declares: bool) -> None:
    """Store to what stands on the left of `=`, or declare what stands on the left of `:=`."""
    if declares:
        declare_and_store(unit, node, value, kind)
        return
    place: Place = place_of(unit, node)
    if place.kind == NAME and place.name is not None:
        unit.assign(place.name, value, kind, node)
    elif place.kind not in (BLANK, NONE):
        store(unit, place, value, node)


def evaluate(unit: Unit, nodes: list[Node], count: int, node: Node) -> list[int]:
    """Return `count` values of the right side: one each, or the several that one call, test or receive gives."""
    if len(nodes) != 1 or count == 1:
        return [unit.value(part) for part in nodes]
    (part,) = nodes
    plain = tree.inside(part)
    if count == 2 and plain is not None:
        if plain.kind_id in _ASSERTION:
            return _tested(unit, plain)
        if plain.kind_id in _INDEX or (plain.kind_id in tree.UNARY and operator_of(plain) == "<-"):
            value = unit.value(plain)
            return [value, is_there(unit, value, plain)]
    source = unit.value(part)
    return [unpacked(unit, source, position, node) for position in range(count)]


def is_there(unit: Unit, value: int, node: Node) -> int:
    """Return the `ok` of `value, ok := m[k]` or `<-channel`: whether there was a value."""
    there = unit.body.instruction(unit.entity(tail("ok " + unit.label(value)), node))
    unit.emit("operation", there, "ok")
    unit.emit("operand", there, 0, value)
    return there


def _tested(unit: Unit, node: Node) -> list[int]:
    """Return the two values of `x.(T)`: x as a T, and whether it is one."""
    subject, kind = unit.value(node.child_by_field_id(tree.OPERAND)), node.child_by_field_id(tree.TYPE)
    test, value = instance_test(unit, subject, kind, node)
    return [cast(unit, subject, value, node), test]
