"""Name resolution in C: scopes, the names that a file declares, and their uses."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from facts.c import tree
from facts.c.declarators import ARRAY, FUNCTION, declared, has_word
from facts.c.tree import children
from facts.function_body import MODULE, Variable
from facts.ssa import UNDEFINED

VARIABLE, TYPE, MACRO_CODE = "variable", "type", "macro code"


@dataclass(eq=False)
class Name(Variable):
    """The meaning of a name: `form` is VARIABLE, ARRAY, FUNCTION, TYPE or MACRO_CODE.

    A variable whose address is taken, a static or a global one is `rebound`: its values go through its cell. The name
    of an array stands for its address; `rank` is its number of dimensions. Reading MACRO_CODE runs that code. A type
    declared inside a function has its `value` here. A `bare` variable is local, and declared without an initial
    value, or with NULL.
    """

    form: str = VARIABLE
    rank: int = 0
    value: int = UNDEFINED
    bare: bool = False


class Scope:
    """A block, function or file; tags are held as `struct S`.

    Names of the scopes around that were looked up are known: nothing is declared there before this scope ends.
    """

    def __init__(self, parent: "Scope | None", owner: int) -> None:
        self.parent, self.owner = parent, owner
        self.names: dict[str, Name] = {}
        self._known: dict[str, Name | None] = {}

    def find(self, name: str) -> Name | None:
        """Return what `name` means here, None if the file does not declare it."""
        scope, found, passed = self, None, []
        while scope is not None and (found := scope.names.get(name)) is None:
            if name in scope._known:
                found = scope._known[name]
                break
            passed.append(scope)
            scope = scope.parent
        for scope in passed:
            scope._known[name] = found
        return found


@dataclass
class Uses:
    """Names that need a cell in some code: whose address is taken or fields are named; and those assigned there.

    `jumps` tells where the last `goto` to a label stands.
    """

    celled: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    jumps: dict[str, int] = field(default_factory=dict)


_USES = Query(
    tree.GRAMMAR.language,
    """
(pointer_expression operator: "&" argument: (identifier) @celled)
(pointer_expression operator: "&" argument: (parenthesized_expression (identifier) @celled))
(field_expression argument: (identifier) @celled operator: ".")
(field_expression argument: (parenthesized_expression (identifier) @celled) operator: ".")
(assignment_expression left: (identifier) @assigned)
(assignment_expression left: (parenthesized_expression (identifier) @assigned))
(update_expression argument: (identifier) @assigned)
(update_expression argument: (parenthesized_expression (identifier) @assigned))
(gnu_asm_output_operand value: (identifier) @assigned)
(goto_statement label: (statement_identifier) @goto)
(gnu_asm_goto_list label: (identifier) @goto)
(function_definition) @function
(preproc_def) @macro
(preproc_function_def) @macro
""",
)


class Usage:
    """The uses of names in a tree, by place, and the macros that it defines."""

    def __init__(self, root: Node, source: bytes) -> None:
        found = QueryCursor(_USES).captures(root)
        self._names = sorted(
            (node.start_byte, kind, source[node.start_byte : node.end_byte].decode())
            for kind in ("celled", "assigned", "goto")
            for node in found.get(kind, ())
        )
        self._nested = _inner(sorted(found.get("function", []), key=lambda node: node.start_byte))
        self._source = source
        self.macros = sorted(found.get("macro", ()), key=lambda node: node.start_byte)

    def of(self, node: Node) -> Uses:
        """Return how the code below a node uses names. What functions nested in it name needs a cell."""
        uses = Uses()
        first = bisect_left(self._names, (node.start_byte,))
        for place, kind, name in self._names[first : bisect_left(self._names, (node.end_byte,))]:
            if kind == "goto":
                uses.jumps[name] = place
            else:
                (uses.celled if kind == "celled" else uses.assigned).add(name)
        end = node.start_byte
        for nested in self._nested[bisect_right(self._nested, node.start_byte, key=lambda node: node.start_byte) :]:
            if nested.start_byte >= node.end_byte:
                break
            if nested.start_byte >= end:
                uses.celled.update(self._identifiers(nested))
                end = nested.end_byte
        return uses

    def _identifiers(self, node: Node) -> Iterator[str]:
        work = [node]
        while work:
            node = work.pop()
            if node.kind_id in tree.IDENTIFIER:
                yield self._source[node.start_byte : node.end_byte].decode()
            work += node.named_children


def _inner(functions: list[Node]) -> list[Node]:
    """Return those of some functions, in order, that stand in others."""
    inner, end = [], -1
    for function in functions:
        if function.start_byte < end:
            inner.append(function)
        end = max(end, function.end_byte)
    return inner


_CONTAINERS = tree.CONDITIONALS | tree.kind_ids("linkage_specification", "declaration_list", "translation_unit")
_SPECIFIERS = tree.kind_ids("struct_specifier", "union_specifier", "enum_specifier")


class FileScope(Scope):
    """The names that a file declares at its top level, in whatever order they stand.

    `functions` are names known to be functions that are defined elsewhere; `externals` names that nothing declares,
    but that some code assigns or takes the address of.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        super().__init__(None, MODULE)
        self._source = source
        self.functions: set[str] = set()
        self.externals: dict[str, Name] = {}
        self._declare(root)

    def external(self, name: str) -> Name:
        """Return the variable that `name` is in another file."""
        if name not in self.externals:
            self.externals[name] = Name(name, MODULE, rebound=True)
        return self.externals[name]

    def add(self, name: str, form: str, *, rebound: bool = False, rank: int = 0) -> None:
        """Declare a name, unless it is declared already."""
        if name and name not in self.names:
            self.names[name] = Name(name, MODULE, rebound=rebound, form=form, rank=rank)

    def _declare(self, root: Node) -> None:
        work = [root]
        while work:
            node = work.pop()
            kind = node.type
            if node.kind_id in _CONTAINERS or node.is_error:
                work.extend(reversed(children(node)))
            elif kind in ("function_definition", "declaration", "type_definition"):
                self._specifier(node.child_by_field_id(tree.TYPE))
                self._declarators(node, kind)
            elif node.kind_id in _SPECIFIERS:
                self._specifier(node)

    def _declarators(self, node: Node, kind: str) -> None:
        constant = has_word(node, "const")
        for declarator in node.children_by_field_id(tree.DECLARATOR):
            found = declared(declarator, self._source)
            if kind == "type_definition":
                self.add(found.name, TYPE)
            elif kind == "function_definition":
                self.add(found.name, FUNCTION)
            elif found.form == FUNCTION:
                self.functions.add(found.name)
            else:
                fixed = constant and found.form != ARRAY and not found.layers
                self.add(found.name, found.form, rebound=not fixed, rank=found.rank)

    def _specifier(self, node: Node | None) -> None:
        """Declare the tags and enumerators of a type: those of nested ones belong to the file, too."""
        if node is None or node.kind_id not in _SPECIFIERS:
            return
        body, name = node.child_by_field_id(tree.BODY), node.child_by_field_id(tree.NAME)
        if body is None:
            return
        if name is not None:
            self.add(f"{node.type.removesuffix('_specifier')} {self._text(name)}", TYPE)
        for part in tree.flattened(body):
            if part.type == "enumerator":
                self.add(self._text(part.child_by_field_id(tree.NAME)), VARIABLE)
            elif part.type == "field_declaration":
                self._specifier(part.child_by_field_id(tree.TYPE))

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()
