"""Parse text to a tree."""

import re

from tree_sitter import Node

from facts.go.tree import GRAMMAR
from facts.tree_sitter_grammar import n_error_bytes

# `new(x)` of a value (since Go 1.26): the grammar knows `new` of types only.
_NEW_OF_VALUE = re.compile(
    rb"""\bnew(?=\(\s*(?:
        (?!(?:func|chan|map|struct|interface)\b)\*?[\w.]+\s*(?:[({]|\[[^\]\n]*\]\s*[.,)]|[-+*/%<>=&|^])
        |\w+\.\w+\.\w
        |(?:map\[[^\]\n]*\]|\[\w*\])[\w.*\[\]]+\s*\{
        |["`'0-9&!-]))""",
    re.VERBOSE,
)
_ANY_NAME = b"neW"


def parse(source: bytes) -> Node:
    """Return the root of a file's tree; every node stands where its text does in `source`."""
    root = GRAMMAR.parser.parse(source).root_node
    if not root.has_error or b"new(" not in source:
        return root
    other = GRAMMAR.parser.parse(_NEW_OF_VALUE.sub(_ANY_NAME, source)).root_node
    return other if n_error_bytes(other) < n_error_bytes(root) else root
