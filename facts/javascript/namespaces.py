"""TypeScript's declarations other than variables, functions and classes: interfaces, types, enums, namespaces."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import allocate, store_attribute
from facts.javascript.functions import define_value, type_scope
from facts.javascript.handler_tables import STATEMENTS, child_of_type, children, field
from facts.javascript.literals import property_name
from facts.javascript.type_values import state_members
from facts.javascript.unit import Unit
from facts.ssa import UNDEFINED


@STATEMENTS("interface_declaration")
def _interface(unit: Unit, node: Node) -> None:
    name = unit.text(field(node, "name"))
    entity = unit.entity("class " + name, node)
    unit.emit("class", entity, unit.body.entity, name)
    unit.emit("class_kind", entity, "interface")
    unit.bind_type(name, define_value(unit, entity, name, field(node, "name"), None))
    with unit.inside(node):
        unit.scope = type_scope(unit, node, entity)
        for position, parent in enumerate(children(child_of_type(node, "extends_type_clause"))):
            unit.emit("base", entity, position, unit.value(parent))
        state_members(unit, entity, field(node, "body"))


@STATEMENTS("type_alias_declaration")
def _alias(unit: Unit, node: Node) -> None:
    name = unit.text(field(node, "name"))
    value = unit.entity(name, field(node, "name"))
    with unit.inside(node):
        unit.scope = type_scope(unit, node, value)
        source = unit.value(field(node, "value"))
    unit.emit("assign", value, source)
    unit.bind_type(name, value)


@STATEMENTS("enum_declaration")
def _enum(unit: Unit, node: Node) -> None:
    """A class whose members are constants: numbers from 0 on where nothing is written."""
    name = unit.text(field(node, "name"))
    entity = unit.entity("class " + name, node)
    unit.emit("class", entity, unit.body.entity, name)
    unit.emit("class_kind", entity, "enum")
    unit.bind(name, define_value(unit, entity, name, field(node, "name"), None), "class")
    following: int | None = 0
    with unit.inside(node):
        for member in children(field(node, "body")):
            following = _enum_member(unit, entity, member, following)


def _enum_member(unit: Unit, entity: int, node: Node, following: int | None) -> int | None:
    """State a member; return the number that the next one has without a value."""
    is_assigned = node.type == "enum_assignment"
    key = field(node, "name") if is_assigned else node
    name = property_name(unit, key) or ""
    if is_assigned:
        source = unit.value(field(node, "value"))
        text = unit.text(field(node, "value"))
        following = int(text) + 1 if text.isdecimal() else None
    elif following is None:
        source = unit.entity(name, node)
    else:
        source = unit.body.load_constant("integer", str(following))
        following += 1
    unit.emit("member", entity, name, source)
    if key.type == "property_identifier":
        value = unit.entity(name, key)
        unit.emit("assign", value, source)
        unit.body.bind(unit.scope.own(unit.scope.declare(name)), value)
    return following


@STATEMENTS("ambient_declaration")
def _ambient(unit: Unit, node: Node) -> None:
    """`declare …`: what is declared is elsewhere, and has no body or value here."""
    for child in children(node):
        if child.kind_id in unit.STATEMENTS:
            unit.statement(child)


@STATEMENTS("internal_module", "module")
def _namespace(unit: Unit, node: Node) -> None:
    """`namespace A.B {…}`: an object that has what is exported in it. A module with a quoted name is another file's."""
    outer, name = unit.namespace, field(node, "name")
    unit.namespace = NIL if name.type == "string" else _namespace_object(unit, name)
    with unit.inside(node):
        unit.statements(field(node, "body"))
    unit.namespace = outer


def _namespace_object(unit: Unit, name: Node) -> int:
    """Return the object of a namespace: the function, class or namespace of that name, if there is one already."""
    parts = [name]
    while parts[0].type == "nested_identifier":
        parts[:1] = [field(parts[0], "object"), field(parts[0], "property")]
    first = unit.text(parts[0])
    variable = unit.scope.meaning(first)
    known = UNDEFINED if variable is None else unit.body.variables.read(unit.body.block, variable)
    if known == UNDEFINED:
        known = allocate(unit, unit.entity(first, parts[0]), "namespace")
        unit.bind(first, known, "namespace")
    for part in parts[1:]:
        inner = allocate(unit, unit.entity(unit.text(part), part), "namespace")
        store_attribute(unit, known, unit.text(part), inner, part)
        known = inner
    return known
