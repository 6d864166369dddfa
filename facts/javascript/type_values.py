"""TypeScript's types, which are values here; casts."""

from tree_sitter import Node

from facts.function_body import MODULE
from facts.instructions import allocate
from facts.javascript.calls import with_type_arguments
from facts.javascript.classes import state_attribute
from facts.javascript.functions import define_function, type_scope
from facts.javascript.handler_tables import EXPRESSIONS, STATEMENTS, child_of_type, children, field, only_child
from facts.javascript.literals import property_label, property_name
from facts.javascript.unit import Unit
from facts.row_builder import tail

_WRAPPERS = (
    "type_annotation", "opting_type_annotation", "omitting_type_annotation", "adding_type_annotation", "constraint",
    "parenthesized_type", "literal_type", "optional_type", "rest_type", "readonly_type",
    "flow_maybe_type", "type_predicate_annotation", "asserts_annotation",
)  # fmt: skip


@EXPRESSIONS(*_WRAPPERS)
def _wrapper(unit: Unit, node: Node) -> int:
    return unit.value(only_child(node))


@EXPRESSIONS("type_identifier")
def _type(unit: Unit, node: Node) -> int:
    return unit.read_type(unit.text(node))


@EXPRESSIONS("predefined_type", "existential_type", "this_type")
def _predefined(unit: Unit, node: Node) -> int:
    return named_type(unit, unit.text(node))


def named_type(unit: Unit, name: str) -> int:
    """Return a type that the language brings."""
    return unit.body.load_once(name, name, "load_name", MODULE, name)


@EXPRESSIONS("nested_type_identifier", "nested_identifier")
def _nested(unit: Unit, node: Node) -> int:
    first, *rest = _path(node)
    value = unit.read_type(unit.text(first))
    for name in rest:
        source, label = value, tail(f"{unit.label(value)}.{unit.text(name)}")
        value = unit.body.allocation(unit.entity(label, node))
        unit.emit("load_attribute", value, source, unit.text(name))
    return value


def _path(node: Node) -> list[Node]:
    """Return the identifiers of a dotted name."""
    parts, work = [], [node]
    while work:
        node = work.pop()
        if node.named_child_count:
            work.extend(reversed(children(node)))
        else:
            parts.append(node)
    return parts


@EXPRESSIONS("generic_type")
def _generic(unit: Unit, node: Node) -> int:
    return with_type_arguments(unit, node, unit.value(field(node, "name")))


@EXPRESSIONS("array_type")
def _array(unit: Unit, node: Node) -> int:
    element = unit.value(only_child(node))
    value = unit.entity(tail(unit.label(element) + "[]"), node)
    unit.emit("array_type", value, element)
    return value


@EXPRESSIONS("tuple_type")
def _tuple(unit: Unit, node: Node) -> int:
    container = unit.entity("tuple", node)
    for position, part in enumerate(children(node)):
        value = unit.value(field(part, "type") if part.type in ("required_parameter", "optional_parameter") else part)
        if part.type == "rest_type":
            unit.emit("spread", container, value, position)
        else:
            unit.emit("position_item", container, position, value)
    return allocate(unit, container, "tuple")


# ---- Types that are made of types: operations, which cannot raise


@EXPRESSIONS("union_type", "intersection_type")
def _spine(unit: Unit, node: Node) -> int:
    parts, operator = [node], "|" if node.type == "union_type" else "&"
    while parts[0].type == node.type:
        parts[:1] = children(parts[0])
    return type_operation(unit, operator, [unit.value(part) for part in parts], node)


def type_operation(unit: Unit, operator: str, operands: list[int], node: Node) -> int:
    """Return a type that is computed from others."""
    labels = [unit.label(operand) for operand in operands]
    label = f"{operator} {labels[0]}" if len(labels) == 1 else f" {operator} ".join(labels)
    return _state_operation(unit, unit.entity(tail(label), node), operator, operands)


def _state_operation(unit: Unit, value: int, operator: str, operands: list[int]) -> int:
    unit.emit("operation", value, operator)
    for position, operand in enumerate(operands):
        unit.emit("operand", value, position, operand)
    return unit.body.allocation(value)


_OPERATORS = {
    "conditional_type": "extends",
    "index_type_query": "keyof",
    "type_query": "typeof",
    "lookup_type": "[]",
    "asserts": "asserts",
}


