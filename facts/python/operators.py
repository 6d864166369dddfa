"""Operators; short-circuit ones and conditional expressions as control flow."""

from tree_sitter import Node

from facts.cfg import Block
from facts.grammar import is_broken
from facts.instructions import merged, operation
from facts.python import tree
from facts.python.tree import EXPRESSIONS, children
from facts.python.unit import Unit

_NOT, _BOOLEAN = tree.kind_ids("not_operator"), tree.kind_ids("boolean_operator")
_COMPARISON, _PARENTHESES = tree.kind_ids("comparison_operator"), tree.kind_ids("parenthesized_expression")


@EXPRESSIONS("binary_operator")
def _binary(unit: Unit, node: Node) -> int:
    chain = [node]
    left = node.child_by_field_id(tree.LEFT)
    while left.kind_id in _BINARY and not is_broken(left):
        chain.append(left)
        left = left.child_by_field_id(tree.LEFT)
    value = unit.value(left)
    for node in reversed(chain):
        right = unit.value(node.child_by_field_id(tree.RIGHT))
        operator = node.child_by_field_id(tree.OPERATOR).type
        value = operation(unit, operator, [value, right], node)
    return value


_BINARY = tree.kind_ids("binary_operator")


@EXPRESSIONS("unary_operator")
def _unary(unit: Unit, node: Node) -> int:
    operand = unit.value(node.child_by_field_id(tree.ARGUMENT))
    return operation(unit, node.child_by_field_id(tree.OPERATOR).type, [operand], node)


@EXPRESSIONS("not_operator")
def _not(unit: Unit, node: Node) -> int:
    return operation(unit, "not", [unit.value(node.child_by_field_id(tree.ARGUMENT))], node)


@EXPRESSIONS("comparison_operator")
def _comparison(unit: Unit, node: Node) -> int:
    return _short_circuit(unit, node, [_link(pair) for pair in _comparisons(node)], "and")


@EXPRESSIONS("boolean_operator")
def _boolean(unit: Unit, node: Node) -> int:
    operator = node.child_by_field_id(tree.OPERATOR).type
    return _short_circuit(unit, node, [lambda unit, part=part: unit.value(part) for part in _spine(node)], operator)


def _spine(node: Node) -> list[Node]:
    """Return the operands of a chain of one boolean operator: a and b and c."""
    operator = node.child_by_field_id(tree.OPERATOR).type
    parts = []
    while node.kind_id in _BOOLEAN and not is_broken(node) and node.child_by_field_id(tree.OPERATOR).type == operator:
        parts.append(node.child_by_field_id(tree.RIGHT))
        node = node.child_by_field_id(tree.LEFT)
    return [node, *reversed(parts)]


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


def _short_circuit(unit: Unit, node: Node, parts: list, operator: str) -> int:
    """Return the value of `a and b and …`: that of the first part that decides, or of the last."""
    value = parts[0](unit)
    if len(parts) == 1:
        return value
    body = unit.body
    after = body.new_block(f"after {operator} {unit.label(value)}")
    entering = []
    for part in parts[1:]:
        following = body.new_block(f"{operator} {unit.label(value)}")
        entering.append((value, body.block))
        body.branch(value, *((following, after) if operator == "and" else (after, following)))
        body.start(following)
        value = part(unit)
    entering.append((value, body.block))
    body.goto(after)
    body.start(after)
    return merged(unit, operator, entering, node)


@EXPRESSIONS("conditional_expression")
def _conditional(unit: Unit, node: Node) -> int:
    on_true, condition, on_false = children(node)
    body = unit.body
    label = unit.words(condition)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    after = body.new_block("after " + label)
    decide(unit, condition, *blocks)
    entering = []
    for block, part in zip(blocks, (on_true, on_false), strict=True):
        body.start(block)
        value = unit.value(part)
        entering.append((value, body.block))
        body.goto(after)
    body.start(after)
    return merged(unit, "if " + label, entering, node)


def decide(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `not`, `and`, `or` and chained comparisons give no value."""
    while (node.kind_id in _PARENTHESES or node.kind_id in _NOT) and not is_broken(node):
        if node.kind_id in _NOT:
            on_true, on_false = on_false, on_true
            node = node.child_by_field_id(tree.ARGUMENT)
        else:
            node = tree.only_child(node)
    if node.kind_id in _BOOLEAN and not is_broken(node):
        _decide_boolean(unit, node, on_true, on_false)
        return
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


def _decide_boolean(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    operator = node.child_by_field_id(tree.OPERATOR).type
    *parts, last = _spine(node)
    for part in parts:
        following = unit.body.new_block(f"{operator} {unit.words(part)}")
        if operator == "and":
            decide(unit, part, following, on_false)
        else:
            decide(unit, part, on_true, following)
        unit.body.start(following)
    decide(unit, last, on_true, on_false)
