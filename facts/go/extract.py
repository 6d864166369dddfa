"""The facts of a Go file, from its bytes."""

from facts.file_facts import FileFacts
from facts.go import (  # noqa: F401
    assignments,
    calls,
    channels,
    classes,
    composites,
    control,
    declarations,
    expressions,
    functions,
    imports,
    literals,
    operators,
    statements,
    switches,
    type_values,
)
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
        unit.body.finish()
        while unit.waiting:
            functions.build_next(unit)
    return unit.facts.finish()
