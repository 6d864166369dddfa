"""Name resolution in Go: the file's own declarations, and those of blocks."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from facts.function_body import MODULE, Variable
from facts.go import tree
from facts.go.tree import children
from facts.ssa import UNDEFINED

VARIABLE, CONSTANT, TYPE, FUNCTION, IMPORT = "variable", "constant", "type", "function", "import"
UNNAMED = ("_", "init")
"""Functions of these names can be named by nobody."""


@dataclass(eq=False)
class Name(Variable):
    """The meaning of a name: `form` is VARIABLE, CONSTANT, TYPE, FUNCTION or IMPORT.

    A variable of the package, one whose address is taken and one that closures assign is `rebound`: its values go
    through its cell. A type declared in a function has its `value` here; `shape` is what a declared type is made of.
    `declared` is the moment of the walk at which it came to be, before all others for names of the file.
    """

    form: str = VARIABLE
    value: int = UNDEFINED
    shape: Node | None = None
    declared: int = -1


class Scope:
    """The names of a block, function or file; of those around it, what was declared `before` a moment of the walk.

    Names of the scopes around that were looked up are known: nothing that counts is declared there later.
    """

    __slots__ = ("_before", "_clock", "_known", "names", "parent")

    def __init__(self, parent: "Scope | None", before: float = math.inf) -> None:
        self.parent, self._before = parent, before
        self.names: dict[str, Name] = {}
        self._known: dict[str, Name | None] = {}
        self._clock: Iterator[int] = itertools.count() if parent is None else parent._clock

    def find(self, name: str) -> Name | None:
        """Return what `name` means here, None if the file does not declare it."""
        scope, before, found, passed = self, math.inf, None, []
        while scope is not None:
            found = scope.names.get(name)
            if found is not None and found.declared < before:
                break
            found = scope._known.get(name)
            if name in scope._known:
                break
            passed.append(scope)
            scope, before = scope.parent, min(before, scope._before)
        for scope in passed:
            scope._known[name] = found
        return found

    def enter(self, name: Name) -> None:
        """Declare a name in a block or function."""
        name.declared = next(self._clock)
        self.names[name.name] = name

    def snapshot(self) -> "Scope":
        """Return a scope with what names mean now: declarations that follow do not change it."""
        return Scope(self, next(self._clock))


_CONTAINERS = tree.kind_ids("const_declaration", "var_declaration", "var_spec_list", "type_declaration")


class FileScope(Scope):
    """The names that a file declares at its top level, in whatever order they stand.

    Other files of the package may assign its variables. `externals` are variables that no declaration of the file
    binds, but whose address some code takes.
    """

    def __init__(self, root: Node, source: bytes) -> None:
        super().__init__(None)
        self._source = source
        self.externals: dict[str, Name] = {}
        self._declare(root)

    def external(self, name: str) -> Name:
        """Return the variable that `name` is in another file of the package."""
        if name not in self.externals:
            self.externals[name] = Name(name, MODULE, rebound=True)
        return self.externals[name]

    def add(self, name: str, form: str, shape: Node | None = None) -> None:
        """Declare a name, unless it is declared already."""
        if name and name != "_" and name not in self.names:
            self.names[name] = Name(name, MODULE, shared=True, rebound=form == VARIABLE, form=form, shape=shape)

    def _declare(self, root: Node) -> None:
        work = [root]
        while work:
            node = work.pop()
            kind = node.type
            if node is root or node.is_error or node.kind_id in _CONTAINERS:
                work.extend(reversed(children(node)))
            elif kind in ("const_spec", "var_spec"):
                for name in tree.with_fields(node, tree.NAME):
                    self.add(self._text(name), CONSTANT if kind == "const_spec" else VARIABLE)
            elif kind in ("type_spec", "type_alias"):
                self.add(self._text(node.child_by_field_id(tree.NAME)), TYPE, node.child_by_field_id(tree.TYPE))
            elif kind == "function_declaration":
                name = self._text(node.child_by_field_id(tree.NAME))
                if name not in UNNAMED:
                    self.add(name, FUNCTION)

    def _text(self, node: Node | None) -> str:
        return self._source[node.start_byte : node.end_byte].decode() if node is not None else ""
