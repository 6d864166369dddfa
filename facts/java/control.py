"""Statements that steer: blocks, if, loops, jumps, assert."""

from tree_sitter import Node

from facts.control_flow_graph import Loop
from facts.instructions import assertion, returned
from facts.java import tree
from facts.java.operators import decide
from facts.java.tree import STATEMENTS, children, only_child, with_fields
from facts.java.type_values import declared_type
from facts.java.unit import Unit
from facts.row_builder import tail
from facts.ssa import UNDEFINED

_LOOPS = ("for_statement", "enhanced_for_statement", "while_statement", "do_statement")


@STATEMENTS("block", "constructor_body")
def _block(unit: Unit, node: Node) -> None:
    mark = unit.names.open()
    unit.statements(node)
    unit.names.close(mark)


def execute(unit: Unit, node: Node | None) -> None:
    """Execute a statement that is the body of another one; `;` does nothing."""
    if node is not None and node.is_named:
        mark = unit.names.open()
        unit.statement(node)
        unit.names.close(mark)


@STATEMENTS("expression_statement")
def _expression(unit: Unit, node: Node) -> None:
    for part in children(node):
        unit.value(part)


@STATEMENTS("if_statement")
def _if(unit: Unit, node: Node) -> None:
    """Chains of `else if` are walked as one loop."""
    body, after, mark, is_first = unit.body, None, unit.names.open(), True
    while True:
        condition, alternative = only_child(node.child_by_field_id(tree.CONDITION)), _alternative(node)
        label = unit.words(condition) if condition is not None else ""
        after = after or body.new_block("after " + label)
        then = body.new_block("then " + label)
        otherwise = after if alternative is None else body.new_block("else " + label)
        decide(unit, condition, then, otherwise)
        body.start(then)
        execute(unit, node.child_by_field_id(tree.CONSEQUENCE))
        passes = body.block is not None
        body.goto(after)
        if alternative is None:
            break
        body.start(otherwise)
        node, is_first = alternative, False
        if node.type != "if_statement":
            execute(unit, node)
            body.goto(after)
            break
    unit.continue_at(after)
    keep_bound(unit, mark, is_first and not passes)


def _alternative(node: Node) -> Node | None:
    alternative = node.child_by_field_id(tree.ALTERNATIVE)
    return alternative if alternative is not None and alternative.is_named else None


def keep_bound(unit: Unit, mark: int, wanted: bool) -> None:
    """End the block of a statement's condition. Variables of its patterns may stay in scope: those bound on every way
    here, as by `if (!(a instanceof T t)) return;`.
    """
    bound = unit.names.declared_since(mark) if wanted and unit.body.block is not None else []
    unit.names.close(mark)
    for variable in bound:
        if unit.body.variables.read(unit.body.block, variable) != UNDEFINED:
            unit.names.declare(variable)


# ---- Loops


def _open_loop(unit: Unit, label: str) -> tuple:
    """Return the blocks of a loop that begins here, the head being where its condition is tested."""
    new_block = unit.body.new_block
    return new_block(label), new_block("in " + label), new_block("after " + label)


def _names(unit: Unit) -> tuple[str, ...]:
    """Return the names by which jumps call the loop at hand."""
    labels, unit.labels = unit.labels, ()
    return ("", *labels)


@STATEMENTS("while_statement")
def _while(unit: Unit, node: Node) -> None:
    body, condition = unit.body, only_child(node.child_by_field_id(tree.CONDITION))
    head, inside, after = _open_loop(unit, "while " + (unit.words(condition) if condition is not None else ""))
    mark = unit.names.open()
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head, _names(unit)))
    decide(unit, condition, inside, after)
    body.start(inside)
    execute(unit, node.child_by_field_id(tree.BODY))
    body.goto(head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)
    keep_bound(unit, mark, True)


