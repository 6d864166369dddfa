"""Functions, lambdas, parameters and decorators."""

from tree_sitter import Node

from facts.instructions import returned
from facts.python import tree
from facts.python.assignments import assign_target
from facts.python.calls import call
from facts.python.literals import constant
from facts.python.scopes import COMPREHENSION, FUNCTION, Scope
from facts.python.tree import EXPRESSIONS, STATEMENTS, children, only_child
from facts.python.type_annotations import bind_type_parameters
from facts.python.unit import Unit
from facts.tree_sitter_grammar import has_token


@STATEMENTS("function_definition")
def _function_definition(unit: Unit, node: Node) -> None:
    name = node.child_by_field_id(tree.NAME)
    _, value = define_function(unit, node, unit.text(name))
    unit.bind(unit.text(name), value, "function")


@EXPRESSIONS("lambda")
def _lambda(unit: Unit, node: Node) -> int:
    function, value = define_function(unit, node, "<lambda>")
    unit.emit("lambda", function)
    return value


def define_function(unit: Unit, node: Node, name: str) -> tuple[int, int]:
    """Evaluate a definition: defaults and annotations now, the body later. Return the function and its value."""
    scope, outer = unit.scopes.of(node, FUNCTION, unit.scope), unit.scope
    function = unit.entity("def " + name, node)
    unit.emit("function", function, unit.body.entity, name)
    if has_token(node, "async"):
        unit.emit("coroutine", function)
    if scope.yields:
        unit.emit("generator", function)
    unit.scope = type_scope(unit, node)
    parameters = node.child_by_field_id(tree.PARAMETERS)
    values = Parameters(unit, function, children(parameters) if parameters is not None else []).values
    returned = node.child_by_field_id(tree.RETURN_TYPE)
    if returned is not None:
        unit.emit("return_annotation", function, unit.value(returned))
    unit.scope = outer
    place = node.child_by_field_id(tree.NAME) or node
    value = unit.entity(name, place)
    unit.emit("define", value, function)
    if scope.captures:
        unit.body.allocation(value)
    unit.bodies[0].capture(scope.captures)
    unit.waiting.append((node, scope, function, values))
    return function, value


def type_scope(unit: Unit, node: Node) -> Scope:
    """Bind the type parameters of a definition; return the scope that holds them, the present one if there are none."""
    parameters = node.child_by_field_id(tree.TYPE_PARAMETERS)
    if parameters is None:
        return unit.scope
    outer, unit.scope = unit.scope, unit.scopes.of(parameters, COMPREHENSION, unit.scope)
    bind_type_parameters(unit, parameters)
    inner, unit.scope = unit.scope, outer
    return inner


class Parameters:
    """States a function's parameters. `values`: what each name or pattern has on entry."""

    def __init__(self, unit: Unit, function: int, nodes: list[Node]) -> None:
        self._unit, self._function = unit, function
        self.values: list[tuple[Node, int]] = []
        self._position: int | None = 0
        separators = [index for index, node in enumerate(nodes) if node.type == "positional_separator"]
        self._positional_only = separators[0] if separators else 0
        for index, node in enumerate(nodes):
            self._state(index, node)

    def _state(self, index: int, node: Node) -> None:
        kind = node.type
        if kind == "positional_separator":
            return
        if kind == "keyword_separator":
            self._position = None
            return
        target = node.child_by_field_id(tree.NAME)
        if target is None:
            target = only_child(node) if kind == "typed_parameter" else node
        if target is None or target.is_error:
            self._unit.unknown(node)
        elif target.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            self._state_rest(target, node)
        else:
            self._state_one(index, target, node)

    def _entry(self, target: Node, node: Node) -> int:
        """Return the value of a parameter on entry, with its default and annotation."""
        unit = self._unit
        value = unit.facts.entity(self._function, unit.text(target), target.start_byte, target.end_byte)
        self.values.append((target, value))
        default, declared = node.child_by_field_id(tree.VALUE), node.child_by_field_id(tree.TYPE)
        if default is not None:
            unit.emit("parameter_default", value, unit.value(default))
        if declared is not None:
            unit.emit("annotation", value, unit.value(declared))
        return value

    def _state_one(self, index: int, target: Node, node: Node) -> None:
        name, value = self._unit.text(target), self._entry(target, node)
        if self._position is not None:
            self._unit.emit("parameter", self._function, self._position, name, value)
            self._position += 1
        if index >= self._positional_only and target.kind_id == tree.IDENTIFIER:
            self._unit.emit("keyword_parameter", self._function, name, value)

    def _state_rest(self, target: Node, node: Node) -> None:
        name = only_child(target)
        if name is None:
            self._position = None
            return
        value = self._entry(name, node)
        if target.type == "list_splat_pattern":
            self._unit.emit("rest_parameter", self._function, self._position or 0, self._unit.text(name), value)
            self._position = None
        else:
            self._unit.emit("keyword_rest_parameter", self._function, self._unit.text(name), value)


def build_next(unit: Unit) -> None:
    """Make the facts of the next function that waits."""
    node, scope, function, values = unit.waiting.popleft()
    unit.open_body(function, scope)
    for target, value in values:
        if target.kind_id == tree.IDENTIFIER:
            unit.bind(unit.text(target), value, "parameter")
        else:
            assign_target(unit, target, value, "parameter")
    code = node.child_by_field_id(tree.BODY)
    if node.type == "lambda":
        unit.attempt(_return_value, code)
    else:
        unit.statements(code)
        if unit.body.block is not None and not scope.yields:
            returned(unit, constant(unit, "none", "None"))
    unit.body.finish()


def _return_value(unit: Unit, node: Node) -> None:
    returned(unit, unit.value(node))


def evaluate_decorators(unit: Unit, node: Node) -> list[tuple[Node, int]]:
    """Evaluate the decorators of a definition, in the order in which they are written."""
    return [(child, unit.value(only_child(child))) for child in children(node) if child.type == "decorator"]


def apply_decorators(unit: Unit, decorators: list[tuple[Node, int]], definition: int, value: int) -> int:
    """Apply decorators, innermost first, to a definition's value; return the result."""
    for position, (node, decorator) in enumerate(reversed(decorators)):
        unit.emit("decorates", decorator, definition, position)
        value = call(unit, decorator, [("", value)], node)
    return value
