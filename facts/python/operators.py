"""Operators; short-circuit ones and conditional expressions as control flow."""

from functools import partial

from tree_sitter import Node

from facts.conditions import by_truth, decide_in_turn, either, short_circuit
from facts.control_flow_graph import Block
from facts.instructions import operation
from facts.operator_chains import Binary
from facts.python import tree
from facts.python.tree import EXPRESSIONS, children
from facts.python.unit import Unit
from facts.tree_sitter_grammar import is_broken

BINARY = Binary(tree.kind_ids("binary_operator"), tree.LEFT, tree.RIGHT, tree.OPERATOR)
BOOLEAN = Binary(tree.kind_ids("boolean_operator"), tree.LEFT, tree.RIGHT, tree.OPERATOR)
_NOT = tree.kind_ids("not_operator")
_COMPARISON, _PARENTHESES = tree.kind_ids("comparison_operator"), tree.kind_ids("parenthesized_expression")


@EXPRESSIONS("binary_operator")
def _binary(unit: Unit, node: Node) -> int:
    return BINARY.evaluate(unit, node)


@EXPRESSIONS("unary_operator")
def _unary(unit: Unit, node: Node) -> int:
    operand = unit.value(node.child_by_field_id(tree.ARGUMENT))
    return operation(unit, node.child_by_field_id(tree.OPERATOR).type, [operand], node)


@EXPRESSIONS("not_operator")
def _not(unit: Unit, node: Node) -> int:
    return operation(unit, "not", [unit.value(node.child_by_field_id(tree.ARGUMENT))], node)


@EXPRESSIONS("comparison_operator")
def _comparison(unit: Unit, node: Node) -> int:
    parts = [partial(_link(pair), unit) for pair in _comparisons(node)]
    return short_circuit(unit, "and", parts, by_truth(unit, True), node)


@EXPRESSIONS("boolean_operator")
def _boolean(unit: Unit, node: Node) -> int:
    operator = BOOLEAN.operator_of(node)
    parts = [partial(unit.value, part) for part in BOOLEAN.operands(node)]
    return short_circuit(unit, operator, parts, by_truth(unit, operator == "and"), node)


def _comparisons(node: Node) -> list[tuple]:
    """Return a chained comparison's links: (its state, index, operator, right operand, the whole)."""
    operands = children(node)
    operators = node.children_by_field_id(tree.OPERATORS)
    state = [operands[0]]
    return [
        (state, index, operator.type, operand, node)
        for index, (operator, operand) in enumerate(zip(operators, operands[1:], strict=True))
    ]


def _link(pair: tuple):
    """Return the evaluation of one link; operands in the middle are evaluated once."""
    state, index, operator, operand, node = pair

    def evaluate(unit: Unit) -> int:
        left = unit.value(state[0]) if index == 0 else state[0]
        state[0] = unit.value(operand)
        return operation(unit, operator, [left, state[0]], node)

    return evaluate


@EXPRESSIONS("conditional_expression")
def _conditional(unit: Unit, node: Node) -> int:
    on_true, condition, on_false = children(node)
    body = unit.body
    label = unit.words(condition)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    after = body.new_block("after " + label)
    decide(unit, condition, *blocks)
    values = [partial(unit.value, part) for part in (on_true, on_false)]
    return either(unit, "if " + label, blocks, values, node, after)


def decide(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `not`, `and`, `or` and chained comparisons give no value."""
    while (node.kind_id in _PARENTHESES or node.kind_id in _NOT) and not is_broken(node):
        if node.kind_id in _NOT:
            on_true, on_false = on_false, on_true
            node = node.child_by_field_id(tree.ARGUMENT)
        else:
            node = tree.only_child(node)
    if BOOLEAN.is_whole(node):
        operator = BOOLEAN.operator_of(node)
        return decide_in_turn(unit, operator, operator == "and", BOOLEAN.operands(node), decide, on_true, on_false)
    if node.kind_id in _COMPARISON and not is_broken(node):
        parts = [_link(pair) for pair in _comparisons(node)]
    else:
        parts = [lambda unit: unit.value(node)]
    body = unit.body
    for part in parts[:-1]:
        value = part(unit)
        following = body.new_block(f"and {unit.label(value)}")
        body.branch(value, following, on_false)
        body.start(following)
    body.branch(parts[-1](unit), on_true, on_false)
