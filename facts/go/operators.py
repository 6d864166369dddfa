"""Operators; short-circuit ones and conditions as control flow."""

from functools import partial

from tree_sitter import Node

from facts.cfg import Block
from facts.conditions import chain, decide_in_turn, short_circuit
from facts.go import tree
from facts.go.channels import receive
from facts.go.places import address, load_pointer
from facts.go.tree import EXPRESSIONS, operator_of
from facts.go.unit import Unit
from facts.grammar import is_broken
from facts.instructions import operation

_SHORT_CIRCUIT = ("&&", "||")


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if operator_of(node) in _SHORT_CIRCUIT:
        return _short_circuit(unit, node)
    links = chain(
        node, lambda inner: inner.kind_id in tree.BINARY and operator_of(inner) not in _SHORT_CIRCUIT, tree.LEFT
    )
    value = unit.value(links[0].child_by_field_id(tree.LEFT))
    for link in links:
        value = operation(unit, operator_of(link), [value, unit.value(link.child_by_field_id(tree.RIGHT))], link)
    return value


@EXPRESSIONS("unary_expression")
def _unary(unit: Unit, node: Node) -> int:
    operator, operand = operator_of(node), node.child_by_field_id(tree.OPERAND)
    if operator == "&":
        return address(unit, operand)
    value = unit.value(operand)
    if operator == "*":
        return load_pointer(unit, value, node)
    return receive(unit, value, node) if operator == "<-" else operation(unit, operator, [value], node)


def _spine(node: Node) -> list[Node]:
    """Return the operands of a chain of one short-circuit operator: a && b && c."""
    operator = operator_of(node)
    links = chain(node, lambda inner: inner.kind_id in tree.BINARY and operator_of(inner) == operator, tree.LEFT)
    return [links[0].child_by_field_id(tree.LEFT), *(link.child_by_field_id(tree.RIGHT) for link in links)]


def _short_circuit(unit: Unit, node: Node) -> int:
    operator = operator_of(node)

    def decide_by(value: int, following: Block, after: Block) -> None:
        unit.body.branch(value, *((following, after) if operator == "&&" else (after, following)))

    return short_circuit(unit, operator, [partial(unit.value, part) for part in _spine(node)], decide_by, node)


def decide(unit: Unit, node: Node | None, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `!`, `&&` and `||` give no value."""
    while node is not None and not is_broken(node):
        if node.kind_id in tree.PARENTHESES:
            node = tree.only_child(node)
        elif node.kind_id in tree.UNARY and operator_of(node) == "!":
            on_true, on_false = on_false, on_true
            node = node.child_by_field_id(tree.OPERAND)
        else:
            break
    if node is not None and node.kind_id in tree.BINARY and not is_broken(node) and operator_of(node) in _SHORT_CIRCUIT:
        operator = operator_of(node)
        decide_in_turn(unit, operator, operator == "&&", _spine(node), decide, on_true, on_false)
    else:
        unit.body.branch(unit.value(node), on_true, on_false)
