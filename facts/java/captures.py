"""Variables of a body that its lambdas and classes capture: found by name, before the body is walked."""

from bisect import bisect_left

from tree_sitter import Node, Query, QueryCursor

from facts.java import tree
from facts.java.tree import children

_NESTED = Query(
    tree.GRAMMAR.language,
    """
    (lambda_expression) @nested
    (object_creation_expression (class_body) @nested)
    (class_declaration) @nested
    (record_declaration) @nested
    (enum_declaration) @nested
    (interface_declaration) @nested
    """,
)
_MEMBER_LISTS = ("class_body", "interface_body", "enum_body_declarations", "annotation_type_body", "program")
_THIS = tree.kind_ids("this", "super")
_CALL, _ACCESS = tree.kind_ids("method_invocation"), tree.kind_ids("field_access")
_DECLARED = tree.kind_ids("variable_declarator", "formal_parameter", "catch_formal_parameter", "resource")
_LOOP, _PARAMETERS = tree.kind_ids("enhanced_for_statement"), tree.kind_ids("inferred_parameters")


class Captures:
    """The lambdas and local classes of a file, and the names that each takes from around it.

    A name is a variable's, `this`, or a method's with `()` where it is called without an object. Names are taken for
    captured too often rather than too seldom: a class may declare a variable of the same name in one of its methods.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        nested = QueryCursor(_NESTED).captures(root).get("nested", [])
        self._nodes = sorted(filter(_is_nested, nested), key=lambda node: (node.start_byte, -node.end_byte))
        self._starts = [node.start_byte for node in self._nodes]
        self._ids = {node.id for node in self._nodes}
        self._free: dict[int, frozenset[str]] = {}

    def is_nested(self, node: Node) -> bool:
        """Return True for a lambda or a class that stands inside of code."""
        return node.id in self._ids

    def of(self, node: Node) -> frozenset[str]:
        """Return the names that lambdas and classes inside `node` take from it or from around it."""
        found: frozenset[str] = frozenset()
        index = bisect_left(self._starts, node.start_byte)
        end = node.end_byte
        while index < len(self._nodes) and self._starts[index] < end:
            nested = self._nodes[index]
            if nested.id == node.id:
                index += 1
                continue
            found |= self.free(nested)
            index = bisect_left(self._starts, nested.end_byte, index + 1)
        return found

    def free(self, nested: Node) -> frozenset[str]:
        """Return the names that a lambda or class takes from around it."""
        known = self._free.get(nested.id)
        if known is None:
            used, bound = self._names(nested)
            known = (used | self.of(nested)) - (bound if nested.type == "lambda_expression" else {"this"})
            self._free[nested.id] = known
        return known

    def _names(self, nested: Node) -> tuple[set[str], set[str]]:
        """Return the names used in a lambda or class but for those inside, and the names declared there."""
        used, bound, work = set(), set(), self._start(nested)
        if nested.type == "lambda_expression":
            parameters = nested.child_by_field_id(tree.PARAMETERS)
            if parameters is not None and parameters.kind_id == tree.IDENTIFIER:
                bound.add(self._text(parameters))
            elif parameters is not None:
                work.append(parameters)
        while work:
            node = work.pop()
            kind = node.kind_id
            if node.id in self._ids:
                continue
            if kind == tree.IDENTIFIER:
                used.add(self._text(node))
            elif kind in _THIS:
                used.add("this")
            elif kind in _CALL:
                self._call(node, used, work)
            elif kind in _ACCESS:
                work.append(node.child_by_field_id(tree.OBJECT))
            elif kind in _PARAMETERS:
                bound.update(map(self._text, children(node)))
            elif kind in _DECLARED or kind in _LOOP:
                name = node.child_by_field_id(tree.NAME)
                if name is not None:
                    bound.add(self._text(name))
                work.extend(child for child in node.named_children if child != name)
            elif node.named_child_count:
                work.extend(node.named_children)
        return used, bound

    @staticmethod
    def _start(nested: Node) -> list[Node]:
        """Return the parts of a lambda or class that run in it."""
        if nested.type == "class_body":
            return nested.named_children
        body = nested.child_by_field_id(tree.BODY)
        return [] if body is None else [body]

    def _call(self, node: Node, used: set[str], work: list[Node]) -> None:
        name, receiver = node.child_by_field_id(tree.NAME), node.child_by_field_id(tree.OBJECT)
        if receiver is not None:
            work.append(receiver)
        elif name is not None:
            used.add(self._text(name) + "()")
        work.extend(child for child in node.named_children if child not in (name, receiver))

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()


def _is_nested(node: Node) -> bool:
    """Return True if a node is a lambda, or a class that stands inside of code."""
    if node.type in ("lambda_expression", "class_body"):
        return True
    return node.parent is not None and node.parent.type not in _MEMBER_LISTS
