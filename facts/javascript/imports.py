"""Imports and exports of modules and namespaces; comments that speak to the analyser."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from facts.function_body import MODULE
from facts.instructions import store_attribute
from facts.javascript.calls import import_module
from facts.javascript.functions import children_in
from facts.javascript.handler_tables import STATEMENTS, child_of_type, children, field, only_child, tokens
from facts.javascript.literals import string_text
from facts.javascript.names import evaluate_named
from facts.javascript.unit import Unit
from facts.row_builder import tail
from facts.suppression_patterns import may_suppress, suppresses

_DECLARED = re.compile(r"@\w+\s*\{([^\n]*)\}")
"""Matches a tag of JSDoc with a type in braces; group 1 is the type."""

# ---- Imports


@STATEMENTS("import_statement")
def _import(unit: Unit, node: Node) -> None:
    required = child_of_type(node, "import_require_clause")
    if required is not None:
        return _import_require(unit, required)
    module, clause = string_text(unit, field(node, "source")), child_of_type(node, "import_clause")
    if clause is None:
        import_module(unit, module, "import " + module, node)
    for child in children(clause):
        if child.type == "identifier":
            import_member(unit, module, "default", child)
        elif child.type == "namespace_import":
            name = only_child(child)
            unit.bind(unit.text(name), import_module(unit, module, unit.text(name), name), "import")
        else:
            for specifier in _specifiers(unit, child):
                name = field(specifier, "name")
                import_member(unit, module, _name(unit, name), field(specifier, "alias") or name)


def _import_require(unit: Unit, node: Node) -> None:
    """`import name = require("module")`."""
    name = unit.text(only_child(node))
    value = import_module(unit, string_text(unit, field(node, "source")), name, node)
    unit.bind(name, value, "import")


def import_member(unit: Unit, module: str, member: str, alias: Node) -> None:
    """Import `member` of a module under the name `alias`."""
    value = member_of(unit, module, member, unit.text(alias), alias)
    unit.bind(unit.text(alias), value, "import")


def member_of(unit: Unit, module: str, member: str, label: str, node: Node) -> int:
    """Return `member` of a module."""
    value = unit.body.running(unit.entity(tail(label), node))
    unit.emit("import_member", value, MODULE, 0, module, member)
    return value


def _specifiers(unit: Unit, clause: Node | None) -> Iterator[Node]:
    """Yield what a clause imports or exports; what has no name, in broken code, gives no facts."""
    for specifier in children(clause):
        if field(specifier, "name") is not None:
            yield specifier
        else:
            unit.facts.unparsed(specifier.start_byte, specifier.end_byte)


def _name(unit: Unit, node: Node) -> str:
    """Return the name of an import or export, which may be quoted."""
    return string_text(unit, node) if node.type == "string" else unit.text(node)


@STATEMENTS("import_alias")
def _import_alias(unit: Unit, node: Node) -> None:
    """`import name = A.B`."""
    name, source = children(node)
    unit.assign(unit.text(name), unit.value(source), "import", name)


# ---- Exports


@STATEMENTS("export_statement")
def _export(unit: Unit, node: Node) -> None:
    source, words = field(node, "source"), tokens(node)
    declared, clause, value = field(node, "declaration"), child_of_type(node, "export_clause"), field(node, "value")
    if source is not None:
        _export_from(unit, node, string_text(unit, source), clause)
    elif clause is not None:
        for specifier in _specifiers(unit, clause):
            name = field(specifier, "name")
            export(unit, _name(unit, field(specifier, "alias") or name), unit.text(name), specifier)
    elif declared is not None:
        unit.decorators = children_in(node, "decorator")
        unit.statement(declared)
        for name in _declared_names(unit, declared):
            export(unit, "default" if "default" in words else name, name, node)
    elif value is not None:
        unit.emit("exports_as", MODULE, "default", evaluate_named(unit, value, "default"))
    elif "=" in words:
        module = unit.read("module")
        store_attribute(unit, module, "exports", unit.value(only_child(node)), node)


def _export_from(unit: Unit, node: Node, module: str, clause: Node | None) -> None:
    """`export … from "module"`: nothing is bound here."""
    namespace = child_of_type(node, "namespace_export")
    if clause is None:
        name = "*" if namespace is None else _name(unit, only_child(namespace))
        unit.emit("exports_as", MODULE, name, import_module(unit, module, "export " + module, node))
    for specifier in _specifiers(unit, clause):
        member = _name(unit, field(specifier, "name"))
        name = _name(unit, field(specifier, "alias") or field(specifier, "name"))
        unit.emit("exports_as", MODULE, name, member_of(unit, module, member, "export " + name, specifier))


def export(unit: Unit, name: str, local: str, node: Node) -> None:
    """Export the variable `local` as `name`: of the namespace at hand now, of the module at its end."""
    if unit.namespace is None:
        unit.exported.append((name, local))
    elif unit.namespace >= 0 and unit.scope.resolve(local) is not None:
        store_attribute(unit, unit.namespace, name, unit.read(local), node)


def state_exports(unit: Unit) -> None:
    """State the values that the module's exports have at its end; types of the same name too."""
    if unit.body.block is None:
        unit.body.start(unit.body.new_block("unreachable"))
    for name, local in unit.exported:
        if local in unit.scope.values:
            unit.emit("exports_as", MODULE, name, unit.read(local))
        if local in unit.scope.types:
            unit.emit("exports_as", MODULE, name, unit.read_type(local))


def _declared_names(unit: Unit, node: Node) -> Iterator[str]:
    """Yield the names that a declaration binds."""
    kind = node.type
    if kind == "ambient_declaration":
        for child in children(node):
            yield from _declared_names(unit, child)
    elif kind in ("variable_declaration", "lexical_declaration"):
        for declarator in children(node):
            yield from _names(unit, field(declarator, "name"))
    elif kind == "import_alias":
        yield unit.text(only_child(node))
    else:
        name = field(node, "name")
        while name is not None and name.type == "nested_identifier":
            name = field(name, "object")
        if name is not None and name.type != "string":
            yield unit.text(name)


def _names(unit: Unit, node: Node | None) -> Iterator[str]:
    """Yield the names in a binding pattern."""
    kind = node.type if node is not None else ""
    if kind in ("identifier", "shorthand_property_identifier_pattern"):
        yield unit.text(node)
    elif kind in ("object_pattern", "array_pattern", "rest_pattern"):
        for child in children(node):
            yield from _names(unit, child)
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        yield from _names(unit, field(node, "left"))
    elif kind == "pair_pattern":
        yield from _names(unit, field(node, "value"))


# ---- Comments


def directives(unit: Unit, root: Node) -> None:
    """State the comments that speak to the analyser, and those that declare types (JSDoc)."""
    declares = b"@" in unit.source and b"/**" in unit.source
    if not declares and not may_suppress(unit.source):
        return
    work = [root]
    while work:
        node = work.pop()
        if node.type in ("comment", "html_comment"):
            text = unit.text(node)
            if suppresses(text):
                unit.emit("directive_comment", unit.facts.text.line_of(node.start_byte), text)
            if text.startswith("/**"):
                for declared in _DECLARED.findall(text):
                    unit.emit("type_comment", MODULE, declared)
        work.extend(reversed(node.children))
