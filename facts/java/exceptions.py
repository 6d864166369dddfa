"""try, throw and synchronized: where exceptions go, and what closes resources."""

from collections.abc import Callable

from tree_sitter import Node

from facts.control_flow_graph import Block, Finally, Guard
from facts.instructions import load_attribute
from facts.java import tree
from facts.java.calls import call
from facts.java.control import execute
from facts.java.tree import STATEMENTS, children, only_child
from facts.java.type_values import declared_type
from facts.java.unit import Unit
from facts.row_builder import tail

_EVERYTHING = ("Throwable", "java.lang.Throwable")


@STATEMENTS("try_statement", "try_with_resources_statement")
def _try(unit: Unit, node: Node) -> None:
    """Resources are closed before handlers and `finally` run."""
    last = tree.child_of_type(node, "finally_clause")
    if last is not None:
        _region(unit, lambda after: _guarded(unit, node, after), lambda: execute(unit, only_child(last)), "finally")
        return
    after = unit.body.new_block("after try")
    _guarded(unit, node, after)
    unit.continue_at(after)


def _region(unit: Unit, guarded: Callable[[Block], bool], closing: Callable[[], None], label: str) -> None:
    """Execute `guarded`, which says whether it passes on to the block it is given, and `closing` on every way out."""
    body = unit.body
    region = Finally(body.new_block(label))
    body.enter(region)
    normal = guarded(region.block)
    body.leave()
    body.start(region.block)
    closing()
    body.end_region(region, "after try", passes=normal)


def _guarded(unit: Unit, node: Node, after: Block) -> bool:
    """Execute resources, block and handlers; whether any of them passes on to `after`."""
    body = unit.body
    handlers = [child for child in children(node) if child.type == "catch_clause"]
    types = [_caught(handler) for handler in handlers]
    texts = [tail(",".join(unit.words(kind) for kind in kinds)) for kinds in types]
    blocks = [body.new_block("catch " + text) for text in texts]
    unit.body.start_new("try")
    body.enter(Guard(blocks, any(unit.text(kind) in _EVERYTHING for kinds in types for kind in kinds)))
    mark = unit.names.open()
    resources = node.child_by_field_id(tree.RESOURCES)
    _with_resources(unit, children(resources) if resources is not None else [], node.child_by_field_id(tree.BODY))
    unit.names.close(mark)
    body.leave()
    passes = body.block is not None
    body.goto(after)
    for handler, kinds, text, block in zip(handlers, types, texts, blocks, strict=True):
        body.start(block)
        _handler(unit, handler, kinds, text)
        passes |= body.block is not None
        body.goto(after)
    return passes


def _with_resources(unit: Unit, resources: list[Node], code: Node | None) -> None:
    """Open the first resource; the others and `code` stand in a region that closes it."""
    if not resources:
        execute(unit, code)
        return
    resource = _open(unit, resources[0])

    def guarded(after: Block) -> bool:
        _with_resources(unit, resources[1:], code)
        passes = unit.body.block is not None
        unit.body.goto(after)
        return passes

    def closing() -> None:
        callee = load_attribute(unit, resource, "close", resources[0])
        call(unit, callee, [], unit.label(callee) + "()", resources[0])

    _region(unit, guarded, closing, "close " + unit.label(resource))


def _open(unit: Unit, node: Node) -> int:
    """Open a resource: `T r = value` or one that is there; return it."""
    source, name = node.child_by_field_id(tree.VALUE), node.child_by_field_id(tree.NAME)
    manager = unit.value(source if source is not None else only_child(node))
    value = unit.body.running(unit.entity(tail("enter " + unit.label(manager)), node))
    unit.emit("enter", value, manager)
    if source is None or name is None or name.type == "underscore_pattern":
        return value
    return unit.assign(unit.declare(unit.text(name), declared_type(unit, node)), value, "resource", name)


def _caught(handler: Node) -> list[Node]:
    """Return the types that a handler catches."""
    parameter = tree.child_of_type(handler, "catch_formal_parameter")
    types = tree.child_of_type(parameter, "catch_type") if parameter is not None else None
    return children(types) if types is not None else []


def _handler(unit: Unit, node: Node, kinds: list[Node], text: str) -> None:
    value = unit.body.instruction(unit.entity(tail("caught " + text), node))
    mark = unit.names.open()
    for kind in kinds:
        unit.emit("catch", value, unit.value(kind))
    parameter = tree.child_of_type(node, "catch_formal_parameter")
    name = parameter.child_by_field_id(tree.NAME) if parameter is not None else None
    if name is not None and name.type != "underscore_pattern":
        unit.assign(unit.declare(unit.text(name)), value, "exception", name)
    execute(unit, node.child_by_field_id(tree.BODY))
    unit.names.close(mark)


@STATEMENTS("throw_statement")
def _throw(unit: Unit, node: Node) -> None:
    value = unit.value(only_child(node))
    statement = unit.body.running(unit.entity(tail("throw " + unit.label(value)), node))
    unit.emit("raises", statement, unit.body.entity, value)
    unit.body.stop()


@STATEMENTS("synchronized_statement")
def _synchronized(unit: Unit, node: Node) -> None:
    """The lock is entered; that it is left at the end, on every way, is no fact of its own."""
    lock = unit.value(tree.child_of_type(node, "parenthesized_expression"))
    value = unit.body.running(unit.entity(tail("synchronized " + unit.label(lock)), node))
    unit.emit("enter", value, lock)
    execute(unit, node.child_by_field_id(tree.BODY))
    if unit.body.block is not None:
        unit.body.other_code()
