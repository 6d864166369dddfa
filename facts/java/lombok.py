"""Members that Lombok writes where annotations ask for them: getters, setters and constructors.

The program's own members of the same names come first (https://projectlombok.org/features).
"""

from dataclasses import dataclass, field

from tree_sitter import Node

from facts.file_facts import NIL
from facts.java import tree
from facts.java.functions import Parameter, method_value, receiver, store_components
from facts.java.members import class_members
from facts.java.scopes import INSTANCE, STATIC, Scope
from facts.java.tree import with_fields
from facts.java.unit import Unit

_ANNOTATIONS = tree.kind_ids("marker_annotation", "annotation")
# The first one may stand before a field, too, and comes before what the others of the class say.
_GETTERS, _SETTERS = ("Getter", "Data", "Value"), ("Setter", "Data")
# The constructors that an annotation asks for even if the class declares others, and if it declares none.
_CONSTRUCTORS = {"AllArgsConstructor": "all", "RequiredArgsConstructor": "required"}
_IMPLIED_CONSTRUCTORS = {"Value": "all", "Data": "required"}


@dataclass
class Property:
    """A field of a class with such annotations: where it stands, and the accessors to write for it."""

    node: Node
    is_required: bool
    is_initialised: bool
    getter: str | None = None
    setter: str | None = None
    type: int = NIL


@dataclass
class Plan:
    """Accessors by fields, and the constructors, to be written for a class."""

    properties: dict[str, Property] = field(default_factory=dict)
    constructors: set[str] = field(default_factory=set)
    is_chained: bool = False


def plan_members(unit: Unit, scope: Scope, node: Node) -> Plan | None:
    """Return what Lombok writes for the class with the body `node`, and note the names of methods."""
    if scope.kind not in ("class", "enum") or node.parent is None:
        return None
    asked = _annotations(unit, node.parent)
    members = [member for member in class_members(node) if member.type == "field_declaration"]
    if not asked and not any(_annotations(unit, member) for member in members):
        return None
    plan = Plan(constructors=_constructors(asked, node))
    style = asked.get("Accessors", "")
    plan.is_chained = "chain" in style or "fluent" in style
    for member in members:
        if not tree.has_modifier(member, STATIC):
            _plan_field(unit, scope, plan, member, asked, "fluent" in style)
    return plan


def _annotations(unit: Unit, node: Node) -> dict[str, str]:
    """Return the arguments of the annotations before a declaration, as text, by their simple names."""
    found = [child for child in tree.modifiers(node) if child.kind_id in _ANNOTATIONS]
    return {
        unit.text(child.child_by_field_id(tree.NAME)).rpartition("lombok.")[2]: unit.text(arguments)
        if (arguments := child.child_by_field_id(tree.ARGUMENTS)) is not None
        else ""
        for child in found
    }


def _constructors(asked: dict[str, str], node: Node) -> set[str]:
    found = {_CONSTRUCTORS[name] for name in asked if name in _CONSTRUCTORS}
    declared = any(member.type == "constructor_declaration" for member in class_members(node))
    if found or declared or "NoArgsConstructor" in asked:
        return found
    return {_IMPLIED_CONSTRUCTORS[name] for name in asked if name in _IMPLIED_CONSTRUCTORS}


def _plan_field(unit: Unit, scope: Scope, plan: Plan, member: Node, asked: dict[str, str], is_fluent: bool) -> None:
    own = _annotations(unit, member)
    is_final = tree.has_modifier(member, "final") or "Value" in asked
    for declarator in with_fields(member, tree.DECLARATOR):
        name = unit.text(declarator.child_by_field_id(tree.NAME))
        initialised = is_final and declarator.child_by_field_id(tree.VALUE) is not None
        required = not initialised and (is_final or "NonNull" in own)
        written = plan.properties[name] = Property(declarator, required, initialised)
        base = _capitalised(unit, member, name)
        prefix = "is" if unit.text(member.child_by_field_id(tree.TYPE)) == "boolean" else "get"
        getter, setter = (name, name) if is_fluent else (prefix + base, "set" + base)
        if _asks(_GETTERS, own, asked) and getter not in scope.methods:
            written.getter = getter
        if not is_final and _asks(_SETTERS, own, asked) and (is_fluent or setter not in scope.methods):
            written.setter = setter
        for method in filter(None, (written.getter, written.setter)):
            scope.methods.setdefault(method, set()).add(INSTANCE)


