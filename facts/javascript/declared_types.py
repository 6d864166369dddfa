"""Finds what classes, and the types, enums and namespaces of TypeScript, declare and use."""

from tree_sitter import Node

from facts.javascript.declared_names import COLLECT, Collector, collect_method, type_scope
from facts.javascript.handler_tables import children, field, tokens
from facts.javascript.scopes import BLOCK, FUNCTION, Name, Scope

# ---- Classes


@COLLECT("class_declaration", "abstract_class_declaration", "class")
def _class(found: Collector, node: Node, scope: Scope) -> None:
    name = field(node, "name")
    inner = found.scopes.open(BLOCK, node, scope)
    if name is not None:
        (inner if node.type == "class" else scope).declare(found.text(name), "class")
    inner = type_scope(found, node, inner)
    for child in children(node):
        if child.type in ("class_heritage", "decorator"):
            found.visit(child, inner)
    _members(found, field(node, "body"), inner)


def _members(found: Collector, node: Node | None, scope: Scope) -> None:
    """Collect the members of a class: initialisers of fields run in the constructor, static ones where the class is."""
    members = children(node)
    constructor = next((member for member in members if is_constructor(found, member)), None)
    if constructor is not None:
        collect_method(found, constructor, scope)
        runs = found.scopes.of_node[constructor.id]
    else:
        runs = found.scopes.open(FUNCTION, node, scope) if node is not None else scope
    static = Name("this")
    for member in members:
        is_field = member.type in ("field_definition", "public_field_definition")
        if is_field and not is_static(member):
            inner = found.scopes.open(BLOCK, member, scope, runs)
            inner.values["this"] = runs.values[runs.resolve("this") and "this"]
        elif is_field or member.type == "class_static_block":
            inner = found.scopes.open(BLOCK, member, scope, holds_var=True)
            inner.values["this"] = static
        elif member != constructor:
            found.visit(member, scope)
            continue
        else:
            continue
        found.visit_children(member, inner)


def is_constructor(found, node: Node) -> bool:
    """Return True if a member of a class is its constructor. `found` reads texts."""
    name = field(node, "name")
    return node.type == "method_definition" and name is not None and found.text(name) == "constructor"


def is_static(node: Node) -> bool:
    """Return True if a member of a class is static."""
    return "static" in tokens(node)


# ---- TypeScript


@COLLECT("type_alias_declaration", "interface_declaration")
def _type_declaration(found: Collector, node: Node, scope: Scope) -> None:
    name = field(node, "name")
    scope.declare_type(found.text(name))
    inner = type_scope(found, node, found.scopes.open(BLOCK, node, scope))
    for child in children(node):
        if child != name and child.type != "type_parameters":
            found.visit(child, inner)


@COLLECT("function_type", "constructor_type", "call_signature", "construct_signature", "method_signature")
@COLLECT("abstract_method_signature")
def _signature(found: Collector, node: Node, scope: Scope) -> None:
    inner = type_scope(found, node, scope)
    name = field(node, "name")
    for child in children(node):
        if child == name and child.type != "computed_property_name" or child.type == "type_parameters":
            continue
        if child.type == "formal_parameters":
            for parameter in children(child):
                found.visit(field(parameter, "type"), inner)
        else:
            found.visit(child, inner)


@COLLECT("required_parameter", "optional_parameter")
def _tuple_part(found: Collector, node: Node, scope: Scope) -> None:
    found.visit(field(node, "type"), scope)


@COLLECT("index_signature", "type_predicate")
def _named_part(found: Collector, node: Node, scope: Scope) -> None:
    name = field(node, "name")
    for child in children(node):
        if child != name:
            found.visit(child, scope)


@COLLECT("mapped_type_clause")
def _mapped(found: Collector, node: Node, scope: Scope) -> None:
    scope.declare_type(found.text(field(node, "name")))
    _named_part(found, node, scope)


@COLLECT("infer_type")
def _infer(found: Collector, node: Node, scope: Scope) -> None:
    name, *rest = children(node)
    scope.declare_type(found.text(name))
    for child in rest:
        found.visit(child, scope)


@COLLECT("enum_declaration")
def _enum(found: Collector, node: Node, scope: Scope) -> None:
    found.declare(field(node, "name"), scope, "class")
    inner = found.scopes.open(BLOCK, node, scope)
    for member in children(field(node, "body")):
        name = field(member, "name") if member.type == "enum_assignment" else member
        if name is not None and name.type == "property_identifier":
            inner.declare(found.text(name))
        found.visit(field(member, "value"), inner)


@COLLECT("internal_module", "module")
def _namespace(found: Collector, node: Node, scope: Scope) -> None:
    name = field(node, "name")
    while name is not None and name.type == "nested_identifier":
        name = field(name, "object")
    if name is not None and name.type == "identifier":
        scope.declare(found.text(name), "namespace")
    inner = found.scopes.open(BLOCK, node, scope, holds_var=True)
    found.visit_children(field(node, "body"), inner)
