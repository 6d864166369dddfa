"""Operators; `&&`, `||`, `??` and `?:` as control flow."""

from functools import partial

from tree_sitter import Node

from facts.conditions import decide_in_turn, either, short_circuit
from facts.control_flow_graph import Block
from facts.instructions import operation
from facts.javascript.handler_tables import EXPRESSIONS, children, field, only_child
from facts.javascript.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import is_broken

SHORT_CIRCUIT = {"&&", "||", "??"}


@EXPRESSIONS("parenthesized_expression")
def _parenthesized(unit: Unit, node: Node) -> int:
    return unit.value(unwrapped(node))


def unwrapped(node: Node | None) -> Node | None:
    """Return the expression in parentheses."""
    while node is not None and node.type == "parenthesized_expression":
        node = only_child(node)
    return node


@EXPRESSIONS("sequence_expression")
def _sequence(unit: Unit, node: Node) -> int:
    parts = [node]
    while parts[-1].type == "sequence_expression" and not is_broken(parts[-1]):
        parts[-1:] = children(parts[-1])
    return [unit.value(part) for part in parts][-1]


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    operator = field(node, "operator").type
    if operator in SHORT_CIRCUIT:
        return _short_circuit(unit, node, _spine(node, {operator}), operator)
    chain, left = [node], field(node, "left")
    while left.type == "binary_expression" and field(left, "operator").type not in SHORT_CIRCUIT:
        if is_broken(left):
            break
        chain.append(left)
        left = field(left, "left")
    value = unit.value(left)
    for node in reversed(chain):
        right = unit.value(field(node, "right"))
        value = operation(unit, field(node, "operator").type, [value, right], node)
    return value


def _spine(node: Node, operators: set[str]) -> list[Node]:
    """Return the operands of a chain of one operator: a && b && c."""
    parts = []
    while node.type == "binary_expression" and not is_broken(node) and field(node, "operator").type in operators:
        parts.append(field(node, "right"))
        node = field(node, "left")
    return [node, *reversed(parts)]


def _short_circuit(unit: Unit, node: Node, parts: list[Node], operator: str) -> int:
    def decide_by(value: int, following: Block, after: Block) -> None:
        go_on_if(unit, operator, value, following, after, node)

    return short_circuit(unit, operator, [partial(unit.value, part) for part in parts], decide_by, node)


def go_on_if(unit: Unit, operator: str, value: int, following: Block, after: Block, node: Node) -> Block:
    """Pass to `following` if `value` leaves a short-circuit operator undecided, else to `after`; return the block."""
    condition = is_nullish(unit, value, node) if operator == "??" else value
    block = unit.body.block
    unit.body.branch(condition, *((after, following) if operator == "||" else (following, after)))
    return block


def is_nullish(unit: Unit, value: int, node: Node) -> int:
    """Return whether `value` is null or undefined."""
    return operation(unit, "==", [value, unit.body.load_constant("none", "null")], node)


@EXPRESSIONS("unary_expression")
def _unary(unit: Unit, node: Node) -> int:
    operator, argument = field(node, "operator").type, field(node, "argument")
    if operator == "delete":
        return _delete(unit, unwrapped(argument), node)
    return operation(unit, operator, [unit.value(argument)], node)


def _delete(unit: Unit, target: Node | None, node: Node) -> int:
    """`delete a.b`: what stands before the last link is evaluated, optional links as if they were there."""
    if target is None or target.type not in ("member_expression", "subscript_expression"):
        return operation(unit, "delete", [unit.value(target)], node)
    base = unit.value(field(target, "object"))
    if target.type == "member_expression":
        name = unit.text(field(target, "property"))
        delete = unit.body.instruction(unit.entity(tail(f"delete {unit.label(base)}.{name}"), node))
        unit.emit("delete_attribute", delete, base, name)
    else:
        index = unit.value(field(target, "index"))
        delete = unit.body.instruction(unit.entity(tail(f"delete {unit.label(base)}[]"), node))
        unit.emit("delete_index", delete, base, index)
    return unit.body.load_constant("boolean", "true")


@EXPRESSIONS("ternary_expression")
def _ternary(unit: Unit, node: Node) -> int:
    condition = field(node, "condition")
    body, label = unit.body, unit.words(condition)
    after = body.new_block("after " + label)
    blocks = body.new_block("then " + label), body.new_block("else " + label)
    decide(unit, condition, *blocks)
    values = [partial(unit.value, field(node, name)) for name in ("consequence", "alternative")]
    return either(unit, "if " + label, blocks, values, node, after)


def decide(unit: Unit, node: Node, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `!`, `&&` and `||` give no value."""
    while not is_broken(node):
        if node.type == "parenthesized_expression":
            node = only_child(node)
        elif node.type == "unary_expression" and field(node, "operator").type == "!":
            on_true, on_false = on_false, on_true
            node = field(node, "argument")
        else:
            break
    operator = field(node, "operator").type if node.type == "binary_expression" and not is_broken(node) else ""
    if operator not in ("&&", "||"):
        value = unit.value(node)
        return unit.body.branch(value, on_true, on_false)
    decide_in_turn(unit, operator, operator == "&&", _spine(node, {operator}), decide, on_true, on_false)