def _capitalised(unit: Unit, member: Node, name: str) -> str:
    """Return the name as it stands behind `get` and `set`: that of `boolean isOpen` is `Open`."""
    if unit.text(member.child_by_field_id(tree.TYPE)) == "boolean" and name[:2] == "is" and name[2:3].isupper():
        name = name[2:]
    return name[:1].upper() + name[1:]


def _asks(annotations: tuple[str, ...], own: dict[str, str], asked: dict[str, str]) -> bool:
    """Return True if the field, or else its class, has one of the annotations; `AccessLevel.NONE` says no."""
    first = annotations[0]
    found = own[first] if first in own else next((asked[name] for name in annotations if name in asked), None)
    return found is not None and "NONE" not in found


def write_members(unit: Unit, plan: Plan, node: Node) -> None:
    """State the planned members of the class at hand, whose fields are stated."""
    plan.properties = {name: written for name, written in plan.properties.items() if written.type != NIL}
    for name, written in plan.properties.items():
        if written.getter is not None:
            _write_getter(unit, name, written)
        if written.setter is not None:
            _write_setter(unit, name, written, plan.is_chained)
    taken = [
        [
            name
            for name, written in plan.properties.items()
            if not written.is_initialised and "all" in plan.constructors
        ],
        [name for name, written in plan.properties.items() if written.is_required and "required" in plan.constructors],
    ]
    for names in dict.fromkeys(tuple(names) for names in taken if names):
        _write_constructor(unit, plan, names, node)


def _method(unit: Unit, label: str, name: str, node: Node) -> int:
    function = unit.entity(label, node)
    unit.emit("function", function, unit.scope.entity, name)
    unit.emit("member", unit.scope.entity, name, method_value(unit, function))
    return function


def _write_getter(unit: Unit, name: str, written: Property) -> None:
    function = _method(unit, f"def {written.getter}()", written.getter, written.node)
    unit.emit("return_annotation", function, written.type)
    unit.later(written.node, _build_getter, function, name)


def _build_getter(unit: Unit, node: Node, function: int, name: str) -> None:
    unit.open_body(function, frozenset())
    receiver(unit, function)
    unit.emit("returns", function, unit.load(unit.this(), name, node))
    unit.body.finish()


def _write_setter(unit: Unit, name: str, written: Property, is_chained: bool) -> None:
    function = _method(unit, f"def {written.setter}({unit.label(written.type)})", written.setter, written.node)
    parameters = [_state_parameter(unit, function, 0, name, written)]
    unit.later(written.node, _build_setter, function, parameters, is_chained)


def _state_parameter(unit: Unit, function: int, position: int, name: str, written: Property) -> Parameter:
    value = unit.facts.entity(function, name, written.node.start_byte, written.node.end_byte)
    unit.emit("parameter", function, position, name, value)
    unit.emit("annotation", value, written.type)
    return Parameter(name, value, written.type)


def _build_setter(unit: Unit, _: Node, function: int, parameters: list[Parameter], is_chained: bool) -> None:
    unit.open_body(function, frozenset())
    receiver(unit, function)
    for parameter in parameters:
        unit.bind(unit.declare(parameter.name, parameter.type), parameter.value, "parameter")
    store_components(unit, parameters)
    if is_chained:
        unit.emit("returns", function, unit.this())
    unit.body.finish()


def _write_constructor(unit: Unit, plan: Plan, names: tuple[str, ...], node: Node) -> None:
    name = unit.label(unit.scope.value)
    types = ",".join(unit.label(plan.properties[each].type) for each in names)
    function = unit.entity(f"def {name}({types})", node.parent)
    unit.emit("function", function, unit.scope.entity, name)
    unit.emit("constructor", unit.scope.entity, function)
    parameters = [
        _state_parameter(unit, function, position, each, plan.properties[each]) for position, each in enumerate(names)
    ]
    unit.later(node, _build_setter, function, parameters, False)
