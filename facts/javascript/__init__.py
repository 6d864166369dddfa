"""The extractor of JavaScript, TypeScript and TSX: the whole grammars of tree-sitter-javascript and -typescript.

`extract` parses, `declared_names` finds out what every scope declares, then one walk over the tree makes the facts. The
walk is split by concern; each module enters its handlers into the tables of `tree` by node kind, in all grammars that
have it. `unit` holds the walk's state. The packages of the dialects name their class of it.
"""

from facts.file_facts import FileFacts
from facts.javascript import (  # noqa: F401
    assignments,
    bodies,
    calls,
    classes,
    control,
    declared_types,
    exceptions,
    expressions,
    functions,
    imports,
    literals,
    markup,
    names,
    namespaces,
    operators,
    type_values,
)
from facts.javascript.parse import parse
from facts.javascript.unit import Unit
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion


def extract(data: bytes) -> FileFacts:
    """Return the facts of a JavaScript file."""
    return extract_with(Unit, data)


def extract_with(dialect: type[Unit], data: bytes) -> FileFacts:
    """Return the facts of a file in a dialect."""
    text = SourceText(data)
    root = parse(dialect.LANGUAGE, text.utf8)
    with deep_recursion():
        unit = dialect(root, text)
        imports.directives(unit, root)
        unit.statements(root)
        imports.state_exports(unit)
        unit.body.finish()
        while unit.waiting:
            bodies.build_next(unit)
    return unit.facts.finish()
