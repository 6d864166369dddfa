"""Parses files, and mends what the grammar does not know, without moving anything.

What is put in place is as long as what it stands for, and texts are read from the file itself. Files that parse are
left alone.
"""

import re

from tree_sitter import Node

from facts.python.tree import GRAMMAR
from facts.tree_sitter_grammar import n_error_bytes

# class A[T: B = int]: defaults of type parameters (PEP 696). They are read as parts of the bound.
_PARAMETERS = re.compile(rb"\b(?:class|def|type)\s+\w+\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
_DEFAULT = re.compile(rb"(:(?:[^\[\](),=]|[\[(][^\[\]()]*[\])])*)?=")


def parse(source: bytes) -> Node:
    """Return the root of a file's tree; every node stands where its text does in `source`."""
    root = GRAMMAR.parser.parse(source).root_node
    if not root.has_error:
        return root
    mended = _PARAMETERS.sub(lambda parameters: _DEFAULT.sub(_as_bound, parameters[0]), source)
    if mended == source:
        return root
    other = GRAMMAR.parser.parse(mended).root_node
    return other if n_error_bytes(other) < n_error_bytes(root) else root


def _as_bound(match: re.Match[bytes]) -> bytes:
    return match[1] + b"|" if match[1] else b":"
