"""Instructions that every language has: each makes an entity, states its rows and adds it to the current block."""

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.row_builder import tail
from facts.tree_walk import Walk


def load_attribute(walk: Walk, base: int, name: str, node: Node) -> int:
    """Return the attribute `name` of `base`."""
    value = walk.body.instruction(walk.entity(tail(f"{walk.label(base)}.{name}"), node))
    walk.emit("load_attribute", value, base, name)
    return value


def store_attribute(walk: Walk, base: int, name: str, source: int, node: Node) -> int:
    """Store `source` as the attribute `name` of `base`."""
    store = walk.body.instruction(walk.entity(tail(f"{walk.label(base)}.{name} ="), node))
    walk.emit("store_attribute", store, base, name, source)
    return store


def load_index(walk: Walk, base: int, index: int, node: Node) -> int:
    """Return the element of `base` at `index`."""
    value = walk.body.instruction(walk.entity(tail(f"{walk.label(base)}[{walk.label(index)}]"), node))
    walk.emit("load_index", value, base, index)
    return value


def store_index(walk: Walk, base: int, index: int, source: int, node: Node) -> int:
    """Store `source` in `base` at `index`."""
    store = walk.body.instruction(walk.entity(tail(f"{walk.label(base)}[{walk.label(index)}] ="), node))
    walk.emit("store_index", store, base, index, source)
    return store


def allocate(walk: Walk, value: int, kind: str) -> int:
    """State that `value` is a new object of a kind, made here."""
    walk.emit("allocate", value, kind)
    return walk.body.allocation(value)


def operation(walk: Walk, operator: str, operands: list[int], node: Node) -> int:
    """Return the result of an operator on one operand or two."""
    if len(operands) == 1:
        label = f"{operator} {walk.label(operands[0])}"
    else:
        label = f"{walk.label(operands[0])} {operator} {walk.label(operands[1])}"
    value = walk.body.instruction(walk.entity(tail(label), node))
    walk.emit("operation", value, operator)
    for position, operand in enumerate(operands):
        walk.emit("operand", value, position, operand)
    return value


def merged(walk: Walk, label: str, entering: list[tuple[int, Block]], node: Node) -> int:
    """Return the value that opens the current block: one of `entering`, by the block that control comes from."""
    value = walk.entity(label, node)
    walk.emit("in_block", value, walk.body.here.entity)
    for source, block in entering:
        walk.emit("merge", value, source, block.entity)
    return value


def returned(walk: Walk, value: int) -> None:
    """State that the body returns `value`, here."""
    walk.emit("returns", walk.body.entity, value)
    if walk.body.block is not None:
        walk.emit("returns_at", walk.body.block.entity, value)


def awaited(walk: Walk, source: int, node: Node) -> int:
    """Return what awaiting `source` gives."""
    value = walk.body.running(walk.entity(tail("await " + walk.label(source)), node))
    walk.emit("await", value, source)
    return value


def assertion(walk: Walk, condition: Node, message: Node | None, node: Node) -> None:
    """State that a condition is asserted, and go on where it holds; else the message is evaluated, and it raises."""
    value, body = walk.value(condition), walk.body
    statement = body.instruction(walk.entity(tail("assert " + walk.label(value)), node))
    walk.emit("assertion", statement, body.entity, value)
    holds = body.new_block("holds " + walk.label(value))
    if message is not None:
        fails = body.new_block("fails " + walk.label(value))
        body.branch(value, holds, fails)
        body.start(fails)
        walk.value(message)
        body.may_raise(body.here)
        body.stop()
    else:
        body.branch(value, holds, body.failure())
    body.start(holds)
