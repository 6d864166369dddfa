"""Operators; short-circuit ones, conditional expressions and tests with patterns as control flow."""

from tree_sitter import Node

from facts.cfg import Block
from facts.grammar import is_broken
from facts.instructions import merged, operation
from facts.java import tree
from facts.java.patterns import test_instance
from facts.java.tree import EXPRESSIONS
from facts.java.unit import Unit

_BINARY, _PARENTHESES = tree.kind_ids("binary_expression"), tree.kind_ids("parenthesized_expression")
_UNARY, _INSTANCEOF = tree.kind_ids("unary_expression"), tree.kind_ids("instanceof_expression")
_SHORT_CIRCUIT = ("&&", "||")


def _operator(node: Node) -> str:
    return node.child_by_field_id(tree.OPERATOR).type


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if _operator(node) in _SHORT_CIRCUIT:
        return _short_circuit(unit, node)
    chain = [node]
    left = node.child_by_field_id(tree.LEFT)
    while left.kind_id in _BINARY and not is_broken(left) and _operator(left) not in _SHORT_CIRCUIT:
        chain.append(left)
        left = left.child_by_field_id(tree.LEFT)
    value = unit.value(left)
    for node in reversed(chain):
        right = unit.value(node.child_by_field_id(tree.RIGHT))
        value = operation(unit, _operator(node), [value, right], node)
    return value


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


def _spine(node: Node) -> list[Node]:
    """Return the operands of a chain of one short-circuit operator: a && b && c."""
    operator, parts = _operator(node), []
    while node.kind_id in _BINARY and not is_broken(node) and _operator(node) == operator:
        parts.append(node.child_by_field_id(tree.RIGHT))
        node = node.child_by_field_id(tree.LEFT)
    return [node, *reversed(parts)]


def _short_circuit(unit: Unit, node: Node) -> int:
    """Return the value of `a && b && …`: that of the first part that decides, or of the last."""
    operator, body = _operator(node), unit.body
    first, *rest = _spine(node)
    value = unit.value(first)
    after = body.new_block(f"after {operator} {unit.label(value)}")
    entering = []
    for part in rest:
        following = body.new_block(f"{operator} {unit.label(value)}")
        entering.append((value, body.block))
        body.branch(value, *((following, after) if operator == "&&" else (after, following)))
        body.start(following)
        value = unit.value(part)
    entering.append((value, body.block))
    body.goto(after)
    body.start(after)
    return merged(unit, operator, entering, node)


@EXPRESSIONS("ternary_expression")
def _ternary(unit: Unit, node: Node) -> int:
    body, condition = unit.body, node.child_by_field_id(tree.CONDITION)
    label = unit.words(condition)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    after = body.new_block("after " + label)
    mark = unit.names.open()
    decide(unit, condition, *blocks)
    entering = []
    for block, field in zip(blocks, (tree.CONSEQUENCE, tree.ALTERNATIVE), strict=True):
        body.start(block)
        value = unit.value(node.child_by_field_id(field))
        entering.append((value, body.block))
        body.goto(after)
    body.start(after)
    unit.names.close(mark)
    return merged(unit, "if " + label, entering, node)


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
    elif node.kind_id in _BINARY and _operator(node) in _SHORT_CIRCUIT:
        _decide_short_circuit(unit, node, on_true, on_false)
    elif node.kind_id in _INSTANCEOF:
        test_instance(unit, node, on_false)
        unit.body.goto(on_true)
    else:
        unit.body.branch(unit.value(node), on_true, on_false)


def _decide_short_circuit(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    operator = _operator(node)
    *parts, last = _spine(node)
    for part in parts:
        following = unit.body.new_block(f"{operator} {unit.words(part)}")
        if operator == "&&":
            decide(unit, part, following, on_false)
        else:
            decide(unit, part, on_true, following)
        unit.body.start(following)
    decide(unit, last, on_true, on_false)
