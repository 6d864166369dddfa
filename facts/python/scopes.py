"""Scopes of a Python file: which names each binds, and which variable a name means (the language reference, 4.2)."""

from dataclasses import dataclass, field

from tree_sitter import Node

from facts.function_body import Variable
from facts.python import tree
from facts.python.tree import children
from facts.tree_sitter_grammar import Handlers

MODULE, FUNCTION, CLASS, COMPREHENSION = "module", "function", "class", "comprehension"


@dataclass(eq=False)
class Scope:
    """A module, function (a lambda too), class or comprehension, and the names in it.

    A comprehension's variables live in the body around it; a class body runs inside the body around it. `captures` are
    the variables of enclosing bodies that this function, or what it holds, reads or binds. `frame` is the module or
    function that runs the scope's code, `body` the module, function or class that holds its variables.
    """

    kind: str
    parent: "Scope | None" = None
    name: str = ""
    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)
    captures: dict[Variable, None] = field(default_factory=dict)
    yields: bool = False
    star_import: bool = False
    entity: int = 0
    # The names that the walk has bound so far, in order.
    assigned: dict[str, None] = field(default_factory=dict)
    _meanings: dict[str, Variable | None] = field(default_factory=dict)
    _owners: dict[str, "Scope | None"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frame: Scope = self.parent.frame if self.kind in (CLASS, COMPREHENSION) else self
        self.body: Scope = self.parent.body if self.kind == COMPREHENSION else self

    def meaning(self, name: str) -> Variable | None:
        """Return the variable that `name` means here; None if nothing in the file binds it."""
        if name not in self._meanings:
            owner = self.resolve(name)
            self._meanings[name] = owner and owner.variable(name)
        return self._meanings[name]

    def variable(self, name: str) -> Variable:
        """Return this scope's own variable `name`."""
        variable = self.variables.get(name)
        if variable is None:
            variable = self.variables[name] = Variable(name, shared=self.kind == MODULE)
        variable.owner = self.body.entity
        return variable

    def mangled(self, name: str) -> str:
        """Return the name of an attribute as objects have it: private names carry the name of the class around them."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        scope = self
        while scope is not None and scope.kind != CLASS:
            scope = scope.parent
        return name if scope is None or not scope.name.strip("_") else f"_{scope.name.lstrip('_')}{name}"

    def resolve(self, name: str) -> "Scope | None":
        """Return the scope whose variable `name` means here; None if nothing in the file binds it."""
        if name in self.bound and name not in self.globals and name not in self.nonlocals:
            return self
        scope = self.parent
        if name in self.globals:
            while scope is not None and scope.parent is not None:
                scope = scope.parent
            return scope if scope is not None and name in scope.bound else None
        owner, passed = None, []
        while scope is not None:
            if scope.kind != CLASS:
                if name in scope._owners:
                    owner = scope._owners[name]
                    break
                if name in scope.bound or name in scope.globals:
                    owner = scope.resolve(name)
                    break
                passed.append(scope)
            scope = scope.parent
        for scope in passed:
            scope._owners[name] = owner
        return owner


class Scopes:
    """The scopes of a file by the node that opens each."""

    def __init__(self, root: Node, source: bytes) -> None:
        self.source = source
        self.module = Scope(MODULE)
        self.of_node: dict[int, Scope] = {}
        self._work: list[tuple[Node, Scope]] = [(root, self.module)]
        self._collect()
        for scope in self.of_node.values():
            self.module.bound |= scope.globals
        for scope in (self.module, *self.of_node.values()):
            self._settle(scope)

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def _collect(self) -> None:
        work, collect = self._work, _COLLECT.get
        while work:
            node, scope = work.pop()
            kind = node.kind_id
            if kind == tree.IDENTIFIER:
                scope.used.add(self.text(node))
                continue
            handler = collect(kind)
            if handler is not None:
                handler(self, node, scope)
            elif node.named_child_count:
                work.extend([(child, scope) for child in node.named_children])

    def visit(self, node: Node | None, scope: Scope) -> None:
        """Collect the names in `node` too, as part of `scope`."""
        if node is not None:
            self._work.append((node, scope))

    def open(self, kind: str, node: Node, parent: Scope) -> Scope:
        """Return a new scope that `node` opens."""
        scope = self.of_node[node.id] = Scope(kind, parent)
        return scope

    def of(self, node: Node, kind: str, parent: Scope) -> Scope:
        """Return the scope that `node` opens: an empty one in code that is too broken to have been collected."""
        return self.of_node.get(node.id) or self.open(kind, node, parent)

    def bind(self, node: Node | None, scope: Scope) -> None:
        """Collect the names that a target binds in `scope`, and those it reads."""
        if node is None:
            return
        if node.kind_id == tree.IDENTIFIER:
            scope.bound.add(self.text(node))
        elif node.kind_id in _PATTERNS:
            for child in node.named_children:
                self.bind(child, scope)
        else:
            self.visit(node, scope)

    def _settle(self, scope: Scope) -> None:
        """Note which variables of other bodies a scope reads or binds."""
        frame = scope.frame
        for name in (*sorted(scope.used), *sorted(scope.bound)):
            owner = scope.resolve(name)
            if owner is None or owner.kind == CLASS:
                continue
            variable = owner.variable(name)
            if owner.frame is not frame:
                variable.shared = True
                variable.rebound |= name in scope.bound
                self._captured(scope, owner, variable)

    @staticmethod
    def _captured(scope: Scope, owner: Scope, variable: Variable) -> None:
        while scope is not None and scope is not owner:
            scope.captures[variable] = None
            scope = scope.parent


_PATTERNS = tree.kind_ids(
    "pattern_list",
    "tuple_pattern",
    "list_pattern",
    "list_splat_pattern",
    "dictionary_splat_pattern",
    "tuple",
    "list",
    "expression_list",
    "as_pattern_target",
    "parenthesized_expression",
    "list_splat",
)
_COLLECT = Handlers(tree.GRAMMAR)


@_COLLECT("string")
def _string(scopes: Scopes, node: Node, scope: Scope) -> None:
    for child in node.named_children:
        if child.type == "interpolation":
            scopes.visit(child, scope)


@_COLLECT("attribute")
def _attribute(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.visit(node.child_by_field_id(tree.OBJECT), scope)


@_COLLECT("keyword_argument")
def _keyword_argument(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.visit(node.child_by_field_id(tree.VALUE), scope)


@_COLLECT("named_expression")
def _named_expression(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.bind(node.child_by_field_id(tree.NAME), scope.body)
    scopes.visit(node.child_by_field_id(tree.VALUE), scope)


@_COLLECT("assignment", "augmented_assignment", "for_statement", "for_in_clause")
def _targets(scopes: Scopes, node: Node, scope: Scope) -> None:
    left = node.child_by_field_id(tree.LEFT)
    scopes.bind(left, scope)
    for child in node.named_children:
        if child != left:
            scopes.visit(child, scope)


@_COLLECT("as_pattern")
def _as_pattern(scopes: Scopes, node: Node, scope: Scope) -> None:
    *values, target = children(node)
    for value in values:
        scopes.visit(value, scope)
    scopes.bind(target, scope)


def bound_by_comma(handler: Node) -> Node | None:
    """Return the name that Python 2's `except Type, name` binds; types of Python 3.14 have names with capitals."""
    values = handler.children_by_field_id(tree.VALUE)
    if len(values) != 2 or values[1].kind_id != tree.IDENTIFIER:
        return None
    text = values[1].text or b""
    return None if text[:1].isupper() else values[1]


@_COLLECT("except_clause")
def _except_clause(scopes: Scopes, node: Node, scope: Scope) -> None:
    bound = bound_by_comma(node)
    for child in children(node):
        if child == bound:
            scopes.bind(child, scope)
        else:
            scopes.visit(child, scope)


@_COLLECT("delete_statement")
def _delete(scopes: Scopes, node: Node, scope: Scope) -> None:
    for child in node.named_children:
        scopes.bind(child, scope)


@_COLLECT("global_statement")
def _global(scopes: Scopes, node: Node, scope: Scope) -> None:
    if scope.body.kind != MODULE:
        scope.body.globals.update(scopes.text(child) for child in children(node))


@_COLLECT("nonlocal_statement")
def _nonlocal(scopes: Scopes, node: Node, scope: Scope) -> None:
    names = {scopes.text(child) for child in children(node)}
    scope.body.nonlocals |= names
    scope.body.used |= names


@_COLLECT("import_statement", "import_from_statement", "future_import_statement")
def _import(scopes: Scopes, node: Node, scope: Scope) -> None:
    for name in node.children_by_field_id(tree.NAME):
        alias = name.child_by_field_id(tree.ALIAS)
        scope.bound.add(scopes.text(alias if alias is not None else name).split(".")[0].strip())
    scope.star_import |= any(child.type == "wildcard_import" for child in node.named_children)


@_COLLECT("yield")
def _yield(scopes: Scopes, node: Node, scope: Scope) -> None:
    scope.body.yields = True
    for child in node.named_children:
        scopes.visit(child, scope)


@_COLLECT("function_definition", "lambda")
def _function(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.bind(node.child_by_field_id(tree.NAME), scope)
    scope = _with_type_parameters(scopes, node, scope)
    inner = scopes.open(FUNCTION, node, scope)
    scopes.visit(node.child_by_field_id(tree.RETURN_TYPE), scope)
    parameters = node.child_by_field_id(tree.PARAMETERS)
    for parameter in children(parameters) if parameters is not None else ():
        _parameter(scopes, parameter, inner, scope)
    scopes.visit(node.child_by_field_id(tree.BODY), inner)


def _parameter(scopes: Scopes, node: Node, inner: Scope, outer: Scope) -> None:
    scopes.visit(node.child_by_field_id(tree.TYPE), outer)
    scopes.visit(node.child_by_field_id(tree.VALUE), outer)
    name = node.child_by_field_id(tree.NAME)
    if name is None:
        name = tree.only_child(node) if node.type == "typed_parameter" else node
    scopes.bind(name, inner)


def _with_type_parameters(scopes: Scopes, node: Node, scope: Scope) -> Scope:
    """Return the scope that holds a definition's type parameters: like a comprehension's, around the definition."""
    parameters = node.child_by_field_id(tree.TYPE_PARAMETERS)
    if parameters is None:
        return scope
    inner = scopes.open(COMPREHENSION, parameters, scope)
    _bind_type_parameters(scopes, parameters, inner)
    return inner


def _bind_type_parameters(scopes: Scopes, parameters: Node, inner: Scope) -> None:
    for parameter in children(parameters):
        name = parameter
        while name is not None and name.kind_id != tree.IDENTIFIER:
            name = tree.only_child(name)
        scopes.bind(name, inner)
        scopes.visit(parameter, inner)


@_COLLECT("class_definition")
def _class(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.bind(node.child_by_field_id(tree.NAME), scope)
    scope = _with_type_parameters(scopes, node, scope)
    scopes.visit(node.child_by_field_id(tree.SUPERCLASSES), scope)
    inner = scopes.open(CLASS, node, scope)
    inner.name = scopes.text(node.child_by_field_id(tree.NAME))
    scopes.visit(node.child_by_field_id(tree.BODY), inner)


@_COLLECT("type_alias_statement")
def _type_alias(scopes: Scopes, node: Node, scope: Scope) -> None:
    scopes.bind(alias_name(node), scope)
    inner = scopes.open(COMPREHENSION, node, scope)
    parameters = alias_parameters(node)
    if parameters is not None:
        _bind_type_parameters(scopes, parameters, inner)
    scopes.visit(node.child_by_field_id(tree.RIGHT), inner)


def alias_name(node: Node) -> Node | None:
    """Return the identifier that a `type` statement binds."""
    left = node.child_by_field_id(tree.LEFT)
    while left is not None and left.kind_id != tree.IDENTIFIER:
        left = tree.only_child(left)
    return left


def alias_parameters(node: Node) -> Node | None:
    """Return the type parameters of a `type` statement."""
    generic = tree.only_child(node.child_by_field_id(tree.LEFT))
    if generic is None or generic.type != "generic_type":
        return None
    return next((child for child in children(generic) if child.type == "type_parameter"), None)


@_COLLECT("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
def _comprehension(scopes: Scopes, node: Node, scope: Scope) -> None:
    inner = scopes.open(COMPREHENSION, node, scope)
    first = True
    for child in children(node):
        if child.type == "for_in_clause" and first:
            first = False
            scopes.bind(child.child_by_field_id(tree.LEFT), inner)
            for right in child.children_by_field_id(tree.RIGHT):
                scopes.visit(right, scope)
        else:
            scopes.visit(child, inner)


@_COLLECT("case_pattern")
def _case_pattern(scopes: Scopes, node: Node, scope: Scope) -> None:
    for child in children(node):
        _match_pattern(scopes, child, scope)


def _match_pattern(scopes: Scopes, node: Node, scope: Scope) -> None:
    names = children(node)
    if node.type == "dotted_name":
        (scopes.bind if len(names) == 1 else scopes.visit)(names[0], scope)
    elif node.type == "splat_pattern":
        for name in names:
            scopes.bind(name, scope)
    elif node.type == "as_pattern":
        scopes.bind(names[-1], scope)
        scopes.visit(names[0], scope)
    elif node.type == "class_pattern":
        scopes.visit(children(names[0])[0], scope)
        for child in names[1:]:
            scopes.visit(child, scope)
    else:
        for child in names[1:] if node.type == "keyword_pattern" else names:
            _match_pattern(scopes, child, scope)
