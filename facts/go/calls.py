"""Calls and conversions, which look alike: a type of this file, or a basic one, converts."""

from tree_sitter import Node

from facts.go import tree
from facts.go.expressions import cast, is_type_argument
from facts.go.scopes import IMPORT, TYPE
from facts.go.tree import EXPRESSIONS, children, only_child
from facts.go.type_values import instantiated, is_type_name
from facts.go.unit import Unit
from facts.instructions import load_index
from facts.row_builder import tail

_NEVER_RETURN = {
    "os": {"Exit"},
    "runtime": {"Goexit"},
    "log": {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
    "syscall": {"Exit"},
}


@EXPRESSIONS("call_expression")
def _call(unit: Unit, node: Node) -> int:
    function, arguments = node.child_by_field_id(tree.FUNCTION), node.child_by_field_id(tree.ARGUMENTS)
    parts = children(arguments) if arguments is not None else []
    if len(parts) == 1 and parts[0].type != "variadic_argument" and is_type_name(unit, function):
        return cast(unit, unit.value(parts[0]), _named_type(unit, function), node)
    callee = instantiated(unit, unit.value(function), node.child_by_field_id(tree.TYPE_ARGUMENTS))
    values = _arguments(unit, parts)
    result = call(unit, callee, values, node)
    if values and is_panic(unit, node):
        unit.emit("raises", result, unit.body.entity, values[0][1])
    return result


def _named_type(unit: Unit, node: Node) -> int:
    """Return the type that an expression means: of `(*T)`, T."""
    node = tree.inside(node)
    while node is not None and node.kind_id in tree.UNARY:
        node = tree.inside(node.child_by_field_id(tree.OPERAND))
    return unit.value(node)


def _arguments(unit: Unit, nodes: list[Node]) -> list[tuple[str, int]]:
    """Evaluate arguments: the relation each enters, and its value. `xs...` passes the elements of a slice."""
    return [
        ("rest_argument", unit.value(only_child(node)))
        if node.type == "variadic_argument"
        else ("argument", unit.value(node))
        for node in nodes
    ]


def call(unit: Unit, callee: int, arguments: list[tuple[str, int]], node: Node) -> int:
    """Return the result of a call; arguments as `_arguments` gives them. One that is deferred changes nothing here."""
    result = unit.entity(tail(unit.label(callee) + "()"), node)
    if node == unit.deferred:
        unit.body.instruction(result)
    else:
        unit.body.running(result)
    unit.emit("call", result, unit.body.entity, callee)
    for position, (relation, value) in enumerate(arguments):
        unit.emit(relation, result, position, value)
    return result


@EXPRESSIONS("type_conversion_expression")
def _conversion(unit: Unit, node: Node) -> int:
    """`T(x)` of a type; `f[A](x)` and `table[i](x)` look the same, but are calls."""
    kind, operand = node.child_by_field_id(tree.TYPE), node.child_by_field_id(tree.OPERAND)
    if kind is None or kind.type != "generic_type" or _is_generic_type(unit, kind.child_by_field_id(tree.TYPE)):
        type_value = unit.value(kind)
        return cast(unit, unit.value(operand), type_value, node)
    callee = _function(unit, kind)
    return call(unit, callee, _arguments(unit, [operand] if operand is not None else []), node)


def _is_generic_type(unit: Unit, node: Node | None) -> bool:
    found = unit.scope.find(unit.text(node)) if node is not None else None
    return found is not None and found.form == TYPE


def _function(unit: Unit, node: Node) -> int:
    """Return the function that `f[A]` or `table[i]` means, read as a type by the grammar."""
    base, arguments = unit.value(node.child_by_field_id(tree.TYPE)), node.child_by_field_id(tree.TYPE_ARGUMENTS)
    parts = children(arguments)
    if len(parts) == 1 and not is_type_argument(unit, parts[0]) and len(children(parts[0])) == 1:
        return load_index(unit, base, unit.value(parts[0]), node)
    return instantiated(unit, base, arguments)


# ---- Calls that never return


def is_panic(unit: Unit, node: Node) -> bool:
    """Return True if a call is `panic(x)`."""
    function = node.child_by_field_id(tree.FUNCTION)
    if function is None or function.kind_id not in tree.IDENTIFIER:
        return False
    return unit.text(function) == "panic" and unit.scope.find("panic") is None


def never_returns(unit: Unit, node: Node) -> bool:
    """Return True if a call ends the function or program, by its name."""
    function = node.child_by_field_id(tree.FUNCTION)
    if is_panic(unit, node):
        return True
    if function is None or function.type != "selector_expression":
        return False
    package, name = function.child_by_field_id(tree.OPERAND), function.child_by_field_id(tree.FIELD)
    if unit.text(name) not in _NEVER_RETURN.get(unit.text(package), ()):
        return False
    found = unit.scope.find(unit.text(package))
    return found is not None and found.form == IMPORT
