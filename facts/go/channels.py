"""Channels: sending and receiving; calls that run later or side by side."""

from tree_sitter import Node

from facts.go import tree
from facts.go.tree import STATEMENTS, only_child
from facts.go.unit import Unit
from facts.row_builder import tail

_CALLS = tree.kind_ids("call_expression", "type_conversion_expression")


def receive(unit: Unit, channel: int, node: Node) -> int:
    """Return what comes out of a channel, after other code has run."""
    value = unit.body.running(unit.entity(tail("<-" + unit.label(channel)), node))
    unit.emit("receive", value, channel)
    return value


def send(unit: Unit, channel: int, value: int, node: Node) -> None:
    """Send a value to a channel: other code may run meanwhile."""
    statement = unit.body.running(unit.entity(tail(unit.label(channel) + " <-"), node))
    unit.emit("send", statement, channel, value)


@STATEMENTS("send_statement")
def _send(unit: Unit, node: Node) -> None:
    channel = unit.value(node.child_by_field_id(tree.CHANNEL))
    send(unit, channel, unit.value(node.child_by_field_id(tree.VALUE)), node)


@STATEMENTS("go_statement")
def _go(unit: Unit, node: Node) -> None:
    _state(unit, node, "spawned")


@STATEMENTS("defer_statement")
def _defer(unit: Unit, node: Node) -> None:
    """`defer f(x)`: f and x are evaluated here; the call stands here too, but runs where the function is left."""
    unit.deferred = tree.inside(only_child(node))
    _state(unit, node, "deferred")
    unit.defers = True


def _state(unit: Unit, node: Node, relation: str) -> None:
    expression = tree.inside(only_child(node))
    value = unit.value(expression)
    if expression is not None and expression.kind_id in _CALLS:
        unit.emit(relation, value)
