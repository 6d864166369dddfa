"""Parses files, and mends what a grammar does not know, without moving anything.

What is put in place is as long as what it stands for, and texts are read from the file itself: only kinds of nodes come
from the mended text. Files that parse are left alone.
"""

import re

from tree_sitter import Node

from facts.javascript.tables import GRAMMARS

# Reserved words as names of attributes, in JSX: <label class="a" for="b">. The grammar of TSX takes them.
_ATTRIBUTE = re.compile(
    rb"(?<=\s)(?:class|for|default|in|if|else|new|this|import|export|var|function|return|with|typeof|delete|super)(?==[\"'{])"
)
_TYPE_STAR = re.compile(rb"(?<=\bexport)(\s+)type(?=\s+\*)")
_VARIANCE = re.compile(rb"(?<=[<,])(\s*)(?:in\s+out|in|out)(?=\s+[A-Z])")


def parse(language: str, text: bytes) -> Node:
    """Return the root of the tree of a file."""
    parser = GRAMMARS[language].parser
    root = parser.parse(text).root_node
    if not root.has_error:
        return root
    if language == "javascript":
        mended = _ATTRIBUTE.sub(lambda match: b"x" * len(match[0]), text)
    else:
        mended = _VARIANCE.sub(_blank, _TYPE_STAR.sub(_blank, text))
    return root if mended == text else parser.parse(mended).root_node


def _blank(match: re.Match) -> bytes:
    """Return spaces for the words; line ends stay."""
    return re.sub(rb"\S", b" ", match[0])
