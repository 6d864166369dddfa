"""The contents of class bodies: fields, initialisers, and the implicit members of records."""

from tree_sitter import Node

from facts.java import tree
from facts.java.annotations import state_modifiers
from facts.java.control import execute
from facts.java.functions import Parameter, method_value, parameter_type, receiver, state_parameter, store_components
from facts.java.scopes import INSTANCE, STATIC, Scope
from facts.java.tree import STATEMENTS, children, only_child, with_fields
from facts.java.type_values import declared_type
from facts.java.unit import Unit

_METHODS = ("method_declaration", "annotation_type_element_declaration")


def collect_members(unit: Unit, scope: Scope, node: Node) -> None:
    """Note the names of the fields and methods that a class declares."""
    for component in children(scope.components) if scope.components is not None else ():
        name = _component_name(component)
        if name is not None:
            scope.fields[unit.text(name)] = INSTANCE
            scope.methods[unit.text(name)] = {INSTANCE}
    work = children(node)
    for member in work:
        if member.type == "enum_body_declarations":
            work += children(member)
        elif member.type == "enum_constant" and member.child_by_field_id(tree.NAME) is not None:
            scope.fields[unit.text(member.child_by_field_id(tree.NAME))] = STATIC
        elif member.type in ("field_declaration", "constant_declaration"):
            kind = STATIC if _is_static(scope, member) else INSTANCE
            for declarator in with_fields(member, tree.DECLARATOR):
                scope.fields[unit.text(declarator.child_by_field_id(tree.NAME))] = kind
        elif member.type in _METHODS and member.child_by_field_id(tree.NAME) is not None:
            kind = STATIC if tree.has_modifier(member, STATIC) else INSTANCE
            scope.methods.setdefault(unit.text(member.child_by_field_id(tree.NAME)), set()).add(kind)


def class_members(node: Node) -> list[Node]:
    """Return the members of a class body; those of an enum stand behind its constants."""
    found = []
    for child in children(node):
        found += children(child) if child.type == "enum_body_declarations" else [child]
    return found


def _component_name(node: Node) -> Node | None:
    holder = tree.child_of_type(node, "variable_declarator") if node.type == "spread_parameter" else node
    return holder.child_by_field_id(tree.NAME) if holder is not None else None


def _is_static(scope: Scope, node: Node) -> bool:
    return scope.kind in ("interface", "annotation") or tree.has_modifier(node, STATIC)


def run_members(unit: Unit, node: Node) -> None:
    """Execute a class body: blocks in it run when an object is made."""
    for member in children(node):
        if member.type == "enum_body_declarations":
            run_members(unit, member)
        elif member.type == "block":
            unit.scope.instance.append((member, None))
        else:
            unit.statement(member)


# ---- Fields


@STATEMENTS("field_declaration", "constant_declaration")
def _fields(unit: Unit, node: Node) -> None:
    """Static fields get their values where they stand; those of objects when one is made."""
    scope = unit.scope
    is_static = _is_static(scope, node)
    for declarator in with_fields(node, tree.DECLARATOR):
        kind = declared_type(unit, node, declarator)
        name, initial = declarator.child_by_field_id(tree.NAME), declarator.child_by_field_id(tree.VALUE)
        field = state_field(unit, unit.text(name), kind, declarator)
        state_modifiers(unit, field, node, *([STATIC] if is_static else []))
        if scope.written is not None and unit.text(name) in scope.written.properties:
            scope.written.properties[unit.text(name)].type = kind
        if initial is None:
            continue
        if is_static:
            _static_value(unit, unit.text(name), kind, initial, name)
        else:
            scope.instance.append((declarator, initial))


def state_field(unit: Unit, name: str, kind: int, node: Node) -> int:
    """State a field of the class at hand and its type; return the field."""
    scope = unit.scope
    field = unit.facts.entity(scope.entity, "field " + name, node.start_byte, node.end_byte)
    unit.emit("field", field, scope.entity, name)
    unit.emit("attribute_annotation", scope.entity, scope.n_fields, name, kind)
    scope.n_fields += 1
    return field


def _static_value(unit: Unit, name: str, kind: int, initial: Node, node: Node) -> None:
    source = unit.value(initial)
    value = unit.entity(name, node)
    unit.emit("assign", value, source)
    unit.emit("annotation", value, kind)
    unit.emit("binds", value, unit.scope.entity, name, "variable")
    unit.emit("member", unit.scope.entity, name, value)


