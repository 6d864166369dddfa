"""Statements that run one after the other, jumps and labels."""

from tree_sitter import Node

from facts.c import tree
from facts.c.calls import NO_RETURN
from facts.c.loop_macros import repeat, repeated
from facts.c.tree import STATEMENTS, children, only_child
from facts.c.unit import Unit
from facts.function_body import MODULE
from facts.instructions import returned


@STATEMENTS("linkage_specification")
def _linkage(unit: Unit, node: Node) -> None:
    unit.execute(node.child_by_field_id(tree.BODY))


@STATEMENTS("declaration_list")
def _declarations(unit: Unit, node: Node) -> None:
    unit.statements(node)


@STATEMENTS("expression_statement")
def _expression(unit: Unit, node: Node) -> None:
    expression = only_child(node)
    if expression is None:
        return
    block = repeated(unit, node, expression)
    if block is not None:
        repeat(unit, expression, block)
        return
    value = unit.value(expression)
    if expression.kind_id in tree.IDENTIFIER and _is_nothing_here(unit, expression):
        # A macro of a header that is a statement: `FINISH;`
        result = unit.body.running(unit.entity(unit.text(expression), expression))
        unit.emit("call", result, unit.body.entity, value)
    if expression.kind_id in _CALL and _never_returns(unit, expression):
        # `unit.value` went on in a block that nothing leads to.
        unit.body.block = unit.body.block if unit.body.block.predecessors else None


_CALL = tree.kind_ids("call_expression")


def _is_nothing_here(unit: Unit, name: Node) -> bool:
    return unit.find(unit.text(name)) is None


def _never_returns(unit: Unit, call: Node) -> bool:
    name = unit.text(call.child_by_field_id(tree.FUNCTION))
    return name in NO_RETURN and unit.scope.find(name) is None


@STATEMENTS("attributed_statement")
def _attributed(unit: Unit, node: Node) -> None:
    for child in children(node):
        if child.type != "attribute_declaration":
            unit.statement(child)


def _jump(unit: Unit, kind: str, label: str = "") -> None:
    """Leave by `return`, `break`, `continue` or `goto`; from a macro's code, perhaps into what is around its use."""
    body = unit.body
    if unit.macro_labels is not None and body.block is not None:
        within = label in unit.macro_labels if kind == "goto" else kind != "return" and body.loops
        if not within:
            unit.emit("leaves_macro", body.block.entity)
    body.jump(kind, label)


@STATEMENTS("return_statement")
def _return(unit: Unit, node: Node) -> None:
    child = only_child(node)
    if child is not None:
        value = unit.value(child)
        unit.revive()
        returned(unit, value)
    _jump(unit, "return")


@STATEMENTS("break_statement")
def _break(unit: Unit, node: Node) -> None:
    _jump(unit, "break")


@STATEMENTS("continue_statement")
def _continue(unit: Unit, node: Node) -> None:
    _jump(unit, "continue")


@STATEMENTS("goto_statement")
def _goto(unit: Unit, node: Node) -> None:
    _jump(unit, "goto", unit.text(node.child_by_field_id(tree.LABEL)))


@STATEMENTS("labeled_statement")
def _labeled(unit: Unit, node: Node) -> None:
    unit.enter(node)
    _, *statements = children(node)
    for statement in statements:
        unit.statement(statement)


@STATEMENTS("preproc_if", "preproc_ifdef")
def _conditional(unit: Unit, node: Node) -> None:
    """`#if`: both sides stand side by side at the top level; in functions it is a branch nobody knows the way of."""
    if unit.body.entity == MODULE:
        for part in tree.flattened(node):
            unit.statement(part)
        return
    body = unit.body
    condition = node.child_by_field_id(tree.CONDITION) or node.child_by_field_id(tree.NAME)
    label = "#if " + unit.words(condition) if condition is not None else "#if"
    after = body.new_block("after " + label)
    _sides(unit, node, label, after)
    unit.continue_at(after)


def _sides(unit: Unit, node: Node, label: str, after) -> None:
    body, alternative = unit.body, node.child_by_field_id(tree.ALTERNATIVE)
    named = (node.child_by_field_id(tree.CONDITION), node.child_by_field_id(tree.NAME), alternative)
    if node.type != "preproc_else":
        unit.revive()
        side = body.new_block("then " + label)
        other = body.new_block("else " + label) if alternative is not None else after
        # `#ifndef` asks what `#ifdef` does.
        ways = (other, side) if node.children[0].type == "#ifndef" else (side, other)
        body.branch(unit.entity(label, node), *ways)
        body.start(side)
    for part in children(node):
        if part not in named:
            unit.statement(part)
    body.goto(after)
    if alternative is not None:
        body.start(other)
        _sides(unit, alternative, label, after)
