"""Usage of variables: shared with closures, assigned by them, or with their address taken.

Names are resolved as the language does (Go specification, Declarations and scope). Only declarations that hold a
closure or take an address are gone through: elsewhere every variable belongs to its function alone.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from facts.go import tree
from facts.go.tree import children

_INTERESTING = Query(
    tree.GRAMMAR.language,
    '[(func_literal) (unary_expression operator: "&" operand: [(identifier) (parenthesized_expression)])] @node',
)


@dataclass
class Use:
    """The use of a variable: read or assigned by another body (`shared`), assigned there or by pointer (`rebound`)."""

    shared: bool = False
    rebound: bool = False


@dataclass
class _Scope:
    names: dict[str, int] = field(default_factory=dict)
    # The closures and the function around, from the outermost on, by where they start.
    bodies: tuple[int, ...] = ()


class Usage:
    """Uses of a file's variables by place of declaration, and the captures of each closure by its start."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        found = QueryCursor(_INTERESTING).captures(root).get("node", [])
        self._starts = sorted(node.start_byte for node in found)
        self.of: dict[int, Use] = defaultdict(Use)
        self.captured: dict[int, dict[int, None]] = defaultdict(dict)
        self._scopes: list[_Scope] = [_Scope()]
        if self._starts:
            for declaration in children(root):
                if self._is_interesting(declaration):
                    self._visit(declaration)

    def _is_interesting(self, node: Node) -> bool:
        index = bisect_left(self._starts, node.start_byte)
        return index < len(self._starts) and self._starts[index] < node.end_byte

    # ---- Names

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()

    def _open(self, *bodies: int) -> None:
        self._scopes.append(_Scope(bodies=(*self._scopes[-1].bodies, *bodies)))

    def _declare(self, node: Node) -> None:
        name = self._text(node)
        if node.kind_id in tree.IDENTIFIER and name != "_":
            self._scopes[-1].names[name] = node.start_byte

    def _use(self, node: Node, *, assigned: bool = False, addressed: bool = False) -> None:
        name = self._text(node)
        for scope in reversed(self._scopes):
            declared = scope.names.get(name)
            if declared is not None:
                break
        else:
            return
        inner = self._scopes[-1].bodies[len(scope.bodies) :]
        if inner or addressed:
            use = self.of[declared]
            use.shared = True
            use.rebound |= assigned or addressed
            for body in inner:
                self.captured[body][declared] = None

    # ---- Nodes

    def _visit(self, node: Node | None) -> None:
        if node is None:
            return
        if node.kind_id in tree.IDENTIFIER:
            self._use(node)
        elif (handler := _VISITS.get(node.type)) is not None:
            handler(self, node)
        elif node.named_child_count:
            self._parts(node)

    def _parts(self, node: Node) -> None:
        for child in children(node):
            self._visit(child)

    def _block(self, node: Node) -> None:
        self._open()
        self._parts(node)
        self._scopes.pop()

    def _function(self, node: Node) -> None:
        self._open(node.start_byte)
        for part in (tree.RECEIVER, tree.PARAMETERS, tree.RESULT):
            self._parameters(node.child_by_field_id(part))
        body = node.child_by_field_id(tree.BODY)
        if body is not None:
            self._parts(body)
        self._scopes.pop()

    def _parameters(self, node: Node | None) -> None:
        if node is None or node.type != "parameter_list":
            return
        for parameter in children(node):
            for name in tree.with_fields(parameter, tree.NAME):
                self._declare(name)

    def _targets(self, left: Node | None, declares: bool) -> None:
        for target in tree.listed(left):
            plain = tree.inside(target)
            if plain is None or plain.kind_id not in tree.IDENTIFIER:
                self._visit(target)
            elif declares and self._text(plain) not in self._scopes[-1].names:
                self._declare(plain)
            else:
                self._use(plain, assigned=True)

    def _assignment(self, node: Node) -> None:
        self._visit(node.child_by_field_id(tree.RIGHT))
        declares = any(child.type == ":=" for child in node.children)
        self._targets(node.child_by_field_id(tree.LEFT), declares)

    def _update(self, node: Node) -> None:
        self._targets(tree.only_child(node), declares=False)

    def _declaration(self, node: Node) -> None:
        self._visit(node.child_by_field_id(tree.TYPE))
        self._visit(node.child_by_field_id(tree.VALUE))
        for name in tree.with_fields(node, tree.NAME):
            self._declare(name)

    def _type(self, node: Node) -> None:
        self._visit(node.child_by_field_id(tree.TYPE))

    def _selector(self, node: Node) -> None:
        self._visit(node.child_by_field_id(tree.OPERAND))

    def _unary(self, node: Node) -> None:
        operand = node.child_by_field_id(tree.OPERAND)
        plain = tree.inside(operand)
        if tree.operator_of(node) == "&" and plain is not None and plain.kind_id in tree.IDENTIFIER:
            self._use(plain, addressed=True)
        else:
            self._visit(operand)

    def _type_switch(self, node: Node) -> None:
        self._open()
        self._visit(node.child_by_field_id(tree.INITIALIZER))
        self._visit(node.child_by_field_id(tree.VALUE))
        aliases = tree.listed(node.child_by_field_id(tree.ALIAS))
        for case in children(node):
            if case.type in ("type_case", "default_case"):
                self._open()
                for alias in aliases:
                    self._declare(alias)
                self._parts(case)
                self._scopes.pop()
        self._scopes.pop()


_VISITS: dict[str, Callable[[Usage, Node], None]] = {
    **dict.fromkeys(("function_declaration", "method_declaration", "func_literal"), Usage._function),
    **dict.fromkeys(
        (
            "block", "if_statement", "for_statement", "expression_switch_statement", "select_statement",
            "expression_case", "default_case", "communication_case",
        ),
        Usage._block,
    ),
    **dict.fromkeys(
        ("assignment_statement", "short_var_declaration", "range_clause", "receive_statement"), Usage._assignment
    ),
    **dict.fromkeys(("inc_statement", "dec_statement"), Usage._update),
    **dict.fromkeys(("var_spec", "const_spec"), Usage._declaration),
    **dict.fromkeys(("type_spec", "type_alias"), Usage._type),
    "selector_expression": Usage._selector,
    "unary_expression": Usage._unary,
    "type_switch_statement": Usage._type_switch,
}  # fmt: skip
