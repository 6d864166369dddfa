"""One Go file while its facts are made: where the walk is, and what names mean there."""

import re
from collections.abc import Callable

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.function_body import MODULE, Body
from facts.go import tree
from facts.go.captures import Usage
from facts.go.scopes import VARIABLE, FileScope, Name, Scope
from facts.source_text import SourceText
from facts.ssa import UNDEFINED
from facts.tree_walk import Walk

_GOTO = re.compile(rb"\bgoto\s+(\w+)")
_LABELED = tree.kind_ids("labeled_statement")


class Unit(Walk):
    """The state of the walk over one file.

    `results` are the named results of the function at hand, `label` that of the statement to come, `following` the
    case that `fallthrough` goes to. `iota` counts the constants of a declaration. `types` holds types made of others.
    """

    LANGUAGE = "go"
    STATEMENTS, EXPRESSIONS = tree.STATEMENTS, tree.EXPRESSIONS
    REQUIRED = {
        "function_declaration": (tree.NAME, tree.PARAMETERS, tree.BODY),
        "method_declaration": (tree.RECEIVER, tree.NAME, tree.PARAMETERS, tree.BODY),
        "if_statement": (tree.CONDITION, tree.CONSEQUENCE),
        "for_statement": (tree.BODY,),
        "labeled_statement": (tree.LABEL,),
        "expression_switch_statement": (),
        "type_switch_statement": (tree.VALUE,),
        "select_statement": (),
        "block": (),
        "import_declaration": (),
    }
    BLOCKS = frozenset({"statement_list"})

    def __init__(self, root: Node, text: SourceText) -> None:
        super().__init__(root, text)
        self.file = FileScope(root, self.source)
        self.usage = Usage(root, self.source)
        self.gotos = {name.decode() for name in _GOTO.findall(self.source)}
        # By where they are declared: what closures capture.
        self.declared: dict[int, Name] = {}
        self.types: dict[tuple, int] = {}
        self.open_body(MODULE, self.file)

    # ---- Bodies and scopes

    def open_body(self, entity: int, scope: Scope) -> None:
        """Go on in the body of the module or a function."""
        self.scope = scope
        self.body = Body(self.facts, entity)
        self.results: list[tuple[Name | None, int]] = []
        self.label_name = ""
        self.following: Block | None = None
        self.iota = 0
        self.defers = False
        self.deferred: Node | None = None

    def open_scope(self) -> Scope:
        """Go on in a block of the scope at hand; return the latter."""
        outer = self.scope
        self.scope = Scope(outer)
        return outer

    def take_label(self) -> tuple[str, ...]:
        """Return the names by which jumps may leave the statement at hand."""
        label, self.label_name = self.label_name, ""
        return ("", label) if label else ("",)

    # ---- Names

    def read(self, name: str) -> int:
        """Return the value of `name` here."""
        found = self.scope.find(name)
        if found is None:
            return self.body.load_once(name, name, "load_name", MODULE, name)
        return self.value_of(found)

    def value_of(self, name: Name) -> int:
        """Return the value of what a name stands for."""
        if name.value != UNDEFINED:
            return name.value
        if name.owner == MODULE and not name.rebound:
            return self.body.load_once(name, name.name, "load_cell", self.body.cell_of(name))
        value = self.body.read(name)
        if not name.rebound and name.owner == self.body.entity:
            self.emit("read", value)
        return value

    def declare(self, node: Node, form: str = VARIABLE) -> Name:
        """Declare the name at `node` in the scope at hand; a name of the file is declared already."""
        text = self.text(node)
        if self.scope is self.file:
            self.file.add(text, form)
            return self.file.names[text]
        name = Name(text, self.body.entity, form=form)
        use = self.usage.of.get(node.start_byte)
        if use is not None:
            name.shared, name.rebound = use.shared, use.rebound
            self.declared[node.start_byte] = name
        self.scope.enter(name)
        return name

    def bind(self, name: Name, value: int, kind: str) -> None:
        """Let a name stand for `value`, an entity that was made for it."""
        if name.owner == MODULE and not name.rebound:
            self.emit("store_cell", value, self.body.cell_of(name), value)
            self.body.allocation(value)
        else:
            self.body.bind(name, value)
        self.emit("binds", value, name.owner, name.name, kind)

    def assign(self, name: Name, source: int, kind: str, node: Node) -> int:
        """Let a name stand for a new value that is `source`; return it."""
        value = self.entity(name.name, node)
        self.emit("assign", value, source)
        self.bind(name, value, kind)
        return value

    def address(self, name: Name) -> int:
        """Return the address of a variable: once per body."""
        return self.body.load_once(("&", name), "&" + name.name, "address", self.body.cell_of(name))

    # ---- Walking

    def way_back(self) -> Callable[[], None]:
        scope, following, iota = self.scope, self.following, self.iota

        def go_back() -> None:
            self.scope, self.following, self.iota = scope, following, iota

        return go_back

    def statement(self, node: Node) -> None:
        """Execute a statement; a label that nothing runs into begins its own block."""
        if self.body.block is None and node.kind_id in _LABELED:
            self.enter_label(node)
        super().statement(node)

    def enter_label(self, node: Node) -> None:
        """Go on in the block that a label opens, if some jump goes to it."""
        label = node.child_by_field_id(tree.LABEL)
        if label is None or self.text(label) not in self.gotos:
            return
        block = self.body.labelled(self.text(label))
        if block is not self.body.block:
            self.body.goto(block)
            self.body.start(block, sealed=False)
