"""Methods, constructors, lambdas and their parameters."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import returned
from facts.java import tree
from facts.java.annotations import decorate, modifiers_of, state_modifiers
from facts.java.scopes import STATIC
from facts.java.tree import EXPRESSIONS, STATEMENTS, children
from facts.java.type_values import array, array_of, bind_type_parameters, declared_type
from facts.java.unit import THIS, Unit
from facts.row_builder import tail

_ARGUMENTS = re.compile(r"<[^<>]*>|@[\w.]+(\([^()]*\))?")


@dataclass
class Parameter:
    """A parameter as it is declared: its name, its value on entry and the value of its type."""

    name: str
    value: int
    type: int


@STATEMENTS("method_declaration", "annotation_type_element_declaration")
def _method(unit: Unit, node: Node) -> None:
    name = unit.text(node.child_by_field_id(tree.NAME))
    mark = unit.names.open()
    is_static = tree.has_modifier(node, STATIC)
    function, parameters = define(unit, node, name)
    kind = node.child_by_field_id(tree.TYPE)
    if kind is not None:
        returned = array_of(unit, unit.value(kind), node.child_by_field_id(tree.DIMENSIONS))
        unit.emit("return_annotation", function, returned)
    value = method_value(unit, function)
    if unit.scope.kind != "module":
        unit.emit("member", unit.scope.entity, name, value)
    code = node.child_by_field_id(tree.BODY) or node.child_by_field_id(tree.VALUE)
    if code is not None:
        unit.later(node, _build, function, code, parameters, is_static or unit.scope.kind == "module")
    unit.names.close(mark)


def method_value(unit: Unit, function: int) -> int:
    """Return the value of a method, which is told from those of its overloads."""
    value = unit.facts.entity(unit.body.entity, unit.label(function).replace("def ", "method ", 1))
    unit.emit("define", value, function)
    return value


@STATEMENTS("constructor_declaration", "compact_constructor_declaration")
def _constructor(unit: Unit, node: Node) -> None:
    """A record's compact constructor has the components as parameters, and stores them at its end."""
    mark = unit.names.open()
    is_compact = node.type == "compact_constructor_declaration"
    function, parameters = define(unit, node, unit.text(node.child_by_field_id(tree.NAME)), unit.scope.components)
    unit.emit("constructor", unit.scope.entity, function)
    code = node.child_by_field_id(tree.BODY)
    if code is not None:
        unit.later(node, _build_compact if is_compact else _build, function, code, parameters, False)
    unit.names.close(mark)


def define(unit: Unit, node: Node, name: str, components: Node | None = None) -> tuple[int, list[Parameter]]:
    """State a function with its modifiers, type parameters, parameters and declared exceptions."""
    declared = node.child_by_field_id(tree.PARAMETERS) or components
    nodes = [child for child in children(declared) if _is_parameter(unit, child)] if declared is not None else []
    signature = ",".join(_erased(unit, child) for child in nodes)
    function = unit.entity(tail(f"def {name}({signature})"), node)
    unit.emit("function", function, unit.body.entity, name)
    state_modifiers(unit, function, node)
    bind_type_parameters(unit, function, node.child_by_field_id(tree.TYPE_PARAMETERS))
    parameters = [state_parameter(unit, function, position, child) for position, child in enumerate(nodes)]
    for kind in children(thrown) if (thrown := tree.child_of_type(node, "throws")) is not None else ():
        unit.emit("throws", function, unit.value(kind))
    return function, parameters


def _is_parameter(unit: Unit, node: Node) -> bool:
    """Return True if a formal parameter is one: `K this` only names the receiver's type."""
    if node.type not in ("formal_parameter", "spread_parameter"):
        return False
    return _name_of(node) is not None and unit.text(_name_of(node)) != THIS


def _name_of(node: Node) -> Node | None:
    declarator = tree.child_of_type(node, "variable_declarator") if node.type == "spread_parameter" else node
    return declarator.child_by_field_id(tree.NAME) if declarator is not None else None


def _type_of(node: Node) -> Node | None:
    if node.type != "spread_parameter":
        return node.child_by_field_id(tree.TYPE)
    return next((child for child in children(node) if child.type not in ("modifiers", "variable_declarator")), None)


def _erased(unit: Unit, node: Node) -> str:
    """Return the type of a parameter as overloads are told apart by it: without arguments and annotations."""
    kind = _type_of(node)
    text = "".join(unit.text(kind).split()) if kind is not None else ""
    while "<" in text and (shorter := _ARGUMENTS.sub("", text)) != text:
        text = shorter
    return text.rpartition(".")[2] + ("..." if node.type == "spread_parameter" else "")


