"""Statements that steer: if, loops, jumps, assert; and those without effect."""

from tree_sitter import Node

from facts.control_flow_graph import Block, Loop
from facts.instructions import assertion, awaited, returned
from facts.python import tree
from facts.python.assignments import assign_target
from facts.python.expressions import display
from facts.python.literals import constant
from facts.python.operators import decide
from facts.python.tree import STATEMENTS, children, only_child, with_fields
from facts.python.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import has_token


@STATEMENTS("if_statement")
def _if(unit: Unit, node: Node) -> None:
    body = unit.body
    after = None
    tests = [node, *with_fields(node, tree.ALTERNATIVE)]
    for test in tests:
        if test.type == "else_clause":
            unit.statements(test.child_by_field_id(tree.BODY))
            break
        condition = test.child_by_field_id(tree.CONDITION)
        label = unit.words(condition) if condition is not None else ""
        after = after or body.new_block("after " + label)
        then = body.new_block("then " + label)
        otherwise = after if test is tests[-1] else body.new_block("else " + label)
        _decide(unit, condition, then, otherwise)
        body.start(then)
        unit.statements(test.child_by_field_id(tree.CONSEQUENCE))
        body.goto(after)
        if otherwise is after:
            break
        body.start(otherwise)
    body.goto(after)
    unit.continue_at(after)


def _decide(unit: Unit, condition: Node | None, on_true: Block, on_false: Block) -> None:
    if condition is None:
        unit.body.branch(unit.unknown(None), on_true, on_false)
    else:
        decide(unit, condition, on_true, on_false)


@STATEMENTS("while_statement")
def _while(unit: Unit, node: Node) -> None:
    body = unit.body
    condition = node.child_by_field_id(tree.CONDITION)
    label = unit.words(condition)
    head, inside = body.new_block("while " + label), body.new_block("in while " + label)
    otherwise, after = _exits(unit, node, "while " + label)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head))
    decide(unit, condition, inside, otherwise)
    body.start(inside)
    unit.statements(node.child_by_field_id(tree.BODY))
    _end_loop(unit, node, head, otherwise, after)


@STATEMENTS("for_statement")
def _for(unit: Unit, node: Node) -> None:
    body = unit.body
    source = iterated(unit, node)
    label = "for " + unit.words(node.child_by_field_id(tree.LEFT))
    head, inside = body.new_block(label), body.new_block("in " + label)
    otherwise, after = _exits(unit, node, label)
    open_round(unit, node, source, head, inside, after, exhausted=otherwise)
    unit.statements(node.child_by_field_id(tree.BODY))
    _end_loop(unit, node, head, otherwise, after)


def open_round(
    unit: Unit, node: Node, source: int, head: Block, inside: Block, after: Block, *, exhausted: Block
) -> None:
    """Begin a round of a `for` loop or clause: take the next element in `head`, and bind its target `inside`."""
    body = unit.body
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head))
    item = iteration(unit, source, node)
    body.link(head, exhausted)
    body.goto(inside)
    body.start(inside)
    assign_target(unit, node.child_by_field_id(tree.LEFT), item, "loop")


def _exits(unit: Unit, node: Node, label: str) -> tuple[Block, Block]:
    """Return where a loop leads when it is exhausted, and what follows the statement: the same without `else`."""
    after = unit.body.new_block("after " + label)
    alternative = node.child_by_field_id(tree.ALTERNATIVE)
    return (after if alternative is None else unit.body.new_block("else " + label)), after


def iterated(unit: Unit, node: Node) -> int:
    """Evaluate what a loop iterates over."""
    parts = list(with_fields(node, tree.RIGHT))
    return unit.value(parts[0]) if len(parts) == 1 else display(unit, "tuple", parts, node)


def iteration(unit: Unit, source: int, node: Node) -> int:
    """Return the next element of `source`; awaited in `async for`."""
    place = node.child_by_field_id(tree.LEFT)
    item = unit.body.running(unit.entity(tail("next " + unit.label(source)), place))
    unit.emit("iterate", item, source)
    return awaited(unit, item, place) if has_token(node, "async") else item


def _end_loop(unit: Unit, node: Node, head: Block, otherwise: Block, after: Block) -> None:
    """Close a loop at the end of its body, and go on with its `else` and behind it."""
    body = unit.body
    body.goto(head)
    body.leave()
    body.seal(head)
    if otherwise is not after:
        body.start(otherwise)
        unit.statements(node.child_by_field_id(tree.ALTERNATIVE).child_by_field_id(tree.BODY))
        body.goto(after)
    unit.continue_at(after)


@STATEMENTS("break_statement")
def _break(unit: Unit, node: Node) -> None:
    unit.body.jump("break")


@STATEMENTS("continue_statement")
def _continue(unit: Unit, node: Node) -> None:
    unit.body.jump("continue")


@STATEMENTS("return_statement")
def _return(unit: Unit, node: Node) -> None:
    child = only_child(node)
    value = unit.value(child) if child is not None else constant(unit, "none", "None")
    returned(unit, value)
    unit.body.jump("return")


@STATEMENTS("assert_statement")
def _assert(unit: Unit, node: Node) -> None:
    condition, *message = children(node)
    assertion(unit, condition, message[0] if message else None, node)


@STATEMENTS("expression_statement")
def _expression(unit: Unit, node: Node) -> None:
    parts = children(node)
    if len(parts) > 1:
        display(unit, "tuple", parts, node)
    elif parts and not _is_documentation(parts[0]):
        unit.value(parts[0])


def _is_documentation(node: Node) -> bool:
    """Return True if a statement is a plain string: a docstring or a comment, which computes nothing."""
    strings = children(node) if node.type == "concatenated_string" else [node]
    return all(
        string.type == "string" and not any(part.type == "interpolation" for part in string.named_children)
        for string in strings
    )


@STATEMENTS("pass_statement", "global_statement", "nonlocal_statement")
def _nothing(unit: Unit, node: Node) -> None:
    """`pass` does nothing; `global` and `nonlocal` give names their meaning in `scopes`."""
