"""The facts of a Go file, from its bytes."""

from facts.file_facts import FileFacts
from facts.go import functions, handlers, imports  # noqa: F401
from facts.go.parse import parse
from facts.go.unit import Unit
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a Go file."""
    text = SourceText(data)
    root = parse(text.utf8)
    with deep_recursion():
        unit = Unit(root, text)
        imports.COMMENTS.state_directives(unit, root)
        unit.statements(root)
        return unit.finish(functions.build_next)
