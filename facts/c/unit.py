"""One C file while its facts are made: where the walk is, and what names mean there."""

from collections.abc import Callable

from tree_sitter import Node

from facts.c import tree
from facts.c.declarators import ARRAY, FUNCTION
from facts.c.scopes import MACRO_CODE, TYPE, FileScope, Name, Scope, Usage, Uses
from facts.control_flow_graph import Block
from facts.function_body import MODULE, Body
from facts.source_text import SourceText
from facts.ssa import UNDEFINED
from facts.tree_walk import Walk

_ENTRANCES = tree.kind_ids("case_statement", "labeled_statement")


class Unit(Walk):
    """The state of the walk over one file.

    `source` is the text that was parsed, in which macros that break the grammar are blanked; every byte stands where it
    does in the file, `written`. `arguments` are the spans of types that stand as arguments, as names. `types` holds the
    types named so far, `hint` what a type without a tag is called. `cases` holds the blocks of the `case`s of the
    switch at hand, `leaves` those that `__leave` goes to. `repeated` are statements that macros in front of them have
    executed. `macro_labels` are the labels of the macro whose code is at hand, None in other bodies.
    """

    LANGUAGE = "c"
    STATEMENTS, EXPRESSIONS = tree.STATEMENTS, tree.EXPRESSIONS
    REQUIRED = {
        "function_definition": (tree.DECLARATOR, tree.BODY),
        "if_statement": (tree.CONDITION, tree.CONSEQUENCE),
        "switch_statement": (tree.CONDITION, tree.BODY),
        "while_statement": (tree.CONDITION, tree.BODY),
        "do_statement": (tree.CONDITION, tree.BODY),
        "for_statement": (tree.BODY,),
        "labeled_statement": (tree.LABEL,),
        "case_statement": (),
        "linkage_specification": (tree.BODY,),
        "preproc_if": (),
        "preproc_ifdef": (),
        "compound_statement": (),
        "declaration_list": (),
    }
    BLOCKS = frozenset({"else_clause", "preproc_else", "preproc_elif", "preproc_elifdef"})

    def __init__(self, root: Node, text: SourceText, source: bytes, arguments: dict[int, int]) -> None:
        super().__init__(root, text)
        self.source, self.written, self.arguments = source, text.utf8, arguments
        self.file = FileScope(root, source)
        self.usage = Usage(root, source)
        self.types: dict[str, int] = {}
        self.stand_ins: dict[str, str] = {}
        self.hint = ""
        self.repeated: set[int] = set()
        self.open_body(MODULE, self.file, Uses())

    # ---- Bodies

    def open_body(self, entity: int, scope: Scope, uses: Uses) -> None:
        """Go on in the body of the module, a function or a macro."""
        self.scope, self.uses = scope, uses
        self.body = Body(self.facts, entity)
        self.cases: dict[int, Block] = {}
        self.leaves: list[Block] = []
        self.macro_labels: set[str] | None = None

    def open_scope(self) -> Scope:
        """Go on in a block of the scope at hand; return the latter."""
        outer = self.scope
        self.scope = Scope(outer, self.body.entity)
        return outer

    def later(self, build: Callable[[], None]) -> None:
        """Let `build` make a body, once the one at hand is done."""
        self.waiting.append((build, self.source))

    def build_next(self) -> None:
        """Make the facts of the next body that waits."""
        build, self.source = self.waiting.popleft()
        build()
        self.body.finish()

    # ---- Names

    def find(self, name: str) -> Name | None:
        """Return what a name of a variable or function means here, None if it is nothing but a name."""
        name = self.written_for(name)
        found = self.scope.find(name)
        if found is None and (name in self.uses.assigned or (name in self.uses.celled and not self.is_function(name))):
            found = self.file.external(name)
        return found

    def written_for(self, name: str) -> str:
        """Return the local variable that `name`, a macro, stands for here; any other name as it is."""
        meant = self.scope.find(self.stand_ins[name]) if name in self.stand_ins else None
        return name if meant is None or meant.owner == MODULE else meant.name

    def is_function(self, name: str) -> bool:
        """Return True if the file says that `name` is a function, defined here or elsewhere."""
        found = self.scope.find(name)
        return name in self.file.functions if found is None else found.form == FUNCTION

    def read(self, name: str, node: Node) -> int:
        """Return the value of `name` here."""
        name = self.written_for(name)
        found = self.find(name)
        if found is None:
            return self.body.load_once(name, name, "load_name", MODULE, name)
        if found.form == ARRAY:
            return self.address(found)
        if found.value != UNDEFINED:
            return found.value
        if found.form == MACRO_CODE:
            return self.run_macro(found, node)
        return self.value_of(found)

    def changes(self, node: Node) -> None:
        """The code may give a new value to the variable that `node` names, if the file does not say what that is.

        Names in capitals are constants.
        """
        if node.kind_id in tree.IDENTIFIER and not (text := self.text(node)).isupper():
            if self.find(name := self.written_for(text)) is None:
                self.body.renew(name)

    def value_of(self, name: Name) -> int:
        """Return the value of a variable or function."""
        if name.owner == MODULE and not name.rebound:
            return self.body.load_once(name, name.name, "load_cell", self.body.cell_of(name))
        value = self.body.read(name)
        if not name.rebound:
            self.emit("read", value)
        return value

    def run_macro(self, name: Name, node: Node) -> int:
        """Return what the code gives that an object-like macro stands for."""
        callee = self.value_of(name)
        result = self.body.running(self.entity(name.name, node))
        self.emit("call", result, self.body.entity, callee)
        return result

    def address(self, name: Name) -> int:
        """Return the address of a variable: once per body."""
        return self.body.load_once(("&", name), "&" + name.name, "address", self.body.cell_of(name))

    def declare(self, name: Name) -> Name:
        """Declare a name in the scope at hand. Sides of an `#if` may declare it twice: then it is the same variable."""
        found = self.scope.names.get(name.name)
        if found is not None and found.form == name.form and found.rebound == name.rebound:
            return found
        self.scope.names[name.name] = name
        return name

    def bind(self, name: Name, value: int, kind: str) -> None:
        """Let a variable have `value`, an entity that was made for it."""
        if name.owner == MODULE and not name.rebound:
            self.emit("store_cell", value, self.body.cell_of(name), value)
            self.body.allocation(value)
        else:
            self.body.bind(name, value)
        self.emit("binds", value, name.owner, name.name, kind)

    def assign(self, name: Name, source: int, kind: str, node: Node) -> int:
        """Let a variable have a new value that is `source`; return it."""
        value = self.entity(name.name, node)
        self.emit("assign", value, source)
        self.bind(name, value, kind)
        return value

    def type_of(self, name: str, label: str = "") -> int:
        """Return the type that a name or tag stands for: once per file, unless a function declares it."""
        found = self.scope.find(name)
        if found is not None and found.value != UNDEFINED:
            return found.value
        if found is not None and found.owner != MODULE:
            return self.value_of(found)
        value = self.types.get(name)
        if value is None:
            value = self.types[name] = self.facts.entity(MODULE, "type " + (label or name))
            if found is not None and found.form == TYPE:
                self.emit("load_cell", value, self.body.cell_of(found))
            else:
                self.emit("load_name", value, MODULE, name)
        return value

    # ---- Walking

    def way_back(self) -> Callable[[], None]:
        scope, leaves, cases, source = self.scope, len(self.leaves), self.cases, self.source

        def go_back() -> None:
            self.scope, self.cases, self.source = scope, cases, source
            del self.leaves[leaves:]

        return go_back

    def statement(self, node: Node) -> None:
        """Execute a statement; a case or label that nothing runs into begins its own block, in an `#if`, too."""
        if node.id in self.repeated:
            return None
        if self.scope is self.file and tree.untyped_head(node) is not None:
            return None
        if self.body.block is None and node.kind_id in tree.CONDITIONALS:
            return self._beyond(node)
        if self.body.block is None and node.kind_id in _ENTRANCES:
            self.enter(node)
        return super().statement(node)

    def _beyond(self, node: Node) -> None:
        """Execute the sides of an `#if` that no code runs into."""
        after = self.body.new_block("after #if")
        for side in tree.sides(node):
            self.body.block = None
            for statement in side:
                self.statement(statement)
            self.body.goto(after)
        self.continue_at(after)

    def enter(self, node: Node) -> None:
        """Go on in the block that a case or label opens. Of a label without a `goto` behind it, all ways are known."""
        body = self.body
        label = node.child_by_field_id(tree.LABEL)
        name = self.text(label) if label is not None else ""
        block = self.cases.get(node.id) if label is None else body.labelled(name)
        if block is not None and block is not body.block:
            body.goto(block)
            body.start(block, sealed=self.uses.jumps.get(name, 0) < node.start_byte)

    def execute(self, node: Node | None) -> None:
        """Execute the statement that is a part of another one."""
        if node is not None:
            self.statement(node)
