"""One file while its facts are made: where the walk is, and what every handler needs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from tree_sitter import Node

from facts.function_body import MODULE, Body, Variable
from facts.javascript import handler_tables
from facts.javascript.declared_names import collect
from facts.javascript.handler_tables import children, field
from facts.javascript.scopes import BLOCK, Name, Scope, Scopes
from facts.source_text import SourceText
from facts.ssa import UNDEFINED
from facts.tree_walk import Walk

_REQUIRED = {
    "function_declaration": ("name", "parameters", "body"),
    "generator_function_declaration": ("name", "parameters", "body"),
    "class_declaration": ("name", "body"),
    "abstract_class_declaration": ("name", "body"),
    "if_statement": ("condition", "consequence"),
    "for_statement": ("body",),
    "for_in_statement": ("left", "right", "body"),
    "while_statement": ("condition", "body"),
    "do_statement": ("condition", "body"),
    "switch_statement": ("value", "body"),
    "try_statement": ("body",),
    "labeled_statement": ("label", "body"),
    "internal_module": ("name", "body"),
}
_FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration", "function_signature"})


def _required(language: str) -> Mapping[str, tuple[int, ...]]:
    grammar = handler_tables.GRAMMARS[language]
    known = grammar.names()
    return {kind: tuple(map(grammar.field_id, names)) for kind, names in _REQUIRED.items() if kind in known}


class Unit(Walk):
    """The state of the walk over one file.

    `scope` gives names their meaning, `body` takes instructions. Functions wait in `waiting` until the body that
    defines them is done. `exported` are the module's exports, (name, local name), whose values are known at its end;
    `namespace` is the object of the TypeScript namespace at hand. `labels` name the loop that follows, `given_name` the
    function or class that is evaluated next, `decorators` stand before an exported class. `fields` are
    what a derived class's constructor does once its base's has returned.
    """

    LANGUAGE = "javascript"
    STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS[LANGUAGE], handler_tables.EXPRESSIONS[LANGUAGE]
    REQUIRED = _required(LANGUAGE)
    BLOCKS = frozenset({"statement_block", "class_body", "switch_body"})

    def __init__(self, root: Node, text: SourceText) -> None:
        super().__init__(root, text)
        self.scopes = self.collected(root)
        self.exported: list[tuple[str, str]] = []
        self.namespace: int | None = None
        self.labels: tuple[str, ...] = ()
        self.given_name = ""
        self.decorators: list[Node] = []
        self.fields: Callable[[], None] | None = None
        self.n_annotated: dict[int, int] = {}
        self.open_body(MODULE, self.scopes.module)
        self._bind_globals()

    # ---- Bodies and scopes

    def collected(self, root: Node) -> Scopes:
        """Return the scopes of the file."""
        return collect(root, self.source, self.LANGUAGE)

    def entered(self, definition: object) -> None:
        """Do what else a function does on entry: nothing."""

    def open_body(self, entity: int, scope: Scope) -> None:
        """Go on in the body of a module or function."""
        scope.entity = entity
        self.scope = scope
        self.body = Body(self.facts, entity, self._initial)

    def _initial(self, variable: Variable) -> int:
        """Return what a variable of the body at hand holds before it is bound."""
        if isinstance(variable, Name) and variable.kind == "var":
            return self.body.load_constant("none", "undefined")
        return UNDEFINED

    def _bind_globals(self) -> None:
        """Bind the names that the file assigns to and does not declare to what they are without it."""
        for variable in self.scopes.module.values.values():
            if variable.kind == "global":
                value = self.body.load_once(variable.name, variable.name, "load_name", MODULE, variable.name)
                self.body.bind(self.scopes.module.own(variable), value)

    @contextmanager
    def inside(self, node: Node) -> Iterator[Scope]:
        """Go on in the block scope that `node` opens."""
        outer, self.scope = self.scope, self.scopes.of(node, BLOCK, self.scope)
        yield self.scope
        self.scope = outer

    def way_back(self) -> Callable[[], None]:
        scope, namespace, fields = self.scope, self.namespace, self.fields

        def go_back() -> None:
            self.scope, self.namespace, self.fields, self.labels = scope, namespace, fields, ()

        return go_back

    # ---- Names

    def read(self, name: str) -> int:
        """Return the value of `name` here."""
        variable = self.scope.meaning(name)
        if variable is None:
            return self.body.load_once(name, name, "load_name", MODULE, name)
        value = self.body.read(variable)
        if not variable.rebound and variable.owner == self.body.entity:
            self.emit("read", value)
        return value

    def read_type(self, name: str) -> int:
        """Return the type `name`. Types are declared for all of their scope, so it is read from its cell."""
        variable = self.scope.type_meaning(name)
        if variable is None:
            return self.body.load_once(name, name, "load_name", MODULE, name)
        return self.body.load_once(("type", variable), name, "load_cell", self.body.cell_of(variable))

    def bind(self, name: str, value: int, kind: str) -> None:
        """Bind `name` to `value`, an entity that was made for it."""
        variable = self.scope.meaning(name) or self.scope.own(self.scope.declare(name))
        self.body.bind(variable, value)
        self.emit("binds", value, variable.owner, name, kind)

    def bind_type(self, name: str, value: int) -> None:
        """Bind the type `name` of the current scope."""
        variable = self.scope.type_meaning(name) or self.scope.own(self.scope.declare_type(name))
        self.body.bind(variable, value)
        self.emit("binds", value, variable.owner, name, "type")

    def assign(self, name: str, source: int, kind: str, node: Node) -> int:
        """Bind `name` to a new value that is `source`; return it."""
        value = self.entity(name, node)
        self.emit("assign", value, source)
        self.bind(name, value, kind)
        return value

    # ---- Walking

    def statements(self, block: Node | None) -> None:
        """Execute the statements of a block: imports and functions first, as they are declared for all of it."""
        later = []
        for statement in children(block):
            if _is_hoisted(statement):
                self.statement(statement)
            else:
                later.append(statement)
        for statement in later:
            self.statement(statement)

    def run(self, node: Node | None) -> None:
        """Execute a statement, if there is one."""
        if node is not None:
            self.statement(node)

    def take_name(self) -> str:
        """Return the name that is given to the function or class at hand."""
        name, self.given_name = self.given_name, ""
        return name

    def take_labels(self) -> tuple[str, ...]:
        """Return the labels of the statement at hand."""
        labels, self.labels = self.labels, ()
        return labels


def _is_hoisted(node: Node) -> bool:
    kind = node.type
    if kind == "export_statement":
        declared = field(node, "declaration")
        return declared is not None and declared.type in _FUNCTIONS
    return kind in _FUNCTIONS or kind == "import_statement"


class TypeScript(Unit):
    """A file in TypeScript."""

    LANGUAGE = "typescript"
    STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS[LANGUAGE], handler_tables.EXPRESSIONS[LANGUAGE]
    REQUIRED = _required(LANGUAGE)


class Tsx(Unit):
    """A file in TypeScript with JSX."""

    LANGUAGE = "tsx"
    STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS[LANGUAGE], handler_tables.EXPRESSIONS[LANGUAGE]
    REQUIRED = _required(LANGUAGE)
