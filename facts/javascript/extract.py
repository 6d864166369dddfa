"""The facts of a file of JavaScript, TypeScript or TSX, from its bytes."""

from tree_sitter import Node

from facts.file_facts import FileFacts
from facts.javascript import bodies, handlers, imports  # noqa: F401
from facts.javascript.parse import parse, parse_annotated
from facts.javascript.unit import Tsx, Unit
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a JavaScript file; of one with type annotations, as those of Flow, in TypeScript."""
    text = SourceText(data)
    root = parse(Unit.LANGUAGE, text.utf8)
    annotated = parse_annotated(text.utf8, root)
    return _facts_of(Unit, root, text) if annotated is None else _facts_of(Tsx, annotated, text)


def extract_with(dialect: type[Unit], data: bytes) -> FileFacts:
    """Return the facts of a file in a dialect."""
    text = SourceText(data)
    return _facts_of(dialect, parse(dialect.LANGUAGE, text.utf8), text)


def extract_pieces(text: SourceText) -> FileFacts:
    """Return the facts of the JavaScript that a text was put together of."""
    return _facts_of(Unit, parse(Unit.LANGUAGE, text.utf8), text)


def _facts_of(dialect: type[Unit], root: Node, text: SourceText) -> FileFacts:
    with deep_recursion():
        unit = dialect(root, text)
        imports.directives(unit, root)
        unit.statements(root)
        imports.state_exports(unit)
        return unit.finish(bodies.build_next)
