"""Functions, methods, closures, parameters and results."""

from tree_sitter import Node

from facts.go import tree
from facts.go.scopes import UNNAMED, Scope
from facts.go.tree import EXPRESSIONS, STATEMENTS, children
from facts.go.type_values import array_of, bind_type_parameters, declare_type_parameter, zero
from facts.go.unit import Unit
from facts.instructions import allocate, returned
from facts.row_builder import tail

Values = list[tuple[Node, int]]
"""Parameters with names, and what they have on entry."""


@STATEMENTS("function_declaration")
def _function_declaration(unit: Unit, node: Node) -> None:
    name = node.child_by_field_id(tree.NAME)
    text = unit.text(name)
    function, value = _define(unit, node, text, name)
    if text not in UNNAMED:
        unit.bind(unit.file.names[text], value, "function")
    outer = unit.open_scope()
    bind_type_parameters(unit, function, node.child_by_field_id(tree.TYPE_PARAMETERS))
    _wait(unit, function, node, state_signature(unit, function, node))
    unit.scope = outer


@STATEMENTS("method_declaration")
def _method_declaration(unit: Unit, node: Node) -> None:
    """A method is bound to no name: it belongs to the type of its receiver, declared in any file of the package."""
    name = node.child_by_field_id(tree.NAME)
    receiver = next(iter(children(node.child_by_field_id(tree.RECEIVER))), None)
    kind = receiver.child_by_field_id(tree.TYPE) if receiver is not None else None
    base = _receiver_base(kind)
    label = f"{unit.text(base)}.{unit.text(name)}" if base is not None else unit.text(name)
    function, _ = _define(unit, node, unit.text(name), name, label)
    outer = unit.open_scope()
    _receiver_parameters(unit, function, kind)
    values: Values = []
    if base is not None:
        unit.emit("method_of_type", function, unit.value(base))
        _state_receiver(unit, function, receiver, kind, values)
    _wait(unit, function, node, values + state_signature(unit, function, node))
    unit.scope = outer


def _define(unit: Unit, node: Node, name: str, place: Node, label: str = "") -> tuple[int, int]:
    function = unit.entity("def " + (label or name), node)
    unit.emit("function", function, unit.body.entity, name)
    value = unit.entity(label or name, place)
    unit.emit("define", value, function)
    return function, value


def _receiver_base(kind: Node | None) -> Node | None:
    """Return the name of the type that a receiver's type is made of: T of `*T[U]`."""
    while kind is not None and kind.type in ("pointer_type", "parenthesized_type", "generic_type"):
        kind = kind.child_by_field_id(tree.TYPE) if kind.type == "generic_type" else tree.only_child(kind)
    return kind


def _receiver_parameters(unit: Unit, function: int, kind: Node | None) -> None:
    """Declare the type parameters that a receiver `T[U]` names."""
    while kind is not None and kind.type in ("pointer_type", "parenthesized_type"):
        kind = tree.only_child(kind)
    if kind is None or kind.type != "generic_type":
        return
    for position, argument in enumerate(children(kind.child_by_field_id(tree.TYPE_ARGUMENTS))):
        declare_type_parameter(unit, function, position, argument)


def _state_receiver(unit: Unit, function: int, receiver: Node, kind: Node, values: Values) -> None:
    name = receiver.child_by_field_id(tree.NAME)
    value = _entry(unit, function, name, receiver, values)
    unit.emit("receiver", function, value)
    unit.emit("annotation", value, unit.value(kind))


@EXPRESSIONS("func_literal")
def _literal(unit: Unit, node: Node) -> int:
    function, value = _define(unit, node, "<lambda>", node)
    unit.emit("lambda", function)
    declared = [unit.declared.get(start) for start in unit.usage.captured.get(node.start_byte, ())]
    names = [name for name in declared if name is not None]
    if names:
        unit.body.allocation(value)
    unit.body.capture(names)
    _wait(unit, function, node, state_signature(unit, function, node))
    return value


# ---- Parameters and results


def state_signature(unit: Unit, function: int, node: Node) -> Values:
    """State parameters and the type of the result; return what the parameters have on entry."""
    values: Values = []
    position = 0
    parameters = node.child_by_field_id(tree.PARAMETERS)
    for declaration in children(parameters) if parameters is not None else ():
        if declaration.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            unit.sound_parts(declaration)
            continue
        relation, kind = "parameter", unit.value(declaration.child_by_field_id(tree.TYPE))
        if declaration.type == "variadic_parameter_declaration":
            relation, kind = "rest_parameter", array_of(unit, kind, tail("[]" + unit.label(kind)))
        for name in list(tree.with_fields(declaration, tree.NAME)) or [None]:
            value = _entry(unit, function, name, declaration, values)
            unit.emit(relation, function, position, unit.text(name) if name is not None else "", value)
            unit.emit("annotation", value, kind)
            position += 1
    _state_result(unit, function, node.child_by_field_id(tree.RESULT))
    return values


