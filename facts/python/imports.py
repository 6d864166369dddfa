"""Imports, exports, comments that declare types, and the Python 2 statements that are calls today."""

import re

from tree_sitter import Node

from facts.function_body import MODULE
from facts.python import tree
from facts.python.calls import call
from facts.python.literals import unescape
from facts.python.tree import STATEMENTS, children, only_child, with_fields
from facts.python.unit import Unit
from facts.suppression_comments import Comments

COMMENTS = Comments(tree.GRAMMAR, "comment")
_TYPE = re.compile(r"#\s*type:(?!\s*ignore\b)\s*(.+)", re.DOTALL)


@STATEMENTS("import_statement")
def _import(unit: Unit, node: Node) -> None:
    for name in with_fields(node, tree.NAME):
        if name.type == "aliased_import":
            alias = name.child_by_field_id(tree.ALIAS)
            dotted = _dotted(unit, name.child_by_field_id(tree.NAME))
            value = _module(unit, dotted, unit.text(alias), name)
            _bind_alias(unit, unit.text(alias), dotted, value)
            continue
        dotted = _dotted(unit, name)
        first = dotted.partition(".")[0]
        value = _module(unit, first, first, name)
        if first != dotted:
            _module(unit, dotted, "import " + dotted, name)
        unit.bind(first, value, "import")


def _module(unit: Unit, name: str, label: str, node: Node) -> int:
    value = unit.body.running(unit.entity(label, node))
    unit.emit("import_module", value, MODULE, 0, name)
    return value


def _dotted(unit: Unit, node: Node) -> str:
    return ".".join(unit.text(part) for part in children(node))


@STATEMENTS("import_from_statement", "future_import_statement")
def _import_from(unit: Unit, node: Node) -> None:
    level, module = _source(unit, node)
    names = list(with_fields(node, tree.NAME))
    if not names:
        unit.emit("import_star", MODULE, level, module)
        unit.body.other_code()
    for name in names:
        alias = name.child_by_field_id(tree.ALIAS) if name.type == "aliased_import" else None
        member = _dotted(unit, name.child_by_field_id(tree.NAME) if alias is not None else name)
        bound = unit.text(alias) if alias is not None else member
        value = unit.body.running(unit.entity(bound, name))
        unit.emit("import_member", value, MODULE, level, module, member)
        if alias is not None:
            _bind_alias(unit, bound, member, value)
        else:
            unit.bind(bound, value, "import")


def _bind_alias(unit: Unit, alias: str, name: str, value: int) -> None:
    """Bind `alias`, under which `name` is imported. The same name again says that others find it here (PEP 484)."""
    unit.bind(alias, value, "import")
    if alias == name:
        unit.emit("reexports", value)


def _source(unit: Unit, node: Node) -> tuple[int, str]:
    """Return level and name of the module that is imported from."""
    if node.type == "future_import_statement":
        return 0, "__future__"
    source = node.child_by_field_id(tree.MODULE_NAME)
    if source.type != "relative_import":
        return 0, _dotted(unit, source)
    prefix, *rest = children(source)
    return unit.text(prefix).count("."), _dotted(unit, rest[0]) if rest else ""


@STATEMENTS("print_statement")
def _print(unit: Unit, node: Node) -> None:
    callee = unit.read("print")
    arguments = []
    for child in children(node):
        if child.type == "chevron":
            arguments.append(("file", unit.value(only_child(child))))
        else:
            arguments.append(("", unit.value(child)))
    call(unit, callee, arguments, node)


@STATEMENTS("exec_statement")
def _exec(unit: Unit, node: Node) -> None:
    callee = unit.read("exec")
    call(unit, callee, [("", unit.value(child)) for child in children(node)], node)


def type_comments(unit: Unit, root: Node) -> None:
    """State the comments that declare a type (PEP 484)."""
    if b"type:" in unit.source:
        for comment in COMMENTS.of(root):
            if declared := _TYPE.match(unit.text(comment)):
                unit.emit("type_comment", MODULE, declared[1])


def exports(unit: Unit, root: Node) -> None:
    """State the names that the top level adds to `__all__`: by assignment, `+=`, `append` or `extend`.

    A text may hold several, for `split`.
    """
    for statement in root.named_children:
        if statement.type == "expression_statement" and unit.source.startswith(b"__all__", statement.start_byte):
            for text in _strings(unit, statement):
                for name in text.split():
                    unit.emit("exports", MODULE, name)


def _strings(unit: Unit, node: Node) -> list[str]:
    """Return the plain strings below a node."""
    found, work = [], [node]
    while work:
        node = work.pop()
        if node.type == "string":
            parts = [part for part in node.named_children if part.type == "string_content"]
            found.append("".join(unescape(unit.text(part)) for part in parts))
        else:
            work.extend(node.named_children)
    return found
