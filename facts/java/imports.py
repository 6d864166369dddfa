"""Packages, imports and modules."""

from tree_sitter import Node

from facts.function_body import MODULE
from facts.java import tree
from facts.java.tree import STATEMENTS, children
from facts.java.unit import Unit
from facts.suppression_comments import Comments
from facts.tree_sitter_grammar import has_token

COMMENTS = Comments(tree.GRAMMAR, "line_comment", "block_comment")
# The level of an import that is no import: the classes of the file's own package are known without one.
OWN_PACKAGE = 1


@STATEMENTS("package_declaration")
def _package(unit: Unit, node: Node) -> None:
    for child in children(node):
        if child.type in ("identifier", "scoped_identifier"):
            unit.emit("import_star", MODULE, OWN_PACKAGE, dotted(unit, child))


def dotted(unit: Unit, node: Node) -> str:
    """Return a dotted name without the spaces and comments in it."""
    names = []
    while node is not None and node.type == "scoped_identifier":
        names.append(unit.text(node.child_by_field_id(tree.NAME)))
        node = node.child_by_field_id(tree.SCOPE)
    if node is not None:
        names.append(unit.text(node))
    return ".".join(reversed(names))


@STATEMENTS("import_declaration")
def _import(unit: Unit, node: Node) -> None:
    """`import a.b.C` is the member C of a.b, a package or class; `import static` brings fields, methods and classes."""
    parts = children(node)
    name = dotted(unit, parts[0])
    is_static = has_token(node, "static")
    if parts[-1].type == "asterisk":
        unit.emit("import_star", MODULE, 0, name)
        unit.static_star |= is_static
        return
    package, _, member = name.rpartition(".")
    value = unit.body.allocation(unit.entity(member, node))
    unit.emit("import_member", value, MODULE, 0, package, member)
    unit.emit("binds", value, MODULE, member, "import")
    unit.names.types.setdefault(member, (value, 0))
    if is_static:
        unit.static_imports.setdefault(member, value)


@STATEMENTS("module_declaration")
def _module(unit: Unit, node: Node) -> None:
    """A module says which packages others may see and which they find: nothing flows by it."""
