"""Comments that suppress findings, ours (`analyze: ignore[…] reason`) and other tools', in any language's syntax."""

import re

from tree_sitter import Node, Query, QueryCursor

from facts.tree_sitter_grammar import Grammar
from facts.tree_walk import Walk

_OURS = re.compile(r"(?:#|//|/\*+|<!--)\s*analyze:")
_FOREIGN = re.compile(
    r"#\s*noqa\s*:|#\s*nosec\b|#\s*pylint:\s*disable=|\bnosem(?:grep)?\s*:|\bnolint\s*:|\bNOLINT(?:NEXTLINE)?\("
    r"|\beslint-disable-(?:next-)?line\b"
)
_WORDS = re.compile(rb"analyze:|noqa|nosec|nosem|NOLINT|nolint|eslint-disable-|pylint:")


def may_suppress(source: bytes) -> bool:
    """Return True if a text may hold a comment that suppresses findings."""
    return _WORDS.search(source) is not None


def suppresses(comment: str) -> bool:
    """Return True if a comment suppresses findings, of ours or of another tool."""
    return bool(_OURS.match(comment) or _FOREIGN.search(comment))


class Comments:
    """The comments of a language, found by the names of their kinds."""

    def __init__(self, grammar: Grammar, *kinds: str) -> None:
        self._query = Query(grammar.language, f"[{' '.join(f'({kind})' for kind in kinds)}] @comment")

    def of(self, root: Node) -> list[Node]:
        """Return the comments below a node in the order of the text."""
        found = QueryCursor(self._query).captures(root).get("comment", [])
        return sorted(found, key=lambda node: node.start_byte)

    def state_directives(self, walk: Walk, root: Node) -> None:
        """State the comments that speak to the analyser."""
        if not may_suppress(walk.source):
            return
        for comment in self.of(root):
            text = walk.text(comment)
            if suppresses(text):
                line = walk.facts.text.line_of(comment.start_byte)
                walk.emit("directive_comment", line, text.removesuffix("*/").rstrip())
