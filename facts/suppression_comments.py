"""Comments that suppress findings, in the comment syntax of any language."""

from tree_sitter import Node, Query, QueryCursor

from facts.suppression_patterns import may_suppress, suppresses
from facts.tree_sitter_grammar import Grammar
from facts.tree_walk import Walk


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
