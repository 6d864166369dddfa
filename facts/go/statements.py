"""Statements that run one after the other, blocks, jumps and labels."""

from tree_sitter import Node

from facts.go import tree
from facts.go.calls import never_returns
from facts.go.tree import STATEMENTS, children, only_child
from facts.go.unit import Unit

_CALL = tree.kind_ids("call_expression")
_BREAKABLE = tree.kind_ids("for_statement", "expression_switch_statement", "type_switch_statement", "select_statement")


@STATEMENTS("block")
def _block(unit: Unit, node: Node) -> None:
    outer = unit.open_scope()
    unit.statements(node)
    unit.scope = outer


@STATEMENTS("statement_list")
def _statements(unit: Unit, node: Node) -> None:
    unit.statements(node)


@STATEMENTS("empty_statement")
def _empty(unit: Unit, node: Node) -> None:
    """`;`."""


@STATEMENTS("expression_statement")
def _expression(unit: Unit, node: Node) -> None:
    expression = only_child(node)
    unit.value(expression)
    if expression is not None and expression.kind_id in _CALL and never_returns(unit, expression):
        unit.body.stop()


def _label(unit: Unit, node: Node) -> str:
    label = only_child(node)
    return unit.text(label) if label is not None else ""


@STATEMENTS("break_statement")
def _break(unit: Unit, node: Node) -> None:
    unit.body.jump("break", _label(unit, node))


@STATEMENTS("continue_statement")
def _continue(unit: Unit, node: Node) -> None:
    unit.body.jump("continue", _label(unit, node))


@STATEMENTS("goto_statement")
def _goto(unit: Unit, node: Node) -> None:
    unit.body.jump("goto", _label(unit, node))


@STATEMENTS("fallthrough_statement")
def _fallthrough(unit: Unit, node: Node) -> None:
    if unit.following is not None:
        unit.body.goto(unit.following)
    unit.body.block = None


@STATEMENTS("labeled_statement")
def _labeled(unit: Unit, node: Node) -> None:
    unit.enter_label(node)
    label, *statements = children(node)
    for statement in statements:
        unit.label_name = unit.text(label) if statement.kind_id in _BREAKABLE else ""
        unit.statement(statement)
        unit.label_name = ""
