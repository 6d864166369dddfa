"""The Go extractor: the whole grammar of tree-sitter-go.

`parse` gives the tree, `scopes` holds what names mean, `captures` finds which variables closures share and whose
address is taken; then one walk over the tree makes the facts. The walk is split by concern; each module enters its
handlers into the tables of `tree` by node kind. `unit` holds the walk's state, `places` tells what can be stored to.
"""

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
