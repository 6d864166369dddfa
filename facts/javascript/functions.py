"""Definitions of functions, whatever their form: parameters and types are stated now, the body later."""

from dataclasses import dataclass
from dataclasses import field as fresh

from tree_sitter import Node

from facts.javascript.handler_tables import EXPRESSIONS, STATEMENTS, children, field, only_child, tokens
from facts.javascript.scopes import ARROW, FUNCTION, Scope
from facts.javascript.unit import Unit
from facts.row_builder import tail

_MODIFIERS = frozenset({"static", "abstract", "readonly", "accessor"})


@dataclass
class Definition:
    """A function whose body waits: what every parameter has on entry, the class's fields that it initialises, whether
    the class has a base. `node` is the class's body for a constructor that is not written.
    """

    node: Node
    scope: Scope
    function: int
    parameters: list[tuple[Node, int]] = fresh(default_factory=list)
    fields: list[Node] = fresh(default_factory=list)
    derived: bool = False


@STATEMENTS("function_declaration", "generator_function_declaration", "function_signature")
def _declaration(unit: Unit, node: Node) -> None:
    name = unit.text(field(node, "name"))
    _, value = define_function(unit, node, name)
    unit.bind(name, value, "function")


@EXPRESSIONS("function_expression", "generator_function", "arrow_function")
def _expression(unit: Unit, node: Node) -> int:
    given, name = unit.take_name(), field(node, "name")
    definition, value = define_function(unit, node, unit.text(name) if name is not None else given or "<function>")
    if name is None:
        unit.emit("lambda", definition.function)
    if definition.scope.captures:
        unit.body.allocation(value)
    return value


def define_function(unit: Unit, node: Node, name: str, holder: int | None = None) -> tuple[Definition, int]:
    """Evaluate a definition, in the class `holder` if it is a method. Return it and its value."""
    definition = begin_function(unit, node, name, holder)
    value = define_value(unit, definition.function, name, field(node, "name") or node, holder)
    if field(node, "body") is not None:
        unit.waiting.append(definition)
    return definition, value


def define_value(unit: Unit, definition: int, name: str, place: Node, holder: int | None) -> int:
    """Return the value that evaluating a definition gives."""
    scope = unit.body.entity if holder is None else holder
    value = unit.facts.entity(scope, tail(name), place.start_byte, place.end_byte)
    unit.emit("define", value, definition)
    return value


def begin_function(unit: Unit, node: Node, name: str, holder: int | None) -> Definition:
    """State a function with its parameters; signatures without a body too."""
    kind = ARROW if node.type == "arrow_function" else FUNCTION
    scope, outer = unit.scopes.of(node, kind, unit.scope), unit.scope
    around = unit.body.entity if holder is None else holder
    label = ("def " if field(node, "body") is not None else "signature ") + tail(name)
    function = unit.facts.entity(around, label, node.start_byte, node.end_byte)
    unit.emit("function", function, around, name)
    state_kind(unit, function, node)
    unit.scope = type_scope(unit, node, function)
    definition = Definition(node, scope, function)
    Parameters(unit, definition, children(field(node, "parameters")) or children_in(node, "parameter"))
    returned = field(node, "return_type") or field(node, "type")
    if returned is not None:
        unit.emit("return_annotation", function, unit.value(returned))
    unit.scope = outer
    unit.body.capture(scope.captures)
    return definition


def state_kind(unit: Unit, function: int, node: Node) -> None:
    """State whether a function is async or a generator, and its modifiers."""
    words = tokens(node)
    if "async" in words:
        unit.emit("coroutine", function)
    if "*" in words or node.type.startswith("generator"):
        unit.emit("generator", function)
    named = (unit.text(child) for child in node.named_children if child.type in _NAMED_MODIFIERS)
    for word in dict.fromkeys([*(word for word in words if word in _MODIFIERS), *named]):
        unit.emit("modifier", function, word)