def _entry(unit: Unit, function: int, name: Node | None, place: Node, values: Values) -> int:
    label = unit.text(name) if name is not None else "parameter"
    value = unit.facts.entity(function, label, (name or place).start_byte, (name or place).end_byte)
    if name is not None and label != "_":
        values.append((name, value))
    return value


def _state_result(unit: Unit, function: int, node: Node | None) -> None:
    """State the type of the result; several are a tuple of types."""
    if node is None:
        return
    if node.type != "parameter_list":
        unit.emit("return_annotation", function, unit.value(node))
        return
    kinds = [
        unit.value(declaration.child_by_field_id(tree.TYPE))
        for declaration in children(node)
        for _ in list(tree.with_fields(declaration, tree.NAME)) or [None]
    ]
    if len(kinds) == 1:
        unit.emit("return_annotation", function, kinds[0])
    elif kinds:
        value = unit.facts.entity(function, "results", node.start_byte, node.end_byte)
        for position, kind in enumerate(kinds):
            unit.emit("position_item", value, position, kind)
        unit.emit("allocate", value, "tuple")
        unit.emit("return_annotation", function, value)


# ---- Bodies


def _wait(unit: Unit, function: int, node: Node, values: Values) -> None:
    if node.child_by_field_id(tree.BODY) is not None:
        unit.waiting.append((node, function, values, unit.scope.snapshot()))


def build_next(unit: Unit) -> None:
    """Make the facts of the next function that waits."""
    node, function, values, around = unit.waiting.popleft()
    unit.open_body(function, Scope(around))
    unit.attempt(lambda unit, node: _begin(unit, node, values), node)
    unit.statements(node.child_by_field_id(tree.BODY))
    unit.body.finish()


def _begin(unit: Unit, node: Node, values: Values) -> None:
    """Bind what a function has on entry."""
    for name, value in values:
        unit.bind(unit.declare(name), value, "parameter")
    unit.results = _named_results(unit, node.child_by_field_id(tree.RESULT))


def _named_results(unit: Unit, node: Node | None) -> list:
    """Let named results have their zero values; return them, None for one called `_`."""
    results = []
    for declaration in children(node) if node is not None and node.type == "parameter_list" else ():
        kind = declaration.child_by_field_id(tree.TYPE)
        for name in tree.with_fields(declaration, tree.NAME):
            source = zero(unit, kind, None, name)
            result = unit.declare(name) if unit.text(name) != "_" else None
            if result is not None:
                unit.assign(result, source, "variable", name)
            results.append((result, source))
    return results


@STATEMENTS("return_statement")
def _return(unit: Unit, node: Node) -> None:
    """`return`: several results are a tuple. Deferred calls may still change named results that closures assign."""
    values = [unit.value(part) for part in tree.listed(tree.only_child(node))]
    names = unit.results
    if names and (not values or any(name is not None and name.rebound for name, _ in names)):
        values = _through_names(unit, values, node)
    if len(values) > 1:
        result = unit.entity("results", node)
        for position, value in enumerate(values):
            unit.emit("position_item", result, position, value)
        allocate(unit, result, "tuple")
        values = [result]
    for value in values:
        returned(unit, value)
    unit.body.jump("return")


def _through_names(unit: Unit, values: list[int], node: Node) -> list[int]:
    """Assign what is returned to the named results, let deferred calls run; return what the results are then."""
    if len(values) == 1 and len(unit.results) > 1:
        values = [unpacked(unit, values[0], position, node) for position in range(len(unit.results))]
    if values:
        for (name, _), value in zip(unit.results, values, strict=False):
            if name is not None:
                unit.assign(name, value, "variable", node)
    if unit.defers:
        unit.body.other_code()
    given = values or [source for _, source in unit.results]
    return [
        unit.value_of(name) if name is not None else value
        for (name, _), value in zip(unit.results, given, strict=False)
    ]


def unpacked(unit: Unit, source: int, position: int, node: Node) -> int:
    """Return one of the results that a call gives."""
    value = unit.body.instruction(unit.entity(tail(f"{unit.label(source)}[{position}]"), node))
    unit.emit("unpack", value, source, position)
    return value
