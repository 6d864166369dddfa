"""Classes, and definitions with decorators."""

from tree_sitter import Node

from facts.python import tree
from facts.python.calls import evaluate_arguments
from facts.python.functions import apply_decorators, define_function, evaluate_decorators, type_scope
from facts.python.scopes import CLASS
from facts.python.tree import STATEMENTS
from facts.python.unit import Unit


@STATEMENTS("class_definition")
def _class_definition(unit: Unit, node: Node) -> None:
    _, value = define_class(unit, node)
    unit.bind(unit.text(node.child_by_field_id(tree.NAME)), value, "class")


@STATEMENTS("decorated_definition")
def _decorated_definition(unit: Unit, node: Node) -> None:
    decorators = evaluate_decorators(unit, node)
    inner = node.child_by_field_id(tree.DEFINITION)
    name = inner.child_by_field_id(tree.NAME)
    kind = "class" if inner.type == "class_definition" else "function"
    definition, value = define_class(unit, inner) if kind == "class" else define_function(unit, inner, unit.text(name))
    unit.assign(unit.text(name), apply_decorators(unit, decorators, definition, value), kind, name)


def define_class(unit: Unit, node: Node) -> tuple[int, int]:
    """Evaluate bases and body of a class, in place. Return the class and its value."""
    name, outer = node.child_by_field_id(tree.NAME), unit.scope
    scope = unit.scopes.of(node, CLASS, outer)
    entity = unit.entity("class " + unit.text(name), node)
    unit.emit("class", entity, unit.body.entity, unit.text(name))
    unit.scope = type_scope(unit, node)
    _bases(unit, entity, node.child_by_field_id(tree.SUPERCLASSES))
    unit.scope = outer
    unit.bodies[0].capture(scope.captures)
    _class_body(unit, entity, node)
    unit.scope = outer
    unit.body.other_code()
    value = unit.entity(unit.text(name), name)
    unit.emit("define", value, entity)
    return entity, value


def _bases(unit: Unit, entity: int, node: Node | None) -> None:
    position = 0
    for keyword, value in evaluate_arguments(unit, node) if node is not None else ():
        if keyword in ("", "*"):
            unit.emit("base", entity, position, value)
            position += 1
        elif keyword != "**":
            unit.emit("class_keyword", entity, keyword, value)


def _class_body(unit: Unit, entity: int, node: Node) -> None:
    scope = unit.scopes.of(node, CLASS, unit.scope)
    unit.open_class(entity, scope)
    unit.statements(node.child_by_field_id(tree.BODY))
    if unit.body.block is not None:
        for name in scope.assigned:
            unit.emit("member", entity, scope.mangled(name), unit.body.read(scope.variable(name)))
    unit.close_class()
