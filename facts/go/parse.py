"""Parse text to a tree."""

import re

from tree_sitter import Node

from facts.go.tree import GRAMMAR

# `new(x)` of a value (since Go 1.26): the grammar knows `new` of types only.
_NEW_OF_VALUE = re.compile(
    rb"\bnew(?=\(\s*(?:(?!(?:func|chan|map|struct|interface)\b)[\w.]+\s*(?:\(|\[[^\]\n]*\]\s*[.,)]|[-+*/%<>=&|^])|[\"`'0-9&!-]))"
)
_ANY_NAME = b"neW"


def parse(source: bytes) -> Node:
    """Return the root of a file's tree; every node stands where its text does in `source`."""
    root = GRAMMAR.parser.parse(source).root_node
    if not root.has_error or b"new(" not in source:
        return root
    other = GRAMMAR.parser.parse(_NEW_OF_VALUE.sub(_ANY_NAME, source)).root_node
    return other if _n_errors(other) < _n_errors(root) else root


def _n_errors(root: Node) -> int:
    """Return how many bytes stand in syntax errors, counting what is missing as one."""
    count, work = 0, [root]
    while work:
        node = work.pop()
        if node.is_error or node.is_missing:
            count += node.end_byte - node.start_byte + 1
        elif node.has_error:
            work += node.children
    return count
