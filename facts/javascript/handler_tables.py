"""The grammars of JavaScript, TypeScript and TSX, and tables of handlers that are entered in all of them by kind name.

The grammars number kinds and fields each in its own way, so handlers name fields and kinds; only the tables that
handlers are found in are by number.
"""

from collections.abc import Callable

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Node

from facts.tree_sitter_grammar import Grammar, Handlers

GRAMMARS = {
    "javascript": Grammar(tree_sitter_javascript.language(), "comment", "html_comment"),
    "typescript": Grammar(tree_sitter_typescript.language_typescript(), "comment", "html_comment"),
    "tsx": Grammar(tree_sitter_typescript.language_tsx(), "comment", "html_comment"),
}


class Tables(dict):
    """A table of handlers for each grammar, by the name of its language. A handler enters those that have its kind."""

    def __init__(self) -> None:
        super().__init__({name: Handlers(grammar) for name, grammar in GRAMMARS.items()})
        self._kinds = {name: grammar.names() for name, grammar in GRAMMARS.items()}

    def __call__(self, *names: str) -> Callable[[Callable], Callable]:
        assert set(names) <= set().union(*self._kinds.values()), names

        def enter(handler: Callable) -> Callable:
            for language, table in self.items():
                table(*(name for name in names if name in self._kinds[language]))(handler)
            return handler

        return enter


STATEMENTS, EXPRESSIONS = Tables(), Tables()

_COMMENTS = ("comment", "html_comment")


def field(node: Node, name: str) -> Node | None:
    """Return the child in a field, None if there is none."""
    return node.child_by_field_name(name)


def children(node: Node | None) -> list[Node]:
    """Return the named children that carry meaning."""
    if node is None:
        return []
    return [child for child in node.named_children if child.type not in _COMMENTS]


def only_child(node: Node | None) -> Node | None:
    """Return the first named child that carries meaning, None if there is none."""
    for child in node.named_children if node is not None else ():
        if child.type not in _COMMENTS:
            return child
    return None


def child_of_type(node: Node | None, *types: str) -> Node | None:
    """Return the first child of one of these kinds, None if there is none."""
    return next((child for child in node.named_children if child.type in types), None) if node else None


def tokens(node: Node) -> list[str]:
    """Return the direct children that are plain text, such as `async`, `static` and `*`."""
    return [child.type for child in node.children if not child.is_named]
