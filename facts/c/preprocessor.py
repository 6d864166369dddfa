"""Includes, other directives, and comments that speak to the analyser."""

import re

from tree_sitter import Node, Query, QueryCursor

from facts.body import MODULE
from facts.c import tree
from facts.c.tree import STATEMENTS
from facts.c.unit import Unit

_COMMENTS = Query(tree.GRAMMAR.language, "(comment) @comment")
_DIRECTIVE = re.compile(r"/[/*]\s*analyze:")


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


def directives(unit: Unit, root: Node) -> None:
    """State the comments that speak to the analyser."""
    if b"analyze:" not in unit.source:
        return
    comments = QueryCursor(_COMMENTS).captures(root).get("comment", [])
    for comment in sorted(comments, key=lambda node: node.start_byte):
        text = unit.text(comment)
        if _DIRECTIVE.match(text):
            unit.emit("directive_comment", unit.facts.text.line_of(comment.start_byte), text)
