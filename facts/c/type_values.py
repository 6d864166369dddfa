"""Types as values: named ones are loaded like other names, what is made of them are operations."""

from tree_sitter import Node

from facts.c import tree
from facts.c.declarators import ARRAY, POINTER, Declared, declared
from facts.c.tree import EXPRESSIONS
from facts.c.unit import Unit
from facts.function_body import MODULE
from facts.row_builder import tail


def specifier(unit: Unit, node: Node | None, hint: str = "") -> int:
    """Return the type that a specifier names; one that it defines is called `hint` where it has no tag."""
    if node is None:
        return unit.type_of("int")
    unit.hint = hint
    return unit.value(node)


def named(unit: Unit, name: str, node: Node) -> int:
    """Return the type that an identifier names: a macro's parameter may hold one."""
    found = unit.scope.find(name)
    if found is not None and found.owner == unit.body.entity != MODULE:
        return unit.read(name, node)
    return unit.type_of(name)


def wrapped(unit: Unit, base: int, layers: list[tuple[str, Node]]) -> int:
    """Return the type that pointers, arrays and functions make of `base`, from the innermost on."""
    for kind, node in layers:
        if kind == POINTER:
            base = _made(unit, "*", unit.label(base).removeprefix("type ") + "*", [base])
        elif kind == ARRAY:
            base = _array(unit, base, node.child_by_field_id(tree.SIZE))
        else:
            base = _function(unit, base, node)
    return base


def _made(unit: Unit, operator: str, text: str, operands: list[int]) -> int:
    """Return the type that an operator makes of others: once per file for the same text."""
    key = f"{operator} {text} {operands}"
    value = unit.types.get(key)
    if value is None:
        value = unit.types[key] = unit.facts.entity(MODULE, tail("type " + text))
        unit.emit("operation", value, operator)
        for position, operand in enumerate(operands):
            unit.emit("operand", value, position, operand)
    return value


def _array(unit: Unit, base: int, size: Node | None) -> int:
    text = unit.label(base).removeprefix("type ")
    if size is None or not size.is_named:
        return _made(unit, "[]", text + "[]", [base])
    if size.kind_id not in _NUMBER:
        return _sized(unit, base, text, size)
    return _made(unit, "[]", f"{text}[{unit.words(size)}]", [base, unit.value(size)])


def _sized(unit: Unit, base: int, text: str, size: Node) -> int:
    """Return the array type whose size is computed: it belongs to the body that computes it."""
    value = unit.entity(tail(f"type {text}[{unit.words(size)}]"), size)
    unit.emit("operation", value, "[]")
    unit.emit("operand", value, 0, base)
    unit.emit("operand", value, 1, unit.value(size))
    return value


def _function(unit: Unit, base: int, node: Node) -> int:
    parameters = [
        type_of(unit, parameter)
        for parameter in tree.children(node.child_by_field_id(tree.PARAMETERS))
        if parameter.type == "parameter_declaration" and not is_void(unit, parameter)
    ]
    text = ",".join(unit.label(parameter).removeprefix("type ") for parameter in parameters)
    return _made(unit, "()", f"{unit.label(base).removeprefix('type ')}({text})", [base, *parameters])


def is_void(unit: Unit, parameter: Node) -> bool:
    """Return True if this is the `void` that stands for no parameters."""
    return parameter.child_by_field_id(tree.DECLARATOR) is None and unit.text(parameter) == "void"


_NUMBER = tree.kind_ids("number_literal")


def type_of(unit: Unit, node: Node) -> int:
    """Return the type that a type name or a parameter's declaration describes."""
    found = declared(node.child_by_field_id(tree.DECLARATOR), unit.source)
    return declared_type(unit, specifier(unit, node.child_by_field_id(tree.TYPE)), found)


def declared_type(unit: Unit, base: int, found: Declared) -> int:
    """Return the type that a declarator gives its name."""
    return wrapped(unit, base, found.layers)


@EXPRESSIONS("type_descriptor")
def _descriptor(unit: Unit, node: Node) -> int:
    return type_of(unit, node)


@EXPRESSIONS("primitive_type", "sized_type_specifier")
def _basic(unit: Unit, node: Node) -> int:
    return unit.type_of(" ".join(unit.text(node).split()))


@EXPRESSIONS("type_identifier")
def _identifier(unit: Unit, node: Node) -> int:
    return named(unit, unit.text(node), node)


@EXPRESSIONS("macro_type_specifier")
def _macro_type(unit: Unit, node: Node) -> int:
    """`LIST_OF(T)` as a type: nothing is known of it but its text."""
    return unit.type_of(unit.words(node))


def annotated(unit: Unit, value: int, kind: int) -> int:
    """State that `value` is declared to have the type `kind`; return it."""
    unit.emit("annotation", value, kind)
    return value