_NAMED_MODIFIERS = ("accessibility_modifier", "override_modifier")


def children_in(node: Node, name: str) -> list[Node]:
    """Return the children that stand in a field."""
    return [child for child in node.children_by_field_name(name) if child.is_named]


def type_scope(unit: Unit, node: Node, definition: int) -> Scope:
    """Bind the type parameters of a definition; return the scope that holds them, the present one if there are none."""
    parameters = field(node, "type_parameters")
    if parameters is None:
        return unit.scope
    with unit.inside(parameters) as scope:
        for position, parameter in enumerate(children(parameters)):
            _bind_type_parameter(unit, parameter, definition, position)
    return scope


def _bind_type_parameter(unit: Unit, node: Node, definition: int, position: int) -> None:
    name = field(node, "name")
    if name is None:
        return
    value = unit.entity(unit.text(name), name)
    unit.emit("allocate", value, "type")
    unit.body.allocation(value)
    unit.bind_type(unit.text(name), value)
    unit.emit("type_parameter", definition, position, unit.text(name), value)
    if field(node, "constraint") is not None:
        unit.emit("type_bound", value, unit.value(only_child(field(node, "constraint"))))
    if field(node, "value") is not None:
        unit.value(only_child(field(node, "value")))  # The default type.


class Parameters:
    """States a function's parameters. Positions count what is written, without TypeScript's `this`."""

    def __init__(self, unit: Unit, definition: Definition, nodes: list[Node]) -> None:
        self._unit, self._definition = unit, definition
        self._position = 0
        for node in nodes:
            self._state(node)

    def _state(self, node: Node) -> None:
        typed = node.type in ("required_parameter", "optional_parameter")
        target = (field(node, "pattern") or field(node, "name")) if typed else node
        if target is None or (self._unit.broken and target.is_error):
            self._unit.unknown(node)
            return
        declared = field(node, "type") if typed else None
        if target.type == "this":
            return self._receiver(declared)
        value = self._entry(target)
        if declared is not None:
            self._unit.emit("annotation", value, self._unit.value(declared))
        apply_decorators(self._unit, children_in(node, "decorator") if typed else [], value, None)
        self._definition.parameters.append((node, value))

    def _entry(self, target: Node) -> int:
        """State a parameter; return its value on entry."""
        unit, function = self._unit, self._definition.function
        is_rest = target.type == "rest_pattern"
        if is_rest:
            target = only_child(target) or target
        if target.type == "assignment_pattern":
            target = field(target, "left")
        name = unit.words(target)
        value = unit.facts.entity(function, name, target.start_byte, target.end_byte)
        unit.emit("rest_parameter" if is_rest else "parameter", function, self._position, name, value)
        self._position += 1
        return value

    def _receiver(self, declared: Node | None) -> None:
        """`this: T` declares the type of the receiver."""
        if declared is not None:
            value = receiver_of(self._unit, self._definition)
            self._unit.emit("annotation", value, self._unit.value(declared))


def receiver_of(unit: Unit, definition: Definition) -> int:
    """Return the value of `this` on entry to a function."""
    variable = definition.scope.values[definition.scope.resolve("this") and "this"]
    if variable.entry is None:
        variable.entry = unit.facts.entity(definition.function, "this")
        unit.emit("receiver", definition.function, variable.entry)
    return variable.entry


def apply_decorators(unit: Unit, nodes: list[Node], definition: int, value: int | None) -> None:
    """State the decorators of a definition, innermost first; each is called with its value, if it has one."""
    decorators = [(node, unit.value(only_child(node))) for node in nodes]
    for position, (node, decorator) in enumerate(reversed(decorators)):
        unit.emit("decorates", decorator, definition, position)
        if value is not None:
            call = unit.body.running(unit.entity(tail(unit.label(decorator) + "()"), node))
            unit.emit("call", call, unit.body.entity, decorator)
            unit.emit("argument", call, 0, value)
