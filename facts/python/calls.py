"""Calls and their arguments."""

from tree_sitter import Node

from facts.instructions import allocate
from facts.python import tree
from facts.python.expressions import splatted
from facts.python.tree import EXPRESSIONS, children, only_child
from facts.python.unit import Unit
from facts.row_builder import tail


@EXPRESSIONS("call")
def _call(unit: Unit, node: Node) -> int:
    callee = unit.value(node.child_by_field_id(tree.FUNCTION))
    arguments = node.child_by_field_id(tree.ARGUMENTS)
    if arguments is None or arguments.type != "argument_list":
        return call(unit, callee, [("", unit.value(arguments))], node)
    return call(unit, callee, evaluate_arguments(unit, arguments), node)


def evaluate_arguments(unit: Unit, node: Node) -> list[tuple[str, int]]:
    """Evaluate arguments in order: (keyword, `*`, `**` or the empty string, value)."""
    result = []
    for argument in children(node):
        kind = argument.type
        if kind == "keyword_argument":
            name = unit.text(argument.child_by_field_id(tree.NAME))
            result.append((name, unit.value(argument.child_by_field_id(tree.VALUE))))
        elif kind == "dictionary_splat":
            result.append(("**", unit.value(splatted(argument))))
        elif (starred := starred_argument(argument)) is not None:
            result.append(("*", unit.value(splatted(starred))))
        else:
            result.append(("", unit.value(argument)))
    return result


def starred_argument(node: Node) -> Node | None:
    """Return the `*x` that an argument is, through parentheses; None for another expression."""
    while node is not None and node.type == "parenthesized_expression":
        node = only_child(node)
    return node if node is not None and node.type in ("list_splat", "parenthesized_list_splat") else None


def call(unit: Unit, callee: int, arguments: list[tuple[str, int]], node: Node) -> int:
    """Return the result of a call; arguments as `evaluate_arguments` gives them."""
    result = unit.entity(tail(unit.label(callee) + "()"), node)
    unit.body.running(result)
    unit.emit("call", result, unit.body.entity, callee)
    position, starred = 0, False
    for keyword, value in arguments:
        if keyword == "**":
            unit.emit("keyword_rest_argument", result, value)
        elif keyword == "*":
            unit.emit("rest_argument", result, position, value)
            starred = True
        elif keyword:
            unit.emit("keyword_argument", result, keyword, value)
        elif starred:
            unit.emit("rest_argument", result, position, _boxed(unit, value, node))
        else:
            unit.emit("argument", result, position, value)
            position += 1
    return result


def _boxed(unit: Unit, value: int, node: Node) -> int:
    """Return a tuple that holds `value`: a positional argument behind `*args`, whose position is unknown."""
    container = unit.entity("tuple", node)
    unit.emit("element", container, value)
    return allocate(unit, container, "tuple")
