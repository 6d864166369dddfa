"""Declarations: variables with their initial values, and names for types."""

from tree_sitter import Node

from facts.c import tree
from facts.c.classes import bind_type
from facts.c.declarators import ARRAY, FUNCTION, Declared, declared, modifiers, never_returns
from facts.c.scopes import Name
from facts.c.tree import EXPRESSIONS, STATEMENTS, children
from facts.c.type_values import annotated, declared_type, specifier
from facts.c.unit import Unit
from facts.function_body import MODULE
from facts.instructions import allocate, store_attribute
from facts.row_builder import tail


@STATEMENTS("declaration")
def _declaration(unit: Unit, node: Node) -> None:
    declarators = [declared(part, unit.source) for part in node.children_by_field_id(tree.DECLARATOR)]
    # `auto` stands for attributes in few letters that clean the variable up: no more is it the function's to release.
    words = ["static" if word == "auto" else word for word in modifiers(node, unit.source)]
    base = specifier(unit, node.child_by_field_id(tree.TYPE), next((found.name for found in declarators), ""))
    for found in declarators:
        if found.form == FUNCTION:
            _declare_function(unit, found, node)
        elif found.place is not None:
            _declare(unit, found, declared_type(unit, base, found), words)


def _declare_function(unit: Unit, found: Declared, node: Node) -> None:
    """Declare a function that is defined elsewhere: in a block, its name hides a variable."""
    if never_returns(node, unit.written):
        unit.emit("modifier", unit.entity("declaration " + found.name, found.place), "noreturn")
    if unit.scope is not unit.file and unit.scope.find(found.name) is not unit.file.names.get(found.name):
        unit.file.functions.add(found.name)
        unit.scope.names[found.name] = unit.file.external(found.name)


def _declare(unit: Unit, found: Declared, kind: int, words: list[str]) -> None:
    name = _name(unit, found, words)
    # What is volatile others see, too: a signal handler, or code behind `longjmp`.
    if name.rebound or name.form == ARRAY or name.owner == MODULE or "volatile" in words:
        for word in words:
            unit.emit("modifier", unit.body.cell_of(name), word)
    if "extern" in words and found.value is None:
        return
    if found.value is not None:
        source = unit.value(found.value)
        value = unit.entity(found.name, found.place)
        unit.emit("assign", value, source)
        name.bare = name.owner != MODULE and "static" not in words and found.value.type == "null"
    else:
        value = unit.entity(found.name, found.place)
        if name.owner != MODULE and "static" not in words:
            name.bare = True
            unit.emit("uninitialized", value)
    annotated(unit, value, kind)
    if "static" in words and name.owner != MODULE:
        _bind_static(unit, name, value)
    else:
        unit.bind(name, value, "variable")


def _bind_static(unit: Unit, name: Name, value: int) -> None:
    """Bind a static variable of a function: its cell holds the value before the function ever runs."""
    unit.emit("store_cell", value, unit.body.cell_of(name), value)
    unit.emit("binds", value, name.owner, name.name, "variable")


def _name(unit: Unit, found: Declared, words: list[str]) -> Name:
    """Return what a declarator declares here."""
    if unit.scope is unit.file:
        return unit.file.names.get(found.name) or unit.file.external(found.name)
    if "extern" in words:
        name = unit.file.names.get(found.name) or unit.file.external(found.name)
        unit.scope.names[found.name] = name
        return name
    celled = "static" in words or found.form == ARRAY or found.name in unit.uses.celled
    return unit.declare(Name(found.name, unit.body.entity, rebound=celled, form=found.form, rank=found.rank))


@STATEMENTS("type_definition")
def _type_definition(unit: Unit, node: Node) -> None:
    declarators = [declared(part, unit.source) for part in node.children_by_field_id(tree.DECLARATOR)]
    base = specifier(unit, node.child_by_field_id(tree.TYPE), next((found.name for found in declarators), ""))
    for found in declarators:
        if found.place is None:
            continue
        value = unit.entity(found.name, found.place)
        unit.emit("assign", value, declared_type(unit, base, found))
        bind_type(unit, found.name, value)


# ---- Initial values in braces


@EXPRESSIONS("initializer_list")
def initializer(unit: Unit, node: Node) -> int:
    """Return the object that a list of initial values describes: positions are known up to the first designator."""
    container = allocate(unit, unit.entity("initializer", node), "initializer")
    position = 0
    for part in children(node):
        if part.type == "initializer_pair":
            _designated(unit, container, part)
            position = -1
        elif position < 0:
            unit.emit("element", container, unit.value(part))
        else:
            unit.emit("position_item", container, position, unit.value(part))
            position += 1
    return container


def _designated(unit: Unit, container: int, node: Node) -> None:
    """Store a designated value: `.a = x`, `[1] = x`, `[1 ... 3] = x`, `.a.b = x`, `a: x`."""
    *path, last = node.children_by_field_id(tree.DESIGNATOR)
    value = unit.value(node.child_by_field_id(tree.VALUE))
    for designator in path:
        container = _part(unit, container, designator)
    if last.type == "subscript_range_designator":
        unit.emit("element", container, value)
    elif last.type == "subscript_designator":
        unit.emit("item", container, unit.value(tree.only_child(last)), value)
    else:
        store_attribute(unit, container, _field_name(unit, last), value, last)


def _part(unit: Unit, container: int, designator: Node) -> int:
    """Return the address of the part of an object that a designator on the way names."""
    if designator.type == "field_designator":
        name = _field_name(unit, designator)
        value = unit.body.instruction(unit.entity(tail(f"&{unit.label(container)}.{name}"), designator))
        unit.emit("address_attribute", value, container, name)
        return value
    index = unit.value(tree.only_child(designator))
    value = unit.body.instruction(unit.entity(tail(f"&{unit.label(container)}[{unit.label(index)}]"), designator))
    unit.emit("address_index", value, container, index)
    return value


def _field_name(unit: Unit, node: Node) -> str:
    return unit.text(tree.only_child(node) if node.type == "field_designator" else node)


@EXPRESSIONS("compound_literal_expression")
def _compound_literal(unit: Unit, node: Node) -> int:
    """`(struct S){ … }`: the object itself, with its type."""
    kind = unit.value(node.child_by_field_id(tree.TYPE))
    return annotated(unit, unit.value(node.child_by_field_id(tree.VALUE)), kind)
