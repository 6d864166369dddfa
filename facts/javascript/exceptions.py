"""try and throw: where exceptions go."""

from tree_sitter import Node

from facts.control_flow_graph import Finally, Guard
from facts.file_facts import NIL
from facts.javascript.assignments import annotate, assign_target
from facts.javascript.handler_tables import STATEMENTS, field, only_child
from facts.javascript.unit import Unit
from facts.row_builder import tail


@STATEMENTS("try_statement")
def _try(unit: Unit, node: Node) -> None:
    body, finalizer = unit.body, field(node, "finalizer")
    if finalizer is None:
        after = body.new_block("after try")
        _guarded(unit, node)
        body.goto(after)
        return unit.continue_at(after)
    region = Finally(body.new_block("finally"))
    body.enter(region)
    _guarded(unit, node)
    normal = body.block is not None
    body.goto(region.block)
    body.leave()
    _finally(unit, finalizer, region, normal)


def _guarded(unit: Unit, node: Node) -> None:
    """Execute body and handler, and go on behind them if control gets there."""
    body, handler = unit.body, field(node, "handler")
    caught = body.new_block("catch")
    unit.body.start_new("try")
    if handler is None:
        return unit.run(field(node, "body"))
    body.enter(Guard([caught], everything=True))
    unit.run(field(node, "body"))
    body.leave()
    after = body.new_block("after catch")
    body.goto(after)
    body.start(caught)
    _handler(unit, handler)
    body.goto(after)
    unit.continue_at(after)


def _handler(unit: Unit, node: Node) -> None:
    value = unit.body.instruction(unit.entity("caught", node))
    unit.emit("catch", value, NIL)
    with unit.inside(node):
        if field(node, "parameter") is not None:
            name = assign_target(unit, field(node, "parameter"), value, "exception")
            annotate(unit, name, field(node, "type"))
        unit.run(field(node, "body"))


def _finally(unit: Unit, node: Node, region: Finally, normal: bool) -> None:
    """Execute a `finally` once for all ways that lead through it, then go on with each of them."""
    body = unit.body
    body.start(region.block)
    unit.run(field(node, "body"))
    body.end_region(region, "after try", passes=normal)


@STATEMENTS("throw_statement")
def _throw(unit: Unit, node: Node) -> None:
    value = unit.value(only_child(node))
    statement = unit.body.running(unit.entity(tail("throw " + unit.label(value)), node))
    unit.emit("raises", statement, unit.body.entity, value)
    unit.body.stop()
