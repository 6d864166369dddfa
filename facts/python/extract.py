"""The facts of a Python file, from its bytes."""

from facts.file_facts import FileFacts
from facts.python import functions, handlers, imports  # noqa: F401
from facts.python.parse import parse
from facts.python.unit import Unit
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a Python file."""
    text = SourceText(data)
    root = parse(text.utf8)
    with deep_recursion():
        unit = Unit(root, text)
        imports.COMMENTS.state_directives(unit, root)
        imports.type_comments(unit, root)
        imports.exports(unit, root)
        unit.statements(root)
        return unit.finish(functions.build_next)
