"""Classes, interfaces, enums, records and annotation types; local and anonymous classes."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.function_body import MODULE, Variable
from facts.java import tree
from facts.java.annotations import state_modifiers
from facts.java.calls import construct, evaluate_arguments
from facts.java.lombok import plan_members, write_members
from facts.java.members import build_initializer, class_members, collect_members, run_members, state_components
from facts.java.scopes import STATIC, Scope
from facts.java.tree import EXPRESSIONS, STATEMENTS, children, only_child
from facts.java.type_values import bind_type_parameters
from facts.java.unit import Unit
from facts.row_builder import tail

_KINDS = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "annotation_type_declaration": "annotation",
}


def declare_classes(unit: Unit, nodes: list[Node]) -> None:
    """Let classes be known from the beginning of the module or class that they stand in."""
    for node in nodes:
        if node.type in _KINDS and node.child_by_field_id(tree.NAME) is not None:
            unit.declared[node.id] = _declare(unit, node)


def _declare(unit: Unit, node: Node) -> tuple[int, int]:
    """State a class and let its name mean it; return the class and its value."""
    name = node.child_by_field_id(tree.NAME)
    entity, value = _state(unit, node, name, unit.text(name), "class " + unit.text(name), _KINDS[node.type])
    unit.names.declare_type(unit.text(name), value, unit.scope.depth)
    return entity, value


def _state(unit: Unit, node: Node, place: Node, name: str, label: str, kind: str) -> tuple[int, int]:
    entity = unit.entity(label, node)
    unit.emit("class", entity, unit.body.entity, name)
    unit.emit("class_kind", entity, kind)
    value = unit.entity(name, place)
    unit.emit("define", value, entity)
    return entity, value


@STATEMENTS(*_KINDS)
def _class(unit: Unit, node: Node) -> None:
    name = unit.text(node.child_by_field_id(tree.NAME))
    entity, value = unit.declared.pop(node.id, None) or _declare(unit, node)
    is_member = unit.body is unit.scope.body and unit.scope.kind != "module"
    implied = is_member and (_KINDS[node.type] != "class" or unit.scope.kind in ("interface", "annotation"))
    state_modifiers(unit, entity, node, *([STATIC] if implied else []))
    if is_member:
        unit.emit("member", unit.scope.entity, name, value)
    elif unit.body.entity == MODULE:
        unit.body.bind(Variable(name, MODULE, shared=True), value)
        unit.emit("binds", value, MODULE, name, "class")
    else:
        unit.emit("binds", value, unit.body.entity, name, "class")
        unit.capture(node)
    mark = unit.names.open()
    bind_type_parameters(unit, entity, node.child_by_field_id(tree.TYPE_PARAMETERS))
    bases = [unit.value(base) for base in _bases(node)]
    _define(unit, entity, value, _KINDS[node.type], bases, node)
    unit.names.close(mark)


def _bases(node: Node) -> list[Node]:
    """Return the types that a class extends and implements, in this order."""
    superclass = node.child_by_field_id(tree.SUPERCLASS)
    found = [only_child(superclass)] if superclass is not None else []
    for clause in (node.child_by_field_id(tree.INTERFACES), tree.child_of_type(node, "extends_interfaces")):
        types = only_child(clause) if clause is not None else None
        found += children(types) if types is not None else []
    return found


def _define(unit: Unit, entity: int, value: int, kind: str, bases: list[int], node: Node) -> None:
    """State the bases of a class; its body runs later."""
    for position, base in enumerate(bases):
        unit.emit("base", entity, position, base)
    scope = Scope(entity, value=value, outer=unit.scope, kind=kind, depth=unit.scope.depth + 1, inherits=bool(bases))
    code = node if node.type == "class_body" else node.child_by_field_id(tree.BODY)
    if kind == "record":
        scope.components = node.child_by_field_id(tree.PARAMETERS)
    if code is not None:
        unit.later(code, _build, scope)


def _build(unit: Unit, node: Node, scope: Scope) -> None:
    """Execute a class body: members, then what is static in it; initialise objects by a function of their own."""
    collect_members(unit, scope, node)
    scope.written = plan_members(unit, scope, node)
    unit.open_class(scope)
    declare_classes(unit, class_members(node))
    if scope.components is not None:
        state_components(unit, node)
    run_members(unit, node)
    if scope.written is not None:
        write_members(unit, scope.written, node)
    if scope.instance:
        unit.later(node, build_initializer)


def anonymous_class(unit: Unit, base: int, node: Node) -> int:
    """Return the class without a name whose body is `node`."""
    label = f"class <anonymous {unit.label(base)}>"
    entity, value = _state(unit, node, node, "<anonymous>", tail(label), "class")
    unit.capture(node)
    _define(unit, entity, value, "class", [base], node)
    return value


@EXPRESSIONS("object_creation_expression")
def _object_creation(unit: Unit, node: Node) -> int:
    """`new C(…)`, `outer.new C(…)`; with a body, an object of a class without a name that extends `C`."""
    kind, outer = node.child_by_field_id(tree.TYPE), node.children[0]
    if outer.is_named:
        base = unit.qualifier(outer)
        callee = unit.load(base, unit.text(kind), kind) if kind.type == "type_identifier" else unit.value(kind)
    else:
        callee = unit.value(kind)
    arguments = evaluate_arguments(unit, node)
    code = tree.child_of_type(node, "class_body")
    if code is not None:
        callee = anonymous_class(unit, callee, code)
    return construct(unit, callee, arguments, node)


@STATEMENTS("enum_constant")
def _enum_constant(unit: Unit, node: Node) -> None:
    """A constant is an object of the enum, or of a class without a name that extends it."""
    name_node = node.child_by_field_id(tree.NAME)
    name, scope = unit.text(name_node), unit.scope
    field = unit.entity("field " + name, node)
    unit.emit("field", field, scope.entity, name)
    state_modifiers(unit, field, node, STATIC)
    arguments = evaluate_arguments(unit, node)
    code = node.child_by_field_id(tree.BODY)
    callee = scope.value if code is None else anonymous_class(unit, scope.value, code)
    source = construct(unit, callee, arguments, node)
    value = unit.entity(name, name_node)
    unit.emit("assign", value, source)
    unit.emit("binds", value, scope.entity, name, "variable")
    unit.emit("member", scope.entity, name, value)
    if scope.value != NIL:
        unit.emit("annotation", value, scope.value)
