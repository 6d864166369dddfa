"""Templates of EJS: `<% code %>`, `<%= escaped %>`, `<%- raw %>`, `<%# comment %>`.

Their code is JavaScript. So the page around it is blanked out, byte by byte, and what is left is read by JavaScript's
extractor: what is printed as a statement in parentheses. Source: the documentation of EJS (https://ejs.co).
"""

import re

from tree_sitter import Node

from facts.file_facts import FileFacts
from facts.function_body import MODULE
from facts.javascript import bodies, handlers, imports  # noqa: F401
from facts.javascript.handler_tables import only_child
from facts.javascript.parse import parse
from facts.javascript.unit import Unit
from facts.row_builder import tail
from facts.source_text import SourceText
from facts.template.page import ESCAPED, RAW
from facts.template.page_places import QUOTED, TEXT, PagePlaces
from facts.tree_walk import deep_recursion

_TAG = re.compile(rb"<%(?!%)([-=_#]?)(.*?)([-_]?%>)", re.DOTALL)
_OLD_INCLUDE = re.compile(rb"\s*include\s+([\w./-]+)\s*")
_LAST_COMMENT = re.compile(rb"(?<![:'\"`])//[^\n'\"`]*\Z")
_NOT_BLANK = re.compile(rb"[^\s]")
_HOW = {b"-": RAW, b"=": ESCAPED}


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    text = SourceText(data)
    text.utf8, printed = _code(text.utf8)
    root = parse("javascript", text.utf8)
    with deep_recursion():
        unit = _Template(root, text, printed)
        imports.directives(unit, root)
        unit.statements(root)
        return unit.finish(bodies.build_next)


def _code(page: bytes) -> tuple[bytes, dict[int, tuple[str, str]]]:
    """Return the code of a template, each piece where it stands; and by place how, and where in the page, it prints."""
    result, printed, places, at = bytearray(_NOT_BLANK.sub(b" ", page)), {}, PagePlaces(), 0
    for tag in _TAG.finditer(page, 0, page.rfind(b"%>") + 2):
        places.text(page[at : tag.start()])
        at, kind, code = tag.end(), tag[1], _LAST_COMMENT.sub(_blank, tag[2])
        if kind == b"#":
            continue
        if old := _OLD_INCLUDE.fullmatch(code):
            code = b"include('" + old[1] + b"');"
            result[tag.start() : tag.start() + len(code)] = code
        elif kind in _HOW:
            printed[tag.start() + 2] = (_HOW[kind], places.place)
            places.printed()
            code = b" ;(" + code.rstrip().removesuffix(b";")
            result[tag.start() : tag.start() + len(code)] = code
            result[tag.end() - 2 : tag.end()] = b");"
        else:
            result[tag.start(2) : tag.end(2)] = code
    return bytes(result), printed


def _blank(found: re.Match) -> bytes:
    return b" " * len(found[0])


class _Template(Unit):
    """The walk over a template's code. `printed` says of statements in parentheses how and where they print."""

    def __init__(self, root: Node, text: SourceText, printed: dict[int, tuple[str, str]]) -> None:
        super().__init__(root, text)
        self.printed = printed
        self.emit("template", MODULE)

    def statement(self, node: Node) -> None:
        """Execute a statement, or print."""
        found = self.printed.get(node.start_byte) if node.type == "expression_statement" else None
        if found is None or node.has_error:
            return super().statement(node)
        self.revive()
        how, place = found
        value = self.value(only_child(only_child(node)))
        print_ = self.body.running(self.entity(tail("print " + self.label(value)), node))
        self.emit("prints", print_, value, how)
        if place not in (TEXT, QUOTED):
            self.emit("printed_in", print_, place)
