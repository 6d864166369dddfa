"""Bodies of functions: what holds on entry, fields that a constructor initialises, the statements."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.instructions import returned, store_attribute
from facts.javascript.assignments import assign_target, defaulted
from facts.javascript.expressions import property_index, store_property
from facts.javascript.functions import Definition, receiver_of
from facts.javascript.handler_tables import child_of_type, field, only_child
from facts.javascript.literals import property_label, undefined
from facts.javascript.names import evaluate_named
from facts.javascript.unit import Unit

_TYPED = ("required_parameter", "optional_parameter")


def build_next(unit: Unit) -> None:
    """Make the facts of the next function that waits."""
    definition: Definition = unit.waiting.popleft()
    node = definition.node
    unit.open_body(definition.function, definition.scope)
    unit.fields, unit.labels, unit.given_name = None, (), ""
    unit.attempt(lambda unit, node: _begin(unit, definition), node)
    if node.type == "class_body":
        unit.attempt(lambda unit, node: _inherited_constructor(unit, definition), node)
    elif field(node, "body").type == "statement_block":
        unit.statements(field(node, "body"))
        _end(unit, node)
    else:
        unit.attempt(_return_value, field(node, "body"))
    unit.body.finish()


def _begin(unit: Unit, definition: Definition) -> None:
    """Bind what a function has on entry; in a base class's constructor, initialise the fields."""
    _bind_implicit(unit, definition)
    unit.entered(definition)
    for parameter, value in definition.parameters:
        _bind_parameter(unit, parameter, value)
    if definition.fields or _properties(definition):
        _prepare_fields(unit, definition)


def _end(unit: Unit, node: Node) -> None:
    """Return undefined at the end of a body."""
    if unit.body.block is None:
        return
    if unit.fields is not None:
        unit.fields()
    is_constructor = node.type == "method_definition" and unit.text(field(node, "name")) == "constructor"
    if not is_constructor and "*" not in (child.type for child in node.children) and "generator" not in node.type:
        returned(unit, undefined(unit))


def _return_value(unit: Unit, node: Node) -> None:
    returned(unit, unit.value(node))


def _bind_implicit(unit: Unit, definition: Definition) -> None:
    """Bind what a function has without declaring it: `this`, `arguments` and, in an expression, its own name."""
    scope, function = definition.scope, definition.function
    for name, variable in list(scope.values.items()):
        if variable.kind == "self":
            value = unit.facts.entity(function, name)
            unit.emit("define", value, function)
        elif variable.kind != "implicit":
            continue
        elif name == "this":
            value = receiver_of(unit, definition)
        else:
            value = unit.facts.entity(function, name)
            unit.emit("rest_parameter", function, 0, name, value)
        unit.body.bind(scope.own(variable), value)


def _bind_parameter(unit: Unit, node: Node, value: int) -> None:
    typed = node.type in _TYPED
    target = (field(node, "pattern") or field(node, "name")) if typed else node
    default = field(node, "value") if typed else None
    if target.type == "rest_pattern":
        target = only_child(target)
    elif target.type == "assignment_pattern":
        target, default = field(target, "left"), field(target, "right")
    if target is None:
        return
    if default is not None:
        value = defaulted(unit, value, default, unit.words(target))
        assign_target(unit, target, value, "parameter")
    elif target.type == "identifier":
        unit.bind(unit.text(target), value, "parameter")
    else:
        assign_target(unit, target, value, "parameter")


# ---- Constructors


def _properties(definition: Definition) -> list[Node]:
    """Return the parameters that are properties too: `constructor(private x)`."""
    return [
        node
        for node, _ in definition.parameters
        if node.type in _TYPED
        and (
            child_of_type(node, "accessibility_modifier", "override_modifier")
            or any(child.type == "readonly" for child in node.children)
        )
    ]


def _prepare_fields(unit: Unit, definition: Definition) -> None:
    """Initialise the fields: at once in a base class, else once `super()` has returned."""

    def initialise() -> None:
        unit.fields = None
        for node in _properties(definition):
            name = unit.text(field(node, "pattern"))
            store_attribute(unit, unit.read("this"), name, unit.read(name), node)
        for node in definition.fields:
            with unit.inside(node):
                store_field(unit, node)

    if definition.derived:
        unit.fields = initialise
    else:
        initialise()


def store_field(unit: Unit, node: Node) -> None:
    """Store the initial value of a field in `this`."""
    key = field(node, "property") or field(node, "name")
    value = evaluate_named(unit, field(node, "value"), property_label(unit, key))
    store_property(unit, unit.read("this"), property_index(unit, key), value, node)


def _inherited_constructor(unit: Unit, definition: Definition) -> None:
    """The constructor of a class that has fields and does not write one: it hands its arguments to its base's."""
    if definition.derived:
        arguments = unit.facts.entity(definition.function, "arguments")
        unit.emit("rest_parameter", definition.function, 0, "arguments", arguments)
        base = unit.body.load_once("super", "super", "super", definition.function, NIL)
        result = unit.body.running(unit.facts.entity(definition.function, "super()"))
        unit.emit("call", result, definition.function, base)
        unit.emit("rest_argument", result, 0, arguments)
    if unit.fields is not None:
        unit.fields()
