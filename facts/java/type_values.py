"""Types are values: names of classes are read like other names, once per class; what is made of them is made once."""

from tree_sitter import Node

from facts.file_facts import NIL
from facts.java import tree
from facts.java.tree import EXPRESSIONS, children, only_child
from facts.java.unit import Unit
from facts.row_builder import tail


@EXPRESSIONS("type_identifier")
def _type_identifier(unit: Unit, node: Node) -> int:
    return unit.type_named(unit.text(node))


@EXPRESSIONS("integral_type", "floating_point_type", "boolean_type", "void_type")
def _primitive(unit: Unit, node: Node) -> int:
    return unit.unbound(unit.text(node))


@EXPRESSIONS("scoped_type_identifier")
def _scoped(unit: Unit, node: Node) -> int:
    """`a.b.C` and `Outer<T>.Inner`: the first name is a type if one of that name is known, else a package."""
    base, *_, name = children(node)
    if base.type == "type_identifier":
        known = unit.text(base) in unit.names.types or unit.text(base)[:1].isupper()
        value = unit.value(base) if known else unit.unbound(unit.text(base))
    else:
        value = unit.value(base)
    return unit.member_of(value, unit.text(name))


@EXPRESSIONS("scoped_identifier")
def _scoped_identifier(unit: Unit, node: Node) -> int:
    """`a.b.C` in an annotation's name or a case label."""
    scope = node.child_by_field_id(tree.SCOPE)
    base = unit.qualifier(scope) if scope is not None else unit.unknown(None)
    return unit.member_of(base, unit.text(node.child_by_field_id(tree.NAME)))


@EXPRESSIONS("generic_type")
def _generic(unit: Unit, node: Node) -> int:
    """`Base<Arguments>` is `Base` with arguments; `Base<>` leaves them to be inferred."""
    base, arguments = children(node)[0], children(node)[-1]
    value = unit.value(base)
    return made(unit, value, type_arguments(unit, arguments) if arguments.type == "type_arguments" else [])


def type_arguments(unit: Unit, node: Node | None) -> list[int]:
    """Return the values of `<A, B>`."""
    return [unit.value(argument) for argument in children(node)] if node is not None else []


def made(unit: Unit, base: int, arguments: list[int]) -> int:
    """Return the generic type `base` with arguments; itself without any."""
    if not arguments:
        return base
    label = f"{unit.label(base)}<{','.join(map(unit.label, arguments))}>"
    value, is_new = _once(unit, (base, *arguments), label)
    if is_new:
        unit.emit("assign", value, base)
        for position, argument in enumerate(arguments):
            unit.emit("type_argument", value, position, argument)
    return value


def _once(unit: Unit, key: tuple, label: str) -> tuple[int, bool]:
    """Return the type of the class around that is made of others, as `key` tells, and whether it is new."""
    known = unit.scope.types.get(key)
    if known is not None:
        return known, False
    value = unit.scope.types[key] = unit.facts.entity(unit.scope.entity, tail(label))
    return value, True


@EXPRESSIONS("wildcard")
def _wildcard(unit: Unit, node: Node) -> int:
    """`?`, `? extends A`, `? super A`: a type that is not named, with an upper bound if one is given."""
    parts = [child for child in children(node) if "annotation" not in child.type]
    bound = unit.value(parts[-1]) if parts else NIL
    is_lower = any(part.type == "super" for part in parts)
    label = "?" if bound == NIL else f"? {'super' if is_lower else 'extends'} {unit.label(bound)}"
    value, is_new = _once(unit, ("?", is_lower, bound), label)
    if is_new:
        unit.emit("allocate", value, "type")
        if bound != NIL and not is_lower:
            unit.emit("type_bound", value, bound)
    return value


@EXPRESSIONS("array_type")
def _array(unit: Unit, node: Node) -> int:
    return array_of(unit, unit.value(node.child_by_field_id(tree.ELEMENT)), node.child_by_field_id(tree.DIMENSIONS))


def array_of(unit: Unit, element: int, dimensions: Node | None) -> int:
    """Return the type of arrays of `element` with as many dimensions as `[][]` says; `element` itself without any."""
    count = 0 if dimensions is None else sum(child.type == "[" for child in dimensions.children)
    for _ in range(count):
        element = array(unit, element)
    return element


def array(unit: Unit, element: int) -> int:
    """Return the type of arrays of `element`."""
    value, is_new = _once(unit, ("[]", element), unit.label(element) + "[]")
    if is_new:
        unit.emit("array_type", value, element)
    return value


@EXPRESSIONS("annotated_type")
def _annotated(unit: Unit, node: Node) -> int:
    """`@A T`: annotations of a type's use say nothing of what flows."""
    return unit.value(children(node)[-1])


def declared_type(unit: Unit, node: Node, name: Node | None = None) -> int:
    """Return the type that a declaration gives, with the dimensions behind its name; NIL for `var`."""
    kind = node.child_by_field_id(tree.TYPE)
    if kind is None or (kind.type == "type_identifier" and unit.text(kind) == "var"):
        return NIL
    return array_of(unit, unit.value(kind), (name or node).child_by_field_id(tree.DIMENSIONS))


def bind_type_parameters(unit: Unit, definition: int, node: Node | None) -> None:
    """Let the names in `<T extends A & B>` mean types of `definition`; bounds may name those before and behind."""
    parameters = [child for child in children(node) if child.type == "type_parameter"] if node is not None else []
    values = []
    for position, parameter in enumerate(parameters):
        name = tree.child_of_type(parameter, "type_identifier")
        if name is None:
            continue
        value = unit.facts.entity(definition, unit.text(name), name.start_byte, name.end_byte)
        unit.emit("allocate", value, "type")
        unit.emit("type_parameter", definition, position, unit.text(name), value)
        unit.names.declare_type(unit.text(name), value, unit.scope.depth + 1)
        values.append((value, tree.child_of_type(parameter, "type_bound")))
    for value, bounds in values:
        for bound in children(bounds) if bounds is not None else ():
            unit.emit("type_bound", value, unit.value(bound))


@EXPRESSIONS("class_literal")
def _class_literal(unit: Unit, node: Node) -> int:
    return unit.member_of(unit.value(only_child(node)), "class")
