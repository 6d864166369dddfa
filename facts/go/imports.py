"""Package clauses and imports."""

import re

from tree_sitter import Node

from facts.function_body import MODULE
from facts.go import tree
from facts.go.literals import text_of
from facts.go.scopes import IMPORT
from facts.go.tree import STATEMENTS, only_child
from facts.go.unit import Unit
from facts.suppression_comments import Comments

COMMENTS = Comments(tree.GRAMMAR, "comment")
_VERSION = re.compile(r"v[0-9]+")
# The level of an import that is no import: the names of the package's other files are known without one.
OWN_PACKAGE = 1


@STATEMENTS("package_clause")
def _package(unit: Unit, node: Node) -> None:
    name = only_child(node)
    if name is not None:
        unit.emit("import_star", MODULE, OWN_PACKAGE, unit.text(name))


@STATEMENTS("import_declaration", "import_spec_list")
def _imports(unit: Unit, node: Node) -> None:
    unit.statements(node)


@STATEMENTS("import_spec")
def _import(unit: Unit, node: Node) -> None:
    """`import "a/b"` binds the name of the package: its last part, unless another name is given."""
    path, name = node.child_by_field_id(tree.PATH), node.child_by_field_id(tree.NAME)
    imported = text_of(unit, path)
    if name is not None and name.type == "dot":
        unit.emit("import_star", MODULE, 0, imported)
        return
    bound = unit.text(name) if name is not None else _package_name(unit, imported)
    value = unit.body.allocation(unit.entity(bound if bound != "_" else imported, node))
    unit.emit("import_module", value, MODULE, 0, imported)
    if bound != "_":
        unit.file.add(bound, IMPORT)
        unit.bind(unit.file.names[bound], value, "import")


def _package_name(unit: Unit, path: str) -> str:
    """Return the name that a package most likely has: of the parts of its path, that which the file uses.

    A directory `v2` may be a package of that name or a major version, and a package may be named like its project.
    """
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        version = parts.pop()
        if _uses_member(unit, version):
            return version
    last = re.sub(r"\.v[0-9]+$", "", parts[-1]) if parts else path
    names = [last, last.removeprefix("go-"), last.removesuffix("-go"), last.removesuffix(".go")]
    names += [last.replace("-", ""), last.replace("-", "_"), *re.split(r"[-.]", last)]
    names = [name for name in names if name.isidentifier()]
    for name in names:
        if re.search(rf"\b{name}\s*\.".encode(), unit.source):
            return name
    around = (part for part in reversed(parts[:-1]) if part.isidentifier() and _uses_member(unit, part))
    return next(around, names[0] if names else "_")


def _uses_member(unit: Unit, name: str) -> bool:
    """Return True if the file has `name.Member`, as of a package."""
    return re.search(rf"(?<![\w.]){name}\.[A-Z]".encode(), unit.source) is not None
