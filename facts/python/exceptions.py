"""try, raise and with: where exceptions go."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from facts.control_flow_graph import Block, Finally, Guard
from facts.file_facts import NIL
from facts.instructions import awaited, store_attribute
from facts.python import tree
from facts.python.assignments import assign_target
from facts.python.calls import call
from facts.python.scopes import bound_by_comma
from facts.python.tree import STATEMENTS, children, only_child, with_fields
from facts.python.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import has_token

# Context managers that may end the exceptions of their block, by a word in the name they are called by: suppress,
# assertRaises, expect_raises_message …
_SUPPRESSING = re.compile("suppress|raise|ignor|swallow|catch|expect", re.IGNORECASE)


@STATEMENTS("try_statement")
def _try(unit: Unit, node: Node) -> None:
    clauses = children(node)
    last = next((clause for clause in clauses if clause.type == "finally_clause"), None)
    if last is None:
        after = unit.body.new_block("after try")
        _guarded(unit, node, clauses, after)
        unit.continue_at(after)
        return
    region = Finally(unit.body.new_block("finally"))
    unit.body.enter(region)
    normal = _guarded(unit, node, clauses, region.block)
    unit.body.leave()
    _finally(unit, last, region, normal)


def _guarded(unit: Unit, node: Node, clauses: list[Node], after: Block) -> bool:
    """Execute body, handlers and `else`; whether any of them passes on to `after`."""
    body = unit.body
    handlers = [clause for clause in clauses if clause.type == "except_clause"]
    blocks = [body.new_block("except " + _types_text(unit, handler)) for handler in handlers]
    unit.body.start_new("try")
    body.enter(Guard(blocks, any(_types_text(unit, handler) in ("", "BaseException") for handler in handlers)))
    unit.statements(node.child_by_field_id(tree.BODY))
    body.leave()
    for clause in clauses:
        if clause.type == "else_clause":
            if body.block is not None:
                unit.body.start_new("else try")
            unit.statements(clause.child_by_field_id(tree.BODY))
    passes = body.block is not None
    body.goto(after)
    for handler, block in zip(handlers, blocks, strict=True):
        body.start(block)
        _handler(unit, handler)
        passes |= body.block is not None
        body.goto(after)
    return passes


def _types_text(unit: Unit, handler: Node) -> str:
    types, _ = _caught(handler)
    return tail(",".join(unit.words(kind) for kind in types))


def _caught(handler: Node) -> tuple[list[Node], Node | None]:
    """Return the exception types that a handler names, and the target it binds."""
    values = list(with_fields(handler, tree.VALUE))
    target = handler.child_by_field_id(tree.ALIAS)
    if (bound := bound_by_comma(handler)) is not None:
        values, target = values[:1], bound
    elif values and values[0].type == "as_pattern":
        *values, target = children(values[0])
    types = values
    while types and len(types) == 1 and types[0].type in ("tuple", "parenthesized_expression"):
        types = children(types[0])
    return types, target


def _handler(unit: Unit, node: Node) -> None:
    types, target = _caught(node)
    value = unit.entity(tail("caught " + _types_text(unit, node)), node)
    kinds = [unit.value(kind) for kind in types] or [NIL]
    unit.body.instruction(value)
    for kind in kinds:
        unit.emit("catch", value, kind)
    if target is not None:
        assign_target(unit, target, value, "exception")
    unit.caught.append(value)
    unit.statements(next((child for child in children(node) if child.type == "block"), None))
    unit.caught.pop()


def _finally(unit: Unit, node: Node, region: Finally, normal: bool) -> None:
    """Execute a `finally` once for all ways that lead through it, then go on with each of them."""
    body = unit.body
    body.start(region.block)
    unit.statements(next((child for child in children(node) if child.type == "block"), None))
    body.end_region(region, "after try", passes=normal)


@STATEMENTS("raise_statement")
def _raise(unit: Unit, node: Node) -> None:
    cause = node.child_by_field_id(tree.CAUSE)
    raised = [child for child in children(node) if child != cause]
    if raised:
        value = _raised(unit, raised[0])
    elif unit.caught:
        value = unit.caught[-1]
    else:
        value = unit.entity("current exception", node)
    if cause is not None:
        store_attribute(unit, value, "__cause__", unit.value(cause), node)
    statement = unit.body.running(unit.entity(tail("raise " + unit.label(value)), node))
    unit.emit("raises", statement, unit.body.entity, value)
    unit.body.stop()


def _raised(unit: Unit, node: Node) -> int:
    """Return what is raised; Python 2's `raise Type, argument` makes the exception."""
    if node.type != "expression_list":
        return unit.value(node)
    kind, *arguments = [unit.value(child) for child in children(node)]
    return call(unit, kind, [("", argument) for argument in arguments[:1]], node)


@STATEMENTS("with_statement")
def _with(unit: Unit, node: Node) -> None:
    body = unit.body
    clause = next(child for child in children(node) if child.type == "with_clause")
    is_async = has_token(node, "async")
    suppressing = False
    for item in _items(clause):
        suppressing |= _enter(unit, item, is_async)
    if not suppressing:
        unit.statements(node.child_by_field_id(tree.BODY))
        if body.block is not None:
            body.other_code()
        return
    after = body.new_block("after with")
    unit.body.start_new("with")
    body.enter(Guard([after], everything=False))
    unit.statements(node.child_by_field_id(tree.BODY))
    body.leave()
    body.goto(after)
    unit.continue_at(after)


def _items(clause: Node) -> Iterator[Node]:
    """Yield the context managers of a `with`, each with its target. `(a as b,)` is a tuple to the grammar."""
    for item in children(clause):
        node = item.child_by_field_id(tree.VALUE)
        while node is not None and node.type == "parenthesized_expression":
            node = only_child(node)
        if node is not None and node.type == "tuple" and any(part.type == "as_pattern" for part in children(node)):
            yield from children(node)
        else:
            yield node or item


def _enter(unit: Unit, item: Node, is_async: bool) -> bool:
    """Enter one context manager; whether it is known to suppress exceptions."""
    node, target = item, None
    if item.type == "as_pattern":
        node, *_, target = children(item)
    manager = unit.value(node)
    value = unit.body.running(unit.entity(tail("enter " + unit.label(manager)), item))
    unit.emit("enter", value, manager)
    if is_async:
        value = awaited(unit, value, item)
    if target is not None:
        assign_target(unit, target, value, "resource")
    return bool(_SUPPRESSING.search(unit.label(manager).removesuffix("()").rpartition(".")[2]))
