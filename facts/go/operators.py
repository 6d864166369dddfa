"""Operators; short-circuit ones and conditions as control flow."""

from functools import partial

from tree_sitter import Node

from facts.conditions import by_truth, decide_in_turn, short_circuit
from facts.control_flow_graph import Block
from facts.go import tree
from facts.go.channels import receive
from facts.go.places import address, load_pointer
from facts.go.tree import EXPRESSIONS, operator_of
from facts.go.unit import Unit
from facts.instructions import operation
from facts.operator_chains import Binary
from facts.tree_sitter_grammar import is_broken

BINARY = Binary(tree.BINARY, tree.LEFT, tree.RIGHT, tree.OPERATOR)
_SHORT_CIRCUIT = frozenset({"&&", "||"})


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if operator_of(node) in _SHORT_CIRCUIT:
        return _short_circuit(unit, node)
    return BINARY.evaluate(unit, node, _SHORT_CIRCUIT)


@EXPRESSIONS("unary_expression")
def _unary(unit: Unit, node: Node) -> int:
    operator, operand = operator_of(node), node.child_by_field_id(tree.OPERAND)
    if operator == "&":
        return address(unit, operand)
    value = unit.value(operand)
    if operator == "*":
        return load_pointer(unit, value, node)
    return receive(unit, value, node) if operator == "<-" else operation(unit, operator, [value], node)


def _short_circuit(unit: Unit, node: Node) -> int:
    operator = operator_of(node)
    parts = [partial(unit.value, part) for part in BINARY.operands(node)]
    return short_circuit(unit, operator, parts, by_truth(unit, operator == "&&"), node)


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
    if node is not None and BINARY.is_whole(node) and operator_of(node) in _SHORT_CIRCUIT:
        operator = operator_of(node)
        decide_in_turn(unit, operator, operator == "&&", BINARY.operands(node), decide, on_true, on_false)
    else:
        unit.body.branch(unit.value(node), on_true, on_false)