@EXPRESSIONS(*_OPERATORS)
def _operator(unit: Unit, node: Node) -> int:
    parts = [part for part in children(node) if part.type != "type_arguments"]
    for argument in children(child_of_type(node, "type_arguments")):
        unit.value(argument)
    return type_operation(unit, _OPERATORS[node.type], [unit.value(part) for part in parts], node)


@EXPRESSIONS("type_predicate")
def _predicate(unit: Unit, node: Node) -> int:
    return type_operation(unit, "is", [unit.value(field(node, "type"))], node)


@EXPRESSIONS("function_type", "constructor_type")
def _function(unit: Unit, node: Node) -> int:
    """The types of the parameters, then that of the result."""
    operator, outer = "=>" if node.type == "function_type" else "new", unit.scope
    value = unit.entity(tail(unit.words(node)), node)
    unit.scope = type_scope(unit, node, value)
    types = [field(parameter, "type") for parameter in children(field(node, "parameters"))]
    types.append(field(node, "return_type") or field(node, "type"))
    operands = [unit.value(part) if part is not None else named_type(unit, "any") for part in types]
    unit.scope = outer
    return _state_operation(unit, value, operator, operands)


@EXPRESSIONS("infer_type")
def _infer(unit: Unit, node: Node) -> int:
    """`infer T` declares T where it stands."""
    name, *rest = children(node)
    value = allocate(unit, unit.entity(unit.text(name), node), "type")
    unit.bind_type(unit.text(name), value)
    for bound in rest:
        unit.emit("type_bound", value, unit.value(bound))
    return value


@EXPRESSIONS("object_type")
def _object(unit: Unit, node: Node) -> int:
    """`{a: T}`: an interface without a name."""
    entity = unit.entity("class <type>", node)
    unit.emit("class", entity, unit.body.entity, "<type>")
    unit.emit("class_kind", entity, "interface")
    state_members(unit, entity, node)
    value = unit.entity("<type>", node)
    unit.emit("define", value, entity)
    return value


_CALLED = {"call_signature": "()", "construct_signature": "new"}


def state_members(unit: Unit, entity: int, body: Node | None) -> None:
    """State the members of an interface: attributes with types, methods without bodies."""
    for member in children(body):
        key = field(member, "name")
        if key is not None and key.type == "computed_property_name" and property_name(unit, key) is None:
            unit.value(only_child(key))
        if member.type == "property_signature":
            name, declared = property_name(unit, key), field(member, "type")
            if declared is not None and name is not None:
                state_attribute(unit, entity, name, declared)
            elif declared is not None:
                unit.value(declared)
        elif member.type in ("method_signature", *_CALLED):
            name = _CALLED.get(member.type) or property_label(unit, key)
            _, value = define_function(unit, member, name, entity)
            unit.emit("member", entity, name, value)
        elif member.type == "index_signature":
            unit.statement(member)
        else:
            unit.unknown(member)


@STATEMENTS("index_signature")
def _index_signature(unit: Unit, node: Node) -> None:
    """`[key: K]: T` and `[K in T]: V`: the types are read."""
    for child in children(node):
        if child.type == "mapped_type_clause":
            name = field(child, "name")
            value = allocate(unit, unit.entity(unit.text(name), child), "type")
            unit.bind_type(unit.text(name), value)
            unit.emit("type_bound", value, unit.value(field(child, "type")))
            if field(child, "alias") is not None:
                unit.value(field(child, "alias"))
        elif child != field(node, "name"):
            unit.value(child)


# ---- Expressions with types


@EXPRESSIONS("as_expression", "satisfies_expression")
def _as(unit: Unit, node: Node) -> int:
    """`x as T` is cast, `x as const` is x, `x satisfies T` has to be a T already."""
    source, *rest = children(node)
    value = unit.value(source)
    if not rest:
        return value
    if node.type == "satisfies_expression":
        unit.emit("annotation", value, unit.value(rest[0]))
        return value
    return _cast(unit, value, rest[0], node)


@EXPRESSIONS("type_assertion")
def _assertion(unit: Unit, node: Node) -> int:
    """`<T>x`."""
    declared, source = children(node)
    return _cast(unit, unit.value(source), only_child(declared), node)


def _cast(unit: Unit, source: int, declared: Node | None, node: Node) -> int:
    kind = unit.value(declared)
    value = unit.body.allocation(unit.entity(tail(f"{unit.label(source)} as {unit.label(kind)}"), node))
    unit.emit("cast", value, source, kind)
    return value
