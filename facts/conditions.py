"""Operators that steer, as control flow: short-circuit ones, conditional expressions, and conditions made of them.

Languages write them in different ways; here they are parts in the order of evaluation, each with what evaluates it.
"""

from collections.abc import Callable, Sequence

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.instructions import merged
from facts.tree_walk import Walk


def short_circuit(
    walk: Walk,
    operator: str,
    parts: Sequence[Callable[[], int]],
    decide: Callable[[int, Block, Block], None],
    node: Node,
) -> int:
    """Return the value of `a && b && …`: that of the first part that decides, or of the last.

    `decide` ends the block: it passes on from a value to the first block if that leaves it open, else to the second.
    """
    body, value = walk.body, parts[0]()
    if len(parts) == 1:
        return value
    after = body.new_block(f"after {operator} {walk.label(value)}")
    entering = []
    for part in parts[1:]:
        following = body.new_block(f"{operator} {walk.label(value)}")
        block = body.here
        decide(value, following, after)
        entering.append((value, block))
        body.start(following)
        value = part()
    entering.append((value, body.here))
    body.goto(after)
    body.start(after)
    return merged(walk, operator, entering, node)


def by_truth(walk: Walk, is_and: bool) -> Callable[[int, Block, Block], None]:
    """Return what passes on from a value to the first of two blocks if it is true, or, for an `or`, false."""

    def decide(value: int, following: Block, after: Block) -> None:
        walk.body.branch(value, *((following, after) if is_and else (after, following)))

    return decide


def either(
    walk: Walk, label: str, blocks: Sequence[Block], values: Sequence[Callable[[], int]], node: Node, after: Block
) -> int:
    """Return the value that one of several blocks gives, at their common end `after`."""
    body, entering = walk.body, []
    for block, evaluate in zip(blocks, values, strict=True):
        body.start(block)
        value = evaluate()
        walk.revive()
        entering.append((value, body.here))
        body.goto(after)
    body.start(after)
    return merged(walk, label, entering, node)


def decide_in_turn(
    walk: Walk,
    operator: str,
    is_and: bool,
    parts: Sequence[Node],
    decide: Callable[[Walk, Node, Block, Block], None],
    on_true: Block,
    on_false: Block,
) -> None:
    """Evaluate a condition whose parts are joined by one operator, each by `decide`, and pass on by its truth."""
    *firsts, last = parts
    for part in firsts:
        following = walk.body.new_block(f"{operator} {walk.words(part)}")
        decide(walk, part, *((following, on_false) if is_and else (on_true, following)))
        walk.body.start(following)
    decide(walk, last, on_true, on_false)
