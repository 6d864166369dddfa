"""Functions and their parameters, in today's form and in Kernighan and Ritchie's."""

from tree_sitter import Node

from facts.c import tree
from facts.c.declarators import FUNCTION, VARIABLE, Declared, declared, modifiers
from facts.c.scopes import Name, Scope
from facts.c.tree import STATEMENTS, children
from facts.c.type_values import annotated, declared_type, is_void, specifier, wrapped
from facts.c.unit import Unit
from facts.tree_sitter_grammar import is_broken

Values = list[tuple[str, int, Node]]


@STATEMENTS("function_definition")
def _function_definition(unit: Unit, node: Node) -> None:
    found = declared(node.child_by_field_id(tree.DECLARATOR), unit.source)
    if found.place is None:
        return unit.sound_parts(node)
    function = define(unit, found.name, node, found.place)
    for word in modifiers(node, unit.source):
        unit.emit("modifier", function, word)
    *layers, (_, declarator) = found.layers if found.form == FUNCTION else [(VARIABLE, None)]
    base = specifier(unit, node.child_by_field_id(tree.TYPE), found.name)
    unit.emit("return_annotation", function, wrapped(unit, base, layers))
    values = _parameters(unit, function, node, declarator)
    scope = unit.scope
    unit.later(lambda: _build(unit, node, node.child_by_field_id(tree.BODY), function, values, scope))
    return None


@STATEMENTS("compound_statement")
def _block(unit: Unit, node: Node) -> None:
    """A block. At the top level it is the body of a function that is declared without a type, as before C99."""
    head = tree.untyped_head(node.prev_named_sibling) if unit.scope is unit.file else None
    if head is not None:
        return _untyped(unit, head, node)
    outer = unit.open_scope()
    unit.statements(node)
    unit.scope = outer
    return None


def _untyped(unit: Unit, head: Node, body: Node) -> None:
    place = head.child_by_field_id(tree.FUNCTION)
    function = define(unit, unit.text(place), head, place)
    unit.emit("return_annotation", function, unit.type_of("int"))
    values: Values = []
    for position, part in enumerate(children(head.child_by_field_id(tree.ARGUMENTS))):
        value = _entry(unit, function, unit.text(part), part, values)
        unit.emit("parameter", function, position, unit.text(part), value)
        annotated(unit, value, unit.type_of("int"))
    unit.later(lambda: _build(unit, body, body, function, values, unit.file))


def define(unit: Unit, name: str, node: Node, place: Node) -> int:
    """State a function or a macro with code, and bind its name to it."""
    function = unit.entity("def " + name, node)
    unit.emit("function", function, unit.body.entity, name)
    value = unit.entity(name, place)
    unit.emit("define", value, function)
    found = unit.scope.find(name) if unit.scope is unit.file else None
    if found is None:
        found = unit.declare(Name(name, unit.body.entity, shared=True, form=FUNCTION))
    unit.bind(found, value, "function")
    return function


def _parameters(unit: Unit, function: int, node: Node, declarator: Node | None) -> Values:
    """State the parameters; return what each has on entry."""
    parameters = declarator.child_by_field_id(tree.PARAMETERS) if declarator is not None else None
    if parameters is None:
        return []
    types = _old_style(unit, node)
    values: Values = []
    for position, part in enumerate(part for part in children(parameters) if not part.is_error):
        if part.type == "variadic_parameter":
            value = _entry(unit, function, "...", part, values)
            unit.emit("rest_parameter", function, position, "...", value)
        elif part.kind_id in tree.IDENTIFIER:
            name = unit.text(part)
            value = _entry(unit, function, name, part, values)
            unit.emit("parameter", function, position, name, value)
            annotated(unit, value, types.get(name) or unit.type_of("int"))
        elif part.type == "parameter_declaration" and not is_broken(part):
            _parameter(unit, function, position, part, values)
        else:
            unit.sound_parts(part)
    return values


def _parameter(unit: Unit, function: int, position: int, node: Node, values: Values) -> None:
    if is_void(unit, node):
        return
    found = declared(node.child_by_field_id(tree.DECLARATOR), unit.source)
    kind = declared_type(unit, specifier(unit, node.child_by_field_id(tree.TYPE), found.name), found)
    value = _entry(unit, function, found.name, found.place or node, values)
    unit.emit("parameter", function, position, found.name, value)
    annotated(unit, value, kind)


def _entry(unit: Unit, function: int, name: str, node: Node, values: Values) -> int:
    value = unit.facts.entity(function, name or "parameter", node.start_byte, node.end_byte)
    if name:
        values.append((name, value, node))
    return value


def _old_style(unit: Unit, node: Node) -> dict[str, int]:
    """Return the types that declarations before the body give to parameters."""
    types = {}
    for declaration in children(node):
        if declaration.type == "declaration":
            base = specifier(unit, declaration.child_by_field_id(tree.TYPE))
            for declarator in declaration.children_by_field_id(tree.DECLARATOR):
                found: Declared = declared(declarator, unit.source)
                types[found.name] = declared_type(unit, base, found)
    return types


def _build(unit: Unit, node: Node, body: Node | None, function: int, values: Values, around: Scope) -> None:
    """Make the facts of a function's body."""
    unit.open_body(function, Scope(around, function), unit.usage.of(node))
    bind_parameters(unit, values)
    unit.statements(body)


def bind_parameters(unit: Unit, values: Values) -> None:
    """Bind parameters to what they have on entry. One that is an array is a pointer."""
    for text, value, _ in values:
        name = unit.declare(Name(text, unit.body.entity, rebound=text in unit.uses.celled))
        unit.bind(name, value, "parameter")
