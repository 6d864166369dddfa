"""Structures, unions and enumerations."""

import re

from tree_sitter import Node

from facts.c import tree
from facts.c.declarators import declared, never_returns
from facts.c.scopes import TYPE, Name
from facts.c.tree import EXPRESSIONS, STATEMENTS
from facts.c.type_values import declared_type, specifier
from facts.c.unit import Unit
from facts.function_body import MODULE

_KINDS = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}


@EXPRESSIONS(*_KINDS)
def _tagged(unit: Unit, node: Node) -> int:
    """`struct S`, or its definition: then the type is called after what it declares if it has no tag."""
    hint, unit.hint = unit.hint, ""
    kind, name = _KINDS[node.type], node.child_by_field_id(tree.NAME)
    if node.child_by_field_id(tree.BODY) is not None:
        return _define(unit, node, kind, hint)
    return unit.type_of(f"{kind} {unit.text(name)}" if name is not None else kind)


def _define(unit: Unit, node: Node, kind: str, hint: str) -> int:
    """State what a struct, union or enum holds, in place; return the type."""
    tag = node.child_by_field_id(tree.NAME)
    name = unit.text(tag) if tag is not None else ""
    entity = unit.entity(f"{kind} {name or hint}", node)
    unit.emit("class", entity, unit.body.entity, name)
    unit.emit("class_kind", entity, kind)
    value = unit.entity(name or hint or kind, tag if tag is not None else node)
    unit.emit("define", value, entity)
    if name:
        bind_type(unit, f"{kind} {name}", value)
    body = node.child_by_field_id(tree.BODY)
    parts = tree.flattened(body)
    if kind == "enum":
        _enumerators(unit, entity, parts, body.start_byte + 1)
    else:
        _fields(unit, entity, parts)
    return value


def bind_type(unit: Unit, name: str, value: int) -> None:
    """Let a tag or a typedef's name stand for a type; inside of functions for nothing else."""
    found = unit.scope.find(name)
    if unit.body.entity != MODULE:
        found = unit.scope.names[name] = Name(name, unit.body.entity, form=TYPE, value=value)
    elif found is None:
        return
    else:
        unit.emit("store_cell", value, unit.body.cell_of(found), value)
        unit.body.allocation(value)
    unit.emit("binds", value, found.owner, name, "type")


def _fields(unit: Unit, entity: int, parts) -> None:
    """State the fields. A bit-field's type is an operation `:` of its type and width."""
    position = 0
    for part in parts:
        if part.type != "field_declaration":
            continue
        declarators = list(part.children_by_field_id(tree.DECLARATOR))
        hint = declared(declarators[0], unit.source).name if declarators else ""
        base = specifier(unit, part.child_by_field_id(tree.TYPE), hint)
        for declarator in declarators or [None]:
            found = declared(declarator, unit.source)
            kind = _narrowed(unit, declared_type(unit, base, found), declarator)
            unit.emit("attribute_annotation", entity, position, found.name, kind)
            if found.place is not None and never_returns(part, unit.written):
                unit.emit("modifier", unit.entity("field " + found.name, found.place), "noreturn")
            position += 1


def _narrowed(unit: Unit, kind: int, declarator: Node | None) -> int:
    clause = declarator.next_named_sibling if declarator is not None else None
    if clause is None or clause.type != "bitfield_clause":
        return kind
    width = unit.value(tree.only_child(clause))
    value = unit.entity(f"{unit.label(kind)}:{unit.label(width)}", clause)
    unit.emit("operation", value, ":")
    unit.emit("operand", value, 0, kind)
    unit.emit("operand", value, 1, width)
    return value


def _enumerators(unit: Unit, entity: int, parts, end: int) -> None:
    """Bind the enumerators behind the byte `end`: constants, each by default one more than the one before it."""
    previous, following = None, 0
    for part in parts:
        if part.type != "enumerator":
            continue
        node, given = part.child_by_field_id(tree.NAME), part.child_by_field_id(tree.VALUE)
        others, end = _others(unit, end, part.start_byte), part.end_byte
        if given is not None:
            source = unit.value(given)
            following = _integer(unit.text(given))
        elif others:
            source, following = unit.body.load_once(others, others, "load_name", MODULE, others), None
        elif following is not None:
            source = unit.body.load_constant("integer", str(following))
        else:
            source = _successor(unit, previous, part)
        following = following + 1 if following is not None else None
        previous = _bind(unit, node, source)
        unit.emit("member", entity, unit.text(node), previous)


# What stands between enumerators, and holds none.
_EMPTY = re.compile(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#(?![ \t]*include)(?:\\\r?\n|[^\n])*|[\s,]", re.MULTILINE | re.DOTALL)


def _others(unit: Unit, begin: int, end: int) -> str:
    """Return what lists enumerators between two others, a macro or the inclusion of a file; "" if nothing does."""
    return _EMPTY.sub(b"", unit.written[begin:end]).decode(errors="replace")


def _integer(text: str) -> int | None:
    """Return the value of a plain decimal number, None for another expression."""
    return int(text) if text.isdecimal() and len(text) < 20 and (text == "0" or text[0] != "0") else None


def _successor(unit: Unit, previous: int, node: Node) -> int:
    value = unit.body.instruction(unit.entity(unit.label(previous) + " + 1", node))
    unit.emit("operation", value, "+")
    unit.emit("operand", value, 0, previous)
    unit.emit("operand", value, 1, unit.body.load_constant("integer", "1"))
    return value


def _bind(unit: Unit, node: Node, source: int) -> int:
    name = unit.text(node)
    if unit.body.entity == MODULE and (found := unit.scope.find(name)) is not None:
        return unit.assign(found, source, "constant", node)
    return unit.assign(unit.declare(Name(name, unit.body.entity)), source, "constant", node)


@STATEMENTS("struct_specifier", "union_specifier", "enum_specifier")
def _definition(unit: Unit, node: Node) -> None:
    """`struct S { … };`: a definition that declares no variable."""
    unit.value(node)