@STATEMENTS("do_statement")
def _do(unit: Unit, node: Node) -> None:
    body, condition = unit.body, only_child(node.child_by_field_id(tree.CONDITION))
    head, inside, after = _open_loop(unit, "do " + (unit.words(condition) if condition is not None else ""))
    body.goto(inside)
    body.start(inside, sealed=False)
    body.enter(Loop(after, head, _names(unit)))
    execute(unit, node.child_by_field_id(tree.BODY))
    body.goto(head)
    body.leave()
    unit.continue_at(head)
    mark = unit.names.open()
    if body.block is not None:
        decide(unit, condition, inside, after)
    unit.names.close(mark)
    body.seal(inside)
    unit.continue_at(after)


@STATEMENTS("for_statement")
def _for(unit: Unit, node: Node) -> None:
    body, mark = unit.body, unit.names.open()
    for part in with_fields(node, tree.INIT):
        if part.kind_id in STATEMENTS:
            unit.statement(part)
        else:
            unit.value(part)
    condition = node.child_by_field_id(tree.CONDITION)
    label = "for " + unit.words(condition) if condition is not None else "for"
    head, inside, after = _open_loop(unit, label)
    again = body.new_block("next " + label)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, again, _names(unit)))
    if condition is not None:
        decide(unit, condition, inside, after)
    else:
        body.goto(inside)
    body.start(inside)
    execute(unit, node.child_by_field_id(tree.BODY))
    body.goto(again)
    body.leave()
    unit.continue_at(again)
    if body.block is not None:
        for part in with_fields(node, tree.UPDATE):
            unit.value(part)
        body.goto(head)
    body.seal(head)
    unit.continue_at(after)
    unit.names.close(mark)


@STATEMENTS("enhanced_for_statement")
def _for_each(unit: Unit, node: Node) -> None:
    body, name = unit.body, node.child_by_field_id(tree.NAME)
    source = unit.value(node.child_by_field_id(tree.VALUE))
    head, inside, after = _open_loop(unit, "for " + unit.words(name))
    mark = unit.names.open()
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head, _names(unit)))
    item = body.running(unit.entity(tail("next " + unit.label(source)), name))
    unit.emit("iterate", item, source)
    body.link(head, after)
    body.goto(inside)
    body.start(inside)
    if name.type != "underscore_pattern":
        unit.assign(unit.declare(unit.text(name), declared_type(unit, node)), item, "loop", name)
    execute(unit, node.child_by_field_id(tree.BODY))
    body.goto(head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)
    unit.names.close(mark)


# ---- Jumps


@STATEMENTS("labeled_statement")
def _labeled(unit: Unit, node: Node) -> None:
    """A loop's label names it for `continue`, too; another statement is left by `break` with its label alone."""
    parts = children(node)
    label, statement = unit.text(parts[0]), parts[1] if len(parts) > 1 else None
    if statement is None:
        return
    if statement.type in _LOOPS or statement.type == "labeled_statement":
        unit.labels = (*unit.labels, label)
        unit.statement(statement)
        unit.labels = ()
        return
    after = unit.body.new_block("after " + label)
    unit.body.enter(Loop(after, None, (*unit.labels, label)))
    unit.labels = ()
    execute(unit, statement)
    unit.body.goto(after)
    unit.body.leave()
    unit.continue_at(after)


@STATEMENTS("break_statement", "continue_statement")
def _jump(unit: Unit, node: Node) -> None:
    label = only_child(node)
    unit.body.jump(node.type.removesuffix("_statement"), unit.text(label) if label is not None else "")


@STATEMENTS("return_statement")
def _return(unit: Unit, node: Node) -> None:
    child = only_child(node)
    if child is not None:
        returned(unit, unit.value(child))
    unit.body.jump("return")


@STATEMENTS("assert_statement")
def _assert(unit: Unit, node: Node) -> None:
    condition, *message = children(node)
    assertion(unit, condition, message[0] if message else None, node)
