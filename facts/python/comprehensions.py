"""Comprehensions and generator expressions: their loops stand in the body around them, their variables in a scope."""

from collections.abc import Callable

from tree_sitter import Node

from facts.python import tree
from facts.python.control import iterated, open_round
from facts.python.operators import decide
from facts.python.scopes import COMPREHENSION
from facts.python.tree import EXPRESSIONS, children, only_child
from facts.python.unit import Unit

_KINDS = {
    "list_comprehension": "list",
    "set_comprehension": "set",
    "dictionary_comprehension": "dict",
    "generator_expression": "generator",
}


@EXPRESSIONS("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
def _comprehension(unit: Unit, node: Node) -> int:
    kind = _KINDS[node.type]
    container = unit.body.allocation(unit.entity(kind, node))
    unit.emit("allocate", container, kind)
    outer, inner = unit.scope, unit.scopes.of(node, COMPREHENSION, unit.scope)
    clauses = [child for child in children(node) if child.type in ("for_in_clause", "if_clause")]
    source = iterated(unit, clauses[0])
    unit.scope = inner

    def element() -> None:
        _element(unit, container, node.child_by_field_id(tree.BODY))

    _loop(unit, clauses, source, element)
    unit.scope = outer
    return container


def _element(unit: Unit, container: int, body: Node) -> None:
    if body.type == "pair":
        key = unit.value(body.child_by_field_id(tree.KEY))
        unit.emit("item", container, key, unit.value(body.child_by_field_id(tree.VALUE)))
    else:
        unit.emit("element", container, unit.value(body))


def _loop(unit: Unit, clauses: list[Node], source: int, element: Callable[[], None]) -> None:
    """Walk the clauses from the first, a `for` over `source`, inwards; then state the element."""
    body = unit.body
    first, *rest = clauses
    label = unit.words(first)
    head, inside, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    open_round(unit, first, source, head, inside, after, exhausted=after)
    while rest and rest[0].type == "if_clause":
        condition, *rest = rest
        following = body.new_block("then " + unit.words(condition))
        decide(unit, only_child(condition), following, head)
        body.start(following)
    if rest:
        _loop(unit, rest, iterated(unit, rest[0]), element)
    else:
        element()
    body.goto(head)
    body.leave()
    body.seal(head)
    body.start(after)
