"""Type annotations, which are expressions in a grammar of their own, and `type` statements."""

import re

from tree_sitter import Node

from facts.instructions import allocate, load_attribute, load_index, operation
from facts.python import tree
from facts.python.expressions import display, splatted
from facts.python.scopes import COMPREHENSION, alias_name, alias_parameters
from facts.python.tree import EXPRESSIONS, STATEMENTS, children, only_child
from facts.python.unit import Unit

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def annotate(unit: Unit, target: Node, declared: Node, value: int | None) -> None:
    """State the type that a variable or attribute is declared to have; `value` is what it was assigned, if anything."""
    kind = unit.value(declared)
    while target.type == "parenthesized_expression":
        target = only_child(target)
    if value is not None:
        unit.emit("annotation", value, kind)
    if target.kind_id == tree.IDENTIFIER and unit.scope.kind == "class":
        position = unit.n_annotated[unit.body.entity]
        unit.n_annotated[unit.body.entity] += 1
        unit.emit("attribute_annotation", unit.body.entity, position, unit.scope.mangled(unit.text(target)), kind)


@EXPRESSIONS("type")
def _type(unit: Unit, node: Node) -> int:
    inner = only_child(node)
    if inner is not None and inner.type == "string" and (name := _quoted_name(unit, inner)):
        return _dotted(unit, name, inner)
    return unit.value(inner)


def _quoted_name(unit: Unit, node: Node) -> str:
    """Return the dotted name that a quoted annotation is, empty for another one."""
    text = "".join(unit.text(child) for child in node.named_children if child.type == "string_content")
    return text if _DOTTED.fullmatch(text) else ""


def _dotted(unit: Unit, name: str, node: Node) -> int:
    first, *rest = name.split(".")
    value = unit.read(first)
    for part in rest:
        value = load_attribute(unit, value, part, node)
    return value


@EXPRESSIONS("generic_type")
def _generic(unit: Unit, node: Node) -> int:
    """`base[arguments]`."""
    base, parameters = children(node)[0], children(node)[-1]
    return load_index(unit, unit.value(base), unit.value(parameters), node)


@EXPRESSIONS("type_parameter")
def _arguments(unit: Unit, node: Node) -> int:
    parts = children(node)
    return unit.value(parts[0]) if len(parts) == 1 else display(unit, "tuple", parts, node)


@EXPRESSIONS("union_type")
def _union(unit: Unit, node: Node) -> int:
    left, right = children(node)
    return operation(unit, "|", [unit.value(left), unit.value(right)], node)


@EXPRESSIONS("member_type")
def _member(unit: Unit, node: Node) -> int:
    base, name = children(node)
    return load_attribute(unit, unit.value(base), unit.text(name), node)


@EXPRESSIONS("splat_type")
def _splat(unit: Unit, node: Node) -> int:
    return unit.value(splatted(node))


@EXPRESSIONS("constrained_type")
def _constrained(unit: Unit, node: Node) -> int:
    """`T: bound` in type parameters; elsewhere both are read."""
    first, *rest = [unit.value(child) for child in children(node)]
    return first


@STATEMENTS("type_alias_statement")
def _type_alias(unit: Unit, node: Node) -> None:
    name, outer = alias_name(node), unit.scope
    unit.scope = unit.scopes.of(node, COMPREHENSION, outer)
    bind_type_parameters(unit, alias_parameters(node))
    source = unit.value(node.child_by_field_id(tree.RIGHT))
    unit.scope = outer
    unit.assign(unit.text(name), source, "type", name)


def bind_type_parameters(unit: Unit, node: Node | None) -> None:
    """Bind the names in `[T: bound, *Ts, **P]` to new objects of kind type, and read the bounds."""
    for parameter in children(node) if node is not None else ():
        inner = only_child(parameter)
        if inner is not None and inner.type == "constrained_type":
            inner, *bounds = children(inner)
            for bound in bounds:
                unit.value(bound)
        while inner is not None and inner.kind_id != tree.IDENTIFIER:
            inner = only_child(inner)
        if inner is not None:
            source = allocate(unit, unit.entity("type", inner), "type")
            unit.assign(unit.text(inner), source, "type", inner)