@STATEMENTS("static_initializer")
def _static_initializer(unit: Unit, node: Node) -> None:
    unit.captured = unit.captures.of(node)
    execute(unit, only_child(node))


def build_initializer(unit: Unit, _: Node) -> None:
    """Make the function that gives a new object's fields their values and runs the blocks of the class."""
    scope = unit.scope
    function = unit.facts.entity(scope.entity, "def <initializer>")
    unit.emit("function", function, scope.entity, "<initializer>")
    unit.emit("initializer", scope.entity, function)
    captured = frozenset().union(*(unit.captures.of(node) for node, _ in scope.instance))
    unit.open_body(function, captured)
    receiver(unit, function)
    for node, initial in scope.instance:
        unit.revive()
        if initial is None:
            execute(unit, node)
        else:
            unit.attempt(_instance_value, node)
    unit.body.finish()


def _instance_value(unit: Unit, node: Node) -> None:
    name = unit.text(node.child_by_field_id(tree.NAME))
    source = unit.value(node.child_by_field_id(tree.VALUE))
    store = unit.body.instruction(unit.entity(name + " =", node))
    unit.emit("store_attribute", store, unit.this(), name, source)


# ---- Records


def state_components(unit: Unit, node: Node) -> None:
    """State the fields of a record, and the constructor and accessors that it has unless it declares them."""
    scope = unit.scope
    nodes = [part for part in children(scope.components) if _component_name(part) is not None]
    members = children(node)
    for part in nodes:
        name = unit.text(_component_name(part))
        state_field(unit, name, parameter_type(unit, part), part)
        if not any(_is_accessor(unit, member, name) for member in members):
            _state_accessor(unit, name, part)
    if not any(_is_canonical(unit, member, nodes) for member in members):
        _state_constructor(unit, nodes)


def _is_accessor(unit: Unit, member: Node, name: str) -> bool:
    if member.type != "method_declaration" or unit.text(member.child_by_field_id(tree.NAME)) != name:
        return False
    return not children(member.child_by_field_id(tree.PARAMETERS))


def _is_canonical(unit: Unit, member: Node, components: list[Node]) -> bool:
    """Return True if a constructor takes the components: compactly, or with as many parameters of the same types."""
    if member.type == "compact_constructor_declaration":
        return True
    if member.type != "constructor_declaration":
        return False
    parameters = children(member.child_by_field_id(tree.PARAMETERS))
    return [_type_text(unit, part) for part in parameters] == [_type_text(unit, part) for part in components]


def _type_text(unit: Unit, node: Node) -> str:
    parts = [child for child in children(node) if child.type not in ("modifiers", "identifier", "variable_declarator")]
    return "".join("".join(unit.text(part).split()) for part in parts)


def _state_accessor(unit: Unit, name: str, node: Node) -> None:
    scope = unit.scope
    function = unit.entity(f"def {name}()", node)
    unit.emit("function", function, scope.entity, name)
    unit.emit("member", scope.entity, name, method_value(unit, function))
    unit.later(node, _build_accessor, function, name)


def _build_accessor(unit: Unit, node: Node, function: int, name: str) -> None:
    unit.open_body(function, frozenset())
    receiver(unit, function)
    unit.emit("returns", function, unit.load(unit.this(), name, node))
    unit.body.finish()


def _state_constructor(unit: Unit, nodes: list[Node]) -> None:
    scope = unit.scope
    name = unit.label(scope.value)
    function = unit.entity(f"def {name}({','.join(_type_text(unit, part) for part in nodes)})", scope.components)
    unit.emit("function", function, scope.entity, name)
    unit.emit("constructor", scope.entity, function)
    parameters = [state_parameter(unit, function, position, part) for position, part in enumerate(nodes)]
    unit.later(scope.components, _build_constructor, function, parameters)


def _build_constructor(unit: Unit, _: Node, function: int, parameters: list[Parameter]) -> None:
    unit.open_body(function, frozenset())
    receiver(unit, function)
    for parameter in parameters:
        unit.bind(unit.declare(parameter.name, parameter.type), parameter.value, "parameter")
    store_components(unit, parameters)
    unit.body.finish()
