"""Finds what every scope of a file declares and uses, before the walk."""

from collections.abc import Callable

from tree_sitter import Node

from facts.javascript.handler_tables import Tables, children, field, only_child
from facts.javascript.scopes import ARROW, BLOCK, FUNCTION, Name, Scope, Scopes
from facts.tree_sitter_grammar import Handlers

COLLECT = Tables()


class Collector:
    """The scopes of a file while they are collected."""

    def __init__(self, source: bytes, handlers: Handlers) -> None:
        self.source = source
        self.scopes = Scopes()
        self._handlers = handlers
        self._work: list[tuple[Node, Scope]] = []

    def collect(self, root: Node, complete: Callable[[Scopes], None]) -> Scopes:
        """Return the scopes of the tree below `root`; `complete` may declare more before names get their meaning."""
        work, handlers = self._work, self._handlers
        work.append((root, self.scopes.module))
        while work:
            node, scope = work.pop()
            handler = handlers.get(node.kind_id)
            if handler is not None:
                handler(self, node, scope)
            elif node.named_child_count:
                work.extend([(child, scope) for child in node.named_children])
        complete(self.scopes)
        self.scopes.settle()
        return self.scopes

    def text(self, node: Node | None) -> str:
        """Return the text of a node; nothing for one that is missing in broken code."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode()

    def visit(self, node: Node | None, scope: Scope) -> None:
        """Collect what is in `node` too, as part of `scope`."""
        if node is not None:
            self._work.append((node, scope))

    def visit_children(self, node: Node | None, scope: Scope) -> None:
        """Collect what is in the children of `node`, as part of `scope`."""
        for child in node.named_children if node is not None else ():
            self._work.append((child, scope))

    def declare(self, node: Node | None, scope: Scope, kind: str = "") -> None:
        """Declare the names in a binding pattern."""
        self.pattern(node, scope, lambda name: scope.declare(name, kind))

    def assign(self, node: Node | None, scope: Scope) -> None:
        """Note the names that a target assigns to, and what it reads."""
        self.pattern(node, scope, scope.assigned.add)

    def update(self, node: Node | None, scope: Scope) -> None:
        """Note the names that a target reads and assigns to, and what else it reads."""

        def take(name: str) -> None:
            scope.assigned.add(name)
            scope.used.add(name)

        self.pattern(node, scope, take)

    def pattern(self, node: Node | None, scope: Scope, take: Callable[[str], object]) -> None:
        """Hand the names that a pattern binds to `take`; what else stands in it is read."""
        kind = node.type if node is not None else ""
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            take(self.text(node))
        elif kind in _PATTERNS:
            for child in children(node):
                self.pattern(child, scope, take)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            self.pattern(field(node, "left"), scope, take)
            self.visit(field(node, "right"), scope)
        elif kind == "pair_pattern":
            self.visit(field(node, "key"), scope)
            self.pattern(field(node, "value"), scope, take)
        elif kind in ("as_expression", "satisfies_expression"):
            target, *declared = children(node)
            self.pattern(target, scope, take)
            for part in declared:
                self.visit(part, scope)
        elif kind not in ("", "undefined", "this"):
            self.visit(node, scope)


_PATTERNS = frozenset(
    {"object_pattern", "array_pattern", "rest_pattern", "parenthesized_expression", "non_null_expression"}
)


def collect(
    root: Node, source: bytes, language: str, complete: Callable[[Scopes], None] = lambda scopes: None
) -> Scopes:
    """Return the scopes of a file; `complete` may declare more."""
    return Collector(source, COLLECT[language]).collect(root, complete)


@COLLECT("identifier", "shorthand_property_identifier")
def _use(found: Collector, node: Node, scope: Scope) -> None:
    scope.used.add(found.text(node))


@COLLECT("this", "super", "this_type")
def _this(found: Collector, node: Node, scope: Scope) -> None:
    scope.used.add("this")


@COLLECT("type_identifier")
def _use_type(found: Collector, node: Node, scope: Scope) -> None:
    scope.used_types.add(found.text(node))


@COLLECT("nested_type_identifier", "nested_identifier")
def _nested(found: Collector, node: Node, scope: Scope) -> None:
    while node is not None and node.type != "identifier":
        node = only_child(node)
    if node is not None:
        _use_type(found, node, scope)


@COLLECT("export_specifier")
def _export_specifier(found: Collector, node: Node, scope: Scope) -> None:
    found.visit(field(node, "name"), scope)


@COLLECT("jsx_namespace_name", "namespace_export")
def _nothing(found: Collector, node: Node, scope: Scope) -> None:
    """These hold names that are no variables."""


@COLLECT("variable_declaration", "lexical_declaration", "using_declaration")
def _declaration(found: Collector, node: Node, scope: Scope) -> None:
    kind = "var" if node.type == "variable_declaration" else ""
    for child in children(node):
        found.declare(field(child, "name"), scope, kind)
        found.visit(field(child, "type"), scope)
        found.visit(field(child, "value"), scope)


@COLLECT("assignment_expression", "augmented_assignment_expression")
def _assignment(found: Collector, node: Node, scope: Scope) -> None:
    note = found.assign if node.type == "assignment_expression" else found.update
    note(field(node, "left"), scope)
    found.visit(field(node, "right"), scope)


@COLLECT("update_expression")
def _update(found: Collector, node: Node, scope: Scope) -> None:
    found.update(field(node, "argument"), scope)


@COLLECT("import_clause", "import_require_clause", "import_alias")
def _import(found: Collector, node: Node, scope: Scope) -> None:
    for child in children(node):
        if child.type == "identifier":
            scope.declare(found.text(child), "import")
        elif child.type == "namespace_import":
            found.declare(only_child(child), scope, "import")
        elif child.type == "named_imports":
            for name in children(child):
                found.declare(field(name, "alias") or field(name, "name"), scope, "import")
        else:
            found.visit(child, scope)


# ---- Blocks


@COLLECT("statement_block", "for_statement", "switch_body")
def _block(found: Collector, node: Node, scope: Scope) -> None:
    found.visit_children(node, found.scopes.open(BLOCK, node, scope))


@COLLECT("for_in_statement")
def _for_in(found: Collector, node: Node, scope: Scope) -> None:
    inner = found.scopes.open(BLOCK, node, scope)
    kind, left = field(node, "kind"), field(node, "left")
    if kind is None:
        found.assign(left, inner)
    else:
        found.declare(left, inner, "var" if kind.type == "var" else "")
    for name in ("value", "right", "body"):
        found.visit(field(node, name), inner)


@COLLECT("catch_clause")
def _catch(found: Collector, node: Node, scope: Scope) -> None:
    inner = found.scopes.open(BLOCK, node, scope)
    found.declare(field(node, "parameter"), inner)
    found.visit(field(node, "type"), inner)
    found.visit(field(node, "body"), inner)


# ---- Functions


@COLLECT("function_declaration", "generator_function_declaration", "function_signature")
def _function_declaration(found: Collector, node: Node, scope: Scope) -> None:
    found.declare(field(node, "name"), scope, "function")
    _function(found, node, scope, FUNCTION)


@COLLECT("function_expression", "generator_function")
def _function_expression(found: Collector, node: Node, scope: Scope) -> None:
    inner, name = _function(found, node, scope, FUNCTION), field(node, "name")
    if name is not None:
        inner.values.setdefault(found.text(name), Name(found.text(name), "self"))


@COLLECT("arrow_function")
def _arrow(found: Collector, node: Node, scope: Scope) -> None:
    _function(found, node, scope, ARROW)


@COLLECT("method_definition")
def collect_method(found: Collector, node: Node, scope: Scope) -> None:
    """Collect a method: its name and decorators stand outside of it."""
    found.visit(field(node, "name"), scope)
    for child in node.children_by_field_name("decorator"):
        found.visit(child, scope)
    _function(found, node, scope, FUNCTION)


def _function(found: Collector, node: Node, scope: Scope, kind: str) -> Scope:
    outer = type_scope(found, node, scope)
    inner = found.scopes.open(kind, node, outer)
    parameters = children(field(node, "parameters")) or [field(node, "parameter")]
    for parameter in parameters:
        _parameter(found, parameter, inner, outer)
    found.visit(field(node, "return_type"), outer)
    code = field(node, "body")
    if code is not None and code.type == "statement_block":
        found.visit_children(code, inner)
    else:
        found.visit(code, inner)
    return inner


def _parameter(found: Collector, node: Node | None, inner: Scope, outer: Scope) -> None:
    if node is None or node.type not in ("required_parameter", "optional_parameter"):
        found.declare(node, inner)
        return
    found.declare(field(node, "pattern") or field(node, "name"), inner)
    if any(child.type in ("accessibility_modifier", "override_modifier", "readonly") for child in node.children):
        inner.used.add("this")  # The parameter is a property, too.
    found.visit(field(node, "type"), outer)
    found.visit(field(node, "value"), inner)
    for child in node.children_by_field_name("decorator"):
        found.visit(child, outer)


def type_scope(found: Collector, node: Node, scope: Scope) -> Scope:
    """Return the scope that holds a definition's type parameters: the present one if there are none."""
    parameters = field(node, "type_parameters")
    if parameters is None:
        return scope
    inner = found.scopes.open(BLOCK, parameters, scope)
    for parameter in children(parameters):
        inner.declare_type(found.text(field(parameter, "name")))
        found.visit(field(parameter, "constraint"), inner)
        found.visit(field(parameter, "value"), inner)
    return inner
