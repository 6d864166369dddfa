"""Includes and other directives."""

from tree_sitter import Node

from facts.c import tree
from facts.c.tree import STATEMENTS
from facts.c.unit import Unit
from facts.function_body import MODULE
from facts.suppression_comments import Comments

COMMENTS = Comments(tree.GRAMMAR, "comment")


@STATEMENTS("preproc_include")
def _include(unit: Unit, node: Node) -> None:
    """`#include`: level 1 looks beside the file first (quotes), level 0 does not; a macro's name stays as written."""
    path = node.child_by_field_id(tree.PATH)
    text = unit.text(path)
    level = 1 if path.type == "string_literal" else 0
    unit.emit("import_star", MODULE, level, text[1:-1] if text[:1] in ('"', "<") else text)


@STATEMENTS("preproc_call")
def _directive(unit: Unit, node: Node) -> None:
    """`#pragma`, `#undef`, `#error` and `#line` compute nothing."""
