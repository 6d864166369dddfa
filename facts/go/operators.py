"""Operators; short-circuit ones and conditions as control flow."""

from tree_sitter import Node

from facts.cfg import Block
from facts.go import tree
from facts.go.channels import receive
from facts.go.places import address, load_pointer
from facts.go.tree import EXPRESSIONS, operator_of
from facts.go.unit import Unit
from facts.grammar import is_broken
from facts.instructions import merged, operation

_SHORT_CIRCUIT = ("&&", "||")


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if operator_of(node) in _SHORT_CIRCUIT:
        return _short_circuit(unit, node)
    chain = [node]
    left = node.child_by_field_id(tree.LEFT)
    while left.kind_id in tree.BINARY and not is_broken(left) and operator_of(left) not in _SHORT_CIRCUIT:
        chain.append(left)
        left = left.child_by_field_id(tree.LEFT)
    value = unit.value(left)
    for node in reversed(chain):
        value = operation(unit, operator_of(node), [value, unit.value(node.child_by_field_id(tree.RIGHT))], node)
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
    operator, parts = operator_of(node), []
    while node.kind_id in tree.BINARY and not is_broken(node) and operator_of(node) == operator:
        parts.append(node.child_by_field_id(tree.RIGHT))
        node = node.child_by_field_id(tree.LEFT)
    return [node, *reversed(parts)]


def _short_circuit(unit: Unit, node: Node) -> int:
    """Return the value of `a && b && …`: that of the first part that decides, or of the last."""
    operator, body = operator_of(node), unit.body
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
        _decide_short_circuit(unit, node, on_true, on_false)
    else:
        unit.body.branch(unit.value(node), on_true, on_false)


def _decide_short_circuit(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    operator = operator_of(node)
    *parts, last = _spine(node)
    for part in parts:
        following = unit.body.new_block(f"{operator} {unit.words(part)}")
        if operator == "&&":
            decide(unit, part, following, on_false)
        else:
            decide(unit, part, on_true, following)
        unit.body.start(following)
    decide(unit, last, on_true, on_false)
