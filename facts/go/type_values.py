"""Types as values: named ones are loaded like other names, what is made of them are operations, once per body."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.function_body import Body
from facts.go import tree
from facts.go.scopes import TYPE, Name
from facts.go.tree import EXPRESSIONS, children, only_child
from facts.go.unit import Unit
from facts.instructions import load_attribute
from facts.row_builder import tail

_INTEGERS = "int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune".split()
_ZEROS = {
    **dict.fromkeys(_INTEGERS, ("integer", "0")),
    **dict.fromkeys(("float32", "float64"), ("float", "0.0")),
    **dict.fromkeys(("complex64", "complex128"), ("complex", "0.0i")),
    **dict.fromkeys(("error", "any"), ("none", "nil")),
    "string": ("string", ""),
    "bool": ("boolean", "false"),
}
_REFERENCES = tree.kind_ids("pointer_type", "slice_type", "map_type", "channel_type", "function_type", "interface_type")


@EXPRESSIONS("type_identifier")
def _identifier(unit: Unit, node: Node) -> int:
    return unit.read(unit.text(node))


@EXPRESSIONS("qualified_type")
def _qualified(unit: Unit, node: Node) -> int:
    package = unit.read(unit.text(node.child_by_field_id(tree.PACKAGE)))
    return load_attribute(unit, package, unit.text(node.child_by_field_id(tree.NAME)), node)


@EXPRESSIONS("parenthesized_type", "type_constraint", "type_elem")
def _alternatives(unit: Unit, node: Node) -> int:
    """`A | B` in a constraint."""
    parts = children(node)
    if len(parts) == 1:
        return unit.value(parts[0])
    return made(unit, "|", [unit.value(part) for part in parts], unit.words(node))


@EXPRESSIONS("pointer_type")
def _pointer(unit: Unit, node: Node) -> int:
    return made(unit, "*", [unit.value(only_child(node))], unit.words(node))


@EXPRESSIONS("negated_type")
def _underlying(unit: Unit, node: Node) -> int:
    return made(unit, "~", [unit.value(only_child(node))], unit.words(node))


@EXPRESSIONS("slice_type", "array_type", "implicit_length_array_type")
def _array(unit: Unit, node: Node) -> int:
    element = unit.value(node.child_by_field_id(tree.ELEMENT))
    size = node.child_by_field_id(tree.LENGTH)
    length = NIL if size is None else unit.value(size)
    return array_of(unit, element, unit.words(node), length)


def array_of(unit: Unit, element: int, label: str, length: int = NIL) -> int:
    """Return the type of slices or arrays of `element` that is written as `label`."""
    value, is_new = _once(unit, ("[]", element, label), label)
    if is_new:
        unit.emit("array_type", value, element)
        if length != NIL:
            unit.emit("array_length", value, length)
    return value


@EXPRESSIONS("map_type")
def _map(unit: Unit, node: Node) -> int:
    key, value = node.child_by_field_id(tree.KEY), node.child_by_field_id(tree.VALUE)
    return made(unit, "map", [unit.value(key), unit.value(value)], unit.words(node))


@EXPRESSIONS("channel_type")
def _channel(unit: Unit, node: Node) -> int:
    return made(unit, "chan", [unit.value(node.child_by_field_id(tree.VALUE))], unit.words(node))


@EXPRESSIONS("function_type")
def _function(unit: Unit, node: Node) -> int:
    """`func(A) B`: an operation on the types of parameters and results."""
    parts = [node.child_by_field_id(tree.PARAMETERS), node.child_by_field_id(tree.RESULT)]
    return made(unit, "func", [kind for part in parts for kind in listed_types(unit, part)], unit.words(node))


def listed_types(unit: Unit, node: Node | None) -> list[int]:
    """Return the types of a list of parameters or results, one for each name."""
    if node is None:
        return []
    if node.type != "parameter_list":
        return [unit.value(node)]
    found = []
    for parameter in children(node):
        count = len(list(tree.with_fields(parameter, tree.NAME)))
        found += [unit.value(parameter.child_by_field_id(tree.TYPE))] * max(count, 1)
    return found


@EXPRESSIONS("generic_type")
def _generic(unit: Unit, node: Node) -> int:
    base = unit.value(node.child_by_field_id(tree.TYPE))
    return instantiated(unit, base, node.child_by_field_id(tree.TYPE_ARGUMENTS))


def instantiated(unit: Unit, base: int, arguments: Node | None) -> int:
    """Return a generic type or function with type arguments; itself without any."""
    parts = [unit.value(part) for part in children(arguments)] if arguments is not None else []
    return with_arguments(unit, base, parts)


def with_arguments(unit: Unit, base: int, arguments: list[int]) -> int:
    """Return a generic type or function with these type arguments; itself without any."""
    if not arguments:
        return base
    label = f"{unit.label(base)}[{','.join(map(unit.label, arguments))}]"
    value, is_new = _once(unit, (base, *arguments), label)
    if is_new:
        unit.emit("assign", value, base)
        for position, argument in enumerate(arguments):
            unit.emit("type_argument", value, position, argument)
    return value


def made(unit: Unit, operator: str, operands: list[int], label: str) -> int:
    """Return the type that an operator makes of others."""
    value, is_new = _once(unit, (operator, *operands), label)
    if is_new:
        unit.emit("operation", value, operator)
        for position, operand in enumerate(operands):
            unit.emit("operand", value, position, operand)
    return value


def _once(unit: Unit, key: tuple, label: str) -> tuple[int, bool]:
    """Return the type of this body that is made of others, as `key` tells, and whether it is new."""
    body: Body = unit.body
    key = (body.entity, *key)
    known = unit.types.get(key)
    if known is not None:
        return known, False
    value = unit.types[key] = unit.facts.entity(body.entity, tail(label))
    return value, True


# ---- Type parameters


def bind_type_parameters(unit: Unit, definition: int, node: Node | None) -> None:
    """Let the names in `[T, U any]` mean types of `definition` in the scope at hand."""
    values: list[tuple[int, Node | None]] = []
    for declaration in children(node) if node is not None else ():
        for name in tree.with_fields(declaration, tree.NAME):
            value = declare_type_parameter(unit, definition, len(values), name)
            values.append((value, declaration.child_by_field_id(tree.TYPE)))
    for value, bound in values:
        if bound is not None:
            unit.emit("type_bound", value, unit.value(bound))


def declare_type_parameter(unit: Unit, definition: int, position: int, name: Node) -> int:
    """Let a name mean a type parameter of `definition`."""
    text = unit.text(name)
    value = unit.facts.entity(definition, text, name.start_byte, name.end_byte)
    unit.emit("allocate", value, "type")
    unit.emit("type_parameter", definition, position, text, value)
    if text != "_":
        unit.scope.enter(Name(text, unit.body.entity, form=TYPE, value=value))
    return value


# ---- Zero values


def is_type_name(unit: Unit, node: Node | None) -> bool:
    """Return True if an expression surely means a type: a type of this file, or a basic one."""
    node = tree.inside(node)
    if node is not None and node.kind_id in tree.UNARY and tree.operator_of(node) == "*":
        return is_type_name(unit, node.child_by_field_id(tree.OPERAND))
    if node is None or (node.kind_id not in tree.IDENTIFIER and node.type != "type_identifier"):
        return False
    name = unit.text(node)
    found = unit.scope.find(name)
    return name in _ZEROS if found is None else found.form == TYPE


def zero(unit: Unit, kind: Node | None, type_value: int | None, place: Node) -> int:
    """Return the value that a variable of a type has before it is assigned; `type_value` is that of `kind`."""
    if kind is None:
        return unit.entity("unknown", place)
    text = unit.text(kind)
    if kind.kind_id in _REFERENCES:
        return unit.body.load_constant("none", "nil")
    if text in _ZEROS and unit.scope.find(text) is None:
        return unit.body.load_constant(*_ZEROS[text])
    value = unit.body.allocation(unit.entity(tail("zero " + unit.words(kind)), place))
    unit.emit("allocate", value, "zero")
    unit.emit("annotation", value, unit.value(kind) if type_value is None else type_value)
    return value
