"""Declarations of variables and constants."""

import re

from tree_sitter import Node

from facts.function_body import MODULE
from facts.go import tree
from facts.go.assignments import evaluate
from facts.go.scopes import CONSTANT
from facts.go.tree import STATEMENTS, children
from facts.go.type_values import zero
from facts.go.unit import Unit

_EMBEDDED = re.compile(r"//go:embed\s+\"?([^\"\s]+)\"?\s*$")


@STATEMENTS("var_declaration", "var_spec_list")
def _variables(unit: Unit, node: Node) -> None:
    unit.statements(node)


@STATEMENTS("var_spec")
def _var_spec(unit: Unit, node: Node) -> None:
    """`var a, b T = …`; without values variables are zero, or the text of a file."""
    names, kind = list(tree.with_fields(node, tree.NAME)), node.child_by_field_id(tree.TYPE)
    given = tree.listed(node.child_by_field_id(tree.VALUE))
    type_value = unit.value(kind) if kind is not None else None
    embedded = _embedded(unit, node)
    if embedded and kind is not None and unit.text(kind) in ("string", "[]byte"):
        name = f"go:embed {embedded}"
        values = [unit.body.load_once(name, name, "load_name", MODULE, name)]
    elif given:
        values = evaluate(unit, given, len(names), node)
    else:
        values = [zero(unit, kind, type_value, name) for name in names]
    for name, source in zip(names, values, strict=False):
        if unit.text(name) == "_":
            continue
        value = unit.assign(unit.declare(name), source, "variable", name)
        if type_value is not None:
            unit.emit("annotation", value, type_value)


def _embedded(unit: Unit, node: Node) -> str:
    """Return the file that a comment before the declaration names; nothing if there is none."""
    around = node.parent
    declaration = around if around is not None and around.type == "var_declaration" else node
    comment = declaration.prev_sibling
    while comment is not None and comment.type == "comment":
        if found := _EMBEDDED.match(unit.text(comment)):
            return found[1]
        comment = comment.prev_sibling
    return ""


@STATEMENTS("const_declaration")
def _constants(unit: Unit, node: Node) -> None:
    """`const ( … )`: one without a value has that of the one before, with the next `iota`."""
    kind: Node | None = None
    given: list[Node] = []
    for index, spec in enumerate(children(node)):
        if spec.type != "const_spec":
            unit.sound_parts(spec)
            continue
        value = spec.child_by_field_id(tree.VALUE)
        if value is not None:
            kind, given = spec.child_by_field_id(tree.TYPE), tree.listed(value)
        unit.iota = index
        unit.attempt(lambda unit, spec, kind=kind, given=given: _constant(unit, spec, kind, given), spec)
        unit.iota = 0


def _constant(unit: Unit, spec: Node, kind: Node | None, given: list[Node]) -> None:
    type_value = unit.value(kind) if kind is not None else None
    sources = [unit.value(part) for part in given]
    for name, source in zip(tree.with_fields(spec, tree.NAME), sources, strict=False):
        if unit.text(name) == "_":
            continue
        value = unit.assign(unit.declare(name, CONSTANT), source, "constant", name)
        if type_value is not None:
            unit.emit("annotation", value, type_value)