def state_parameter(unit: Unit, function: int, position: int, node: Node) -> Parameter:
    """State the parameter that stands at `position`."""
    name = _name_of(node)
    value = unit.facts.entity(function, unit.text(name), name.start_byte, name.end_byte)
    kind = parameter_type(unit, node)
    relation = "rest_parameter" if node.type == "spread_parameter" else "parameter"
    unit.emit(relation, function, position, unit.text(name), value)
    if kind != NIL:
        unit.emit("annotation", value, kind)
    _, annotations = modifiers_of(unit, node)
    decorate(unit, value, annotations)
    return Parameter(unit.text(name), value, kind)


def parameter_type(unit: Unit, node: Node) -> int:
    """Return the type of a parameter; `T...` is an array."""
    return array(unit, unit.value(_type_of(node))) if node.type == "spread_parameter" else declared_type(unit, node)


def open_function(unit: Unit, function: int, node: Node, parameters: list[Parameter], is_static: bool) -> None:
    """Go on in the body of a function: with its receiver and its parameters, if it has them."""
    unit.open_body(function, unit.captures.of(node))
    if is_static:
        unit.names.variables.pop(THIS, None)
    else:
        receiver(unit, function)
    for parameter in parameters:
        if parameter.name != "_":
            unit.bind(unit.declare(parameter.name, parameter.type), parameter.value, "parameter")


def receiver(unit: Unit, function: int) -> None:
    """State the object that a method is called on."""
    value = unit.facts.entity(function, THIS)
    unit.emit("receiver", function, value)
    unit.receive(value)


def _build(unit: Unit, node: Node, function: int, code: Node, parameters: list[Parameter], is_static: bool) -> None:
    """Make the facts of a method's body; an annotation's element returns its default."""
    open_function(unit, function, node, parameters, is_static)
    if node.type == "annotation_type_element_declaration":
        unit.attempt(_return_value, code)
    else:
        unit.statements(code)
    unit.body.finish()


def _build_compact(
    unit: Unit, node: Node, function: int, code: Node, parameters: list[Parameter], is_static: bool
) -> None:
    open_function(unit, function, node, parameters, is_static)
    unit.statements(code)
    if unit.body.block is not None:
        store_components(unit, parameters)
    unit.body.finish()


def store_components(unit: Unit, parameters: list[Parameter]) -> None:
    """Store the components of a record as its fields."""
    for parameter in parameters:
        source = unit.body.read(unit.names.variables[parameter.name])
        unit.emit("read", source)
        store = unit.body.instruction(unit.facts.entity(unit.body.entity, parameter.name + " ="))
        unit.emit("store_attribute", store, unit.this(), parameter.name, source)


def _return_value(unit: Unit, node: Node) -> None:
    returned(unit, unit.value(node))


# ---- Lambdas


@EXPRESSIONS("lambda_expression")
def _lambda(unit: Unit, node: Node) -> int:
    function = unit.entity("def <lambda>", node)
    unit.emit("function", function, unit.body.entity, "<lambda>")
    unit.emit("lambda", function)
    parameters = _lambda_parameters(unit, function, node.child_by_field_id(tree.PARAMETERS))
    value = unit.entity("<lambda>", node)
    unit.emit("define", value, function)
    if unit.capture(node):
        unit.body.allocation(value)
    unit.later(node, _build_lambda, function, parameters)
    return value


def _lambda_parameters(unit: Unit, function: int, node: Node | None) -> list[Parameter]:
    if node is None:
        return []
    if node.type == "formal_parameters":
        nodes = [child for child in children(node) if _is_parameter(unit, child)]
        return [state_parameter(unit, function, position, child) for position, child in enumerate(nodes)]
    parameters = []
    for position, name in enumerate(children(node) if node.type == "inferred_parameters" else [node]):
        value = unit.facts.entity(function, unit.text(name), name.start_byte, name.end_byte)
        unit.emit("parameter", function, position, unit.text(name), value)
        parameters.append(Parameter(unit.text(name), value, NIL))
    return parameters


def _build_lambda(unit: Unit, node: Node, function: int, parameters: list[Parameter]) -> None:
    unit.open_body(function, unit.captures.of(node))
    for parameter in parameters:
        if parameter.name != "_":
            unit.bind(unit.declare(parameter.name, parameter.type), parameter.value, "parameter")
    code = node.child_by_field_id(tree.BODY)
    if code is not None and code.type == "block":
        unit.statements(code)
    elif code is not None:
        unit.attempt(_return_value, code)
    unit.body.finish()
