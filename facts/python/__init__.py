"""The Python extractor: the whole grammar of tree-sitter-python.

`extract` parses, `scopes` finds out what every name means, then one walk over the tree makes the facts. The walk is
split by concern; each module enters its handlers into the tables of `tree` by node kind. `unit` holds the walk's state.
"""

import sys
from contextlib import contextmanager

from facts.filefacts import FileFacts
from facts.python import (  # noqa: F401
    assignments,
    classes,
    comprehensions,
    control,
    exceptions,
    expressions,
    functions,
    imports,
    literals,
    operators,
    patterns,
)
from facts.python.tree import PARSER
from facts.python.unit import FRAMES_PER_LEVEL, MAX_DEPTH, Unit
from facts.text import SourceText

# Calls from Python to Python take no C stack (since 3.11), so that depth costs memory only.
_RECURSION_LIMIT = MAX_DEPTH * FRAMES_PER_LEVEL


def extract(data: bytes) -> FileFacts:
    """Return the facts of a Python file."""
    text = SourceText(data)
    root = PARSER.parse(text.utf8).root_node
    with _deep_recursion():
        unit = Unit(root, text)
        imports.directives(unit, root)
        imports.exports(unit, root)
        unit.statements(root)
        unit.body.finish()
        while unit.waiting:
            functions.build_next(unit)
    return unit.facts.finish()


@contextmanager
def _deep_recursion():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
