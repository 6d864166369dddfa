"""Operators; short-circuit ones, conditional expressions and tests with patterns as control flow."""

from functools import partial

from tree_sitter import Node

from facts.conditions import by_truth, decide_in_turn, either, short_circuit
from facts.control_flow_graph import Block
from facts.instructions import operation
from facts.java import tree
from facts.java.patterns import test_instance
from facts.java.tree import EXPRESSIONS
from facts.java.unit import Unit
from facts.operator_chains import Binary
from facts.tree_sitter_grammar import is_broken

BINARY = Binary(tree.kind_ids("binary_expression"), tree.LEFT, tree.RIGHT, tree.OPERATOR)
_PARENTHESES = tree.kind_ids("parenthesized_expression")
_UNARY, _INSTANCEOF = tree.kind_ids("unary_expression"), tree.kind_ids("instanceof_expression")
_SHORT_CIRCUIT = frozenset({"&&", "||"})


def _operator(node: Node) -> str:
    return node.child_by_field_id(tree.OPERATOR).type


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if _operator(node) in _SHORT_CIRCUIT:
        return _short_circuit(unit, node)
    return BINARY.evaluate(unit, node, _SHORT_CIRCUIT)


@EXPRESSIONS("unary_expression")
def _unary(unit: Unit, node: Node) -> int:
    operators = [node]
    operand = node.child_by_field_id(tree.OPERAND)
    while operand.kind_id in _UNARY and not is_broken(operand):
        operators.append(operand)
        operand = operand.child_by_field_id(tree.OPERAND)
    value = unit.value(operand)
    for node in reversed(operators):
        value = operation(unit, _operator(node), [value], node)
    return value


def _short_circuit(unit: Unit, node: Node) -> int:
    operator = _operator(node)
    parts = [partial(unit.value, part) for part in BINARY.operands(node)]
    return short_circuit(unit, operator, parts, by_truth(unit, operator == "&&"), node)


@EXPRESSIONS("ternary_expression")
def _ternary(unit: Unit, node: Node) -> int:
    body, condition = unit.body, node.child_by_field_id(tree.CONDITION)
    label = unit.words(condition)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    after = body.new_block("after " + label)
    mark = unit.names.open()
    decide(unit, condition, *blocks)
    values = [partial(unit.value, node.child_by_field_id(f)) for f in (tree.CONSEQUENCE, tree.ALTERNATIVE)]
    value = either(unit, "if " + label, blocks, values, node, after)
    unit.names.close(mark)
    return value


def decide(unit: Unit, node: Node | None, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `!`, `&&`, `||` give no value; patterns bind where they match."""
    while node is not None and not is_broken(node):
        if node.kind_id in _UNARY and _operator(node) == "!":
            on_true, on_false = on_false, on_true
            node = node.child_by_field_id(tree.OPERAND)
        elif node.kind_id in _PARENTHESES:
            node = tree.only_child(node)
        else:
            break
    if node is None or is_broken(node):
        unit.body.branch(unit.unknown(node), on_true, on_false)
    elif BINARY.is_whole(node) and _operator(node) in _SHORT_CIRCUIT:
        operator = _operator(node)
        decide_in_turn(unit, operator, operator == "&&", BINARY.operands(node), decide, on_true, on_false)
    elif node.kind_id in _INSTANCEOF:
        test_instance(unit, node, on_false)
        unit.body.goto(on_true)
    else:
        unit.body.branch(unit.value(node), on_true, on_false)
