"""Calls, objects made by `new`, and method references."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import load_attribute
from facts.java import tree
from facts.java.expressions import field_base
from facts.java.tree import EXPRESSIONS, STATEMENTS, children
from facts.java.unit import Unit
from facts.row_builder import tail
from facts.tree_sitter_grammar import has_token


@EXPRESSIONS("method_invocation")
def _method_invocation(unit: Unit, node: Node) -> int:
    name = node.child_by_field_id(tree.NAME)
    word = unit.text(name)
    if word in ("super", "this"):
        return _run_constructor(unit, word, node)
    if node.child_by_field_id(tree.OBJECT) is None:
        callee = unit.method(word, name)
    else:
        callee = load_attribute(unit, field_base(unit, node), word, name)
    return call(unit, callee, evaluate_arguments(unit, node), unit.label(callee) + "()", node)


def evaluate_arguments(unit: Unit, node: Node) -> list[int]:
    """Evaluate the arguments of a call in order."""
    arguments = node.child_by_field_id(tree.ARGUMENTS)
    return [unit.value(argument) for argument in children(arguments)] if arguments is not None else []


def call(unit: Unit, callee: int, arguments: list[int], label: str, node: Node) -> int:
    """Return the result of a call."""
    result = unit.body.running(unit.entity(tail(label), node))
    unit.emit("call", result, unit.body.entity, callee)
    for position, value in enumerate(arguments):
        unit.emit("argument", result, position, value)
    return result


@STATEMENTS("explicit_constructor_invocation")
def _explicit_constructor(unit: Unit, node: Node) -> None:
    """`this(…)` or `super(…)`: the receiver, or it as an object of the base class, is called."""
    outer, constructor = node.child_by_field_id(tree.OBJECT), node.child_by_field_id(tree.CONSTRUCTOR)
    if outer is not None:
        unit.qualifier(outer)
    _run_constructor(unit, constructor.type, node)


def _run_constructor(unit: Unit, word: str, node: Node) -> int:
    """Return the result of `super(…)` or `this(…)`."""
    callee = unit.super(NIL) if word == "super" else unit.this()
    return call(unit, callee, evaluate_arguments(unit, node), word + "()", node)


@EXPRESSIONS("method_reference")
def _method_reference(unit: Unit, node: Node) -> int:
    """`A::m`, `a::m`, `A::new`: the method as an attribute; the constructor as the attribute `new`."""
    base, *_ = parts = children(node)
    name = "new" if has_token(node, "new") else unit.text(parts[-1])
    if base.type == "scoped_type_identifier" and unit.text(children(base)[-1]) == "super":
        value = unit.super(unit.value(children(base)[0]))
    else:
        value = unit.qualifier(base)
    return load_attribute(unit, value, name, node)


def construct(unit: Unit, callee: int, arguments: list[int], node: Node) -> int:
    """Return the object that `new` makes of a class."""
    result = call(unit, callee, arguments, f"new {unit.label(callee)}()", node)
    unit.emit("construction", result)
    return result
