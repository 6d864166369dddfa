"""Operators between two operands as grammars write them: nested to the left, a + b + c, in chains of any length."""

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from facts.instructions import operation
from facts.tree_sitter_grammar import is_broken, part
from facts.tree_walk import Walk


@dataclass(frozen=True)
class Binary:
    """The kinds of nodes that are such operators, and the fields of operands and operator."""

    kinds: frozenset[int]
    left: int
    right: int
    operator: int

    def operator_of(self, node: Node) -> str:
        """Return the text of an operator."""
        return part(node, self.operator).type

    def is_whole(self, node: Node) -> bool:
        """Return True if a node is such an operator, without a syntax error of its own."""
        return node.kind_id in self.kinds and not is_broken(node)

    def operands(self, node: Node) -> list[Node]:
        """Return the operands of a chain of one operator: a && b && c."""
        operator = self.operator_of(node)
        links = self._chain(node, lambda inner: self.operator_of(inner) == operator)
        return [part(links[0], self.left), *(part(link, self.right) for link in links)]

    def evaluate(self, walk: Walk, node: Node, but: frozenset[str] = frozenset()) -> int:
        """Return the value of a chain of operators, `but` some that are evaluated in another way."""
        links = self._chain(node, lambda inner: self.operator_of(inner) not in but)
        value = walk.value(links[0].child_by_field_id(self.left))
        for link in links:
            right = walk.value(link.child_by_field_id(self.right))
            value = operation(walk, self.operator_of(link), [value, right], link)
        return value

    def _chain(self, node: Node, goes_on: Callable[[Node], bool]) -> list[Node]:
        """Return the operators of a chain, the inmost first: no level of calls for each."""
        links = [node]
        while self.is_whole(inner := part(links[-1], self.left)) and goes_on(inner):
            links.append(inner)
        return links[::-1]
