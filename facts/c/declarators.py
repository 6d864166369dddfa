"""Declarators: the name that one declares, and the layers of its type."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from facts.c import tree

VARIABLE, ARRAY, FUNCTION, POINTER = "variable", "array", "function", "pointer"

_LAYERS = {
    **dict.fromkeys(tree.kind_ids("pointer_declarator", "abstract_pointer_declarator"), POINTER),
    **dict.fromkeys(tree.kind_ids("array_declarator", "abstract_array_declarator"), ARRAY),
    **dict.fromkeys(tree.kind_ids("function_declarator", "abstract_function_declarator"), FUNCTION),
}
_WRAPPERS = tree.kind_ids("parenthesized_declarator", "abstract_parenthesized_declarator", "attributed_declarator")
_INITIALIZED = tree.kind_ids("init_declarator")
_NAMES = tree.kind_ids("identifier", "type_identifier", "field_identifier", "primitive_type")


@dataclass
class Declared:
    """The declaration of a declarator: `place` is the node of its name, None without one.

    `layers` are kind and node of what is wrapped around the base type, from that outwards: `char *a[3]` is an array
    (last) of pointers (first).
    """

    name: str
    place: Node | None
    layers: list[tuple[str, Node]]
    value: Node | None

    @property
    def form(self) -> str:
        """ARRAY or FUNCTION where the name is one, VARIABLE otherwise."""
        last = self.layers[-1][0] if self.layers else VARIABLE
        return VARIABLE if last == POINTER else last

    @property
    def rank(self) -> int:
        """The number of dimensions of an array."""
        rank = 0
        while rank < len(self.layers) and self.layers[-1 - rank][0] == ARRAY:
            rank += 1
        return rank


def declared(node: Node | None, source: bytes) -> Declared:
    """Return what a declarator, abstract ones included, declares."""
    layers: list[tuple[str, Node]] = []
    value = None
    while node is not None and node.kind_id not in _NAMES:
        inner = node.child_by_field_id(tree.DECLARATOR)
        if node.kind_id in _LAYERS:
            layers.append((_LAYERS[node.kind_id], node))
        elif node.kind_id in _INITIALIZED:
            value = node.child_by_field_id(tree.VALUE)
        elif node.kind_id in _WRAPPERS:
            inner = next((child for child in tree.children(node) if child.type != "ms_call_modifier"), None)
        node = inner
    name = source[node.start_byte : node.end_byte].decode() if node is not None else ""
    return Declared(name, node, layers, value)


_MODIFIERS = tree.kind_ids("storage_class_specifier", "type_qualifier")


def modifiers(node: Node, source: bytes) -> list[str]:
    """Return the storage classes and qualifiers of a declaration, as written."""
    found = (child for child in node.named_children if child.kind_id in _MODIFIERS)
    return [source[child.start_byte : child.end_byte].decode() for child in found]


def has_word(node: Node, word: str) -> bool:
    """Return True if a storage class or qualifier stands in a declaration."""
    return any(
        child.kind_id in _MODIFIERS and any(token.type == word for token in child.children)
        for child in node.named_children
    )


# `__attribute__((noreturn))`, `_Noreturn`, `[[noreturn]]`, `G_GNUC_NORETURN`, `__dead`
_NEVER_RETURNS = re.compile(rb"(?i)no_?return|\b__dead2?\b")


def never_returns(node: Node, written: bytes) -> bool:
    """Return True if an attribute of the declaration, or a macro in it, says that the function does not come back."""
    before = node.prev_sibling
    return bool(_NEVER_RETURNS.search(written, before.end_byte if before is not None else 0, node.end_byte))
