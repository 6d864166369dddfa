"""Scopes of a file: what each declares, and which variable a name means (ECMA-262, 9.1 and 14.2)."""

from tree_sitter import Node

from facts.function_body import Variable
from facts.ssa import UNDEFINED

MODULE, FUNCTION, ARROW, BLOCK = "module", "function", "arrow", "block"
IMPLICIT = ("this", "arguments")
"""Names that every function except arrow functions binds implicitly."""
_TYPES = frozenset({"import", "class", "namespace", "global"})


class Name(Variable):
    """A variable of a scope. `kind` tells what it holds before it is bound: `var` undefined, `global` what is there
    already, `implicit` what the call brings (`entry`), others nothing. Types are declared for a whole scope, so their
    names are read from cells.
    """

    def __init__(self, name: str, kind: str = "") -> None:
        super().__init__(name)
        self.kind = kind
        self.entry: int | None = None


class Scope:
    """A module, function or block, and the names in it.

    `values` and `types` are the variables that it declares; TypeScript keeps the two apart. A block's code runs in the
    body around it; the initialisers of a class's fields run in the constructor, `body_scope`. `captures` are the
    variables of enclosing bodies that this function, or what it holds, reads or binds.
    """

    __slots__ = (
        "kind", "parent", "values", "types", "used", "used_types", "assigned", "captures", "body_scope",
        "holds_var", "yields", "entity", "_meanings", "_types",
    )  # fmt: skip

    def __init__(self, kind: str, parent: "Scope | None", body: "Scope | None" = None, holds_var: bool = False) -> None:
        self.kind, self.parent = kind, parent
        self.values: dict[str, Name] = {}
        self.types: dict[str, Name] = {}
        self.used: set[str] = set()
        self.used_types: set[str] = set()
        self.assigned: set[str] = set()
        self.captures: dict[Variable, None] = {}
        self.body_scope = self if kind != BLOCK else body or parent.body_scope
        self.holds_var = holds_var or kind != BLOCK
        self.yields = False
        self.entity = 0
        self._meanings: dict[str, Name | None] = {}
        self._types: dict[str, Name | None] = {}

    def declare(self, name: str, kind: str = "") -> Name:
        """Declare a variable here; `var` in the function around."""
        scope = self
        while kind == "var" and not scope.holds_var:
            scope = scope.parent
        variable = scope.values.get(name)
        if variable is None:
            variable = scope.values[name] = Name(name, kind)
            variable.shared = scope.kind == MODULE
        return variable

    def declare_type(self, name: str) -> Name:
        """Declare a type here that is no value."""
        variable = self.types.get(name)
        if variable is None:
            variable = self.types[name] = Name(name, "type")
            variable.shared = variable.rebound = True
        return variable

    def meaning(self, name: str) -> Name | None:
        """Return the variable that `name` means here; None if nothing in the file declares it."""
        if name not in self._meanings:
            owner = self.resolve(name)
            self._meanings[name] = owner and owner.own(owner.values[name])
        return self._meanings[name]

    def type_meaning(self, name: str) -> Name | None:
        """Return the variable that `name` means as a type: the innermost type or value."""
        if name not in self._types:
            owner = self.resolve_type(name)
            found = owner and (owner.types.get(name) or owner.values[name])
            self._types[name] = owner and owner.own(found)
        return self._types[name]

    def own(self, variable: Name) -> Name:
        """Return a variable of this scope, which is the variable of the body that runs this scope's code."""
        if variable.owner == UNDEFINED:
            variable.owner = self.body_scope.entity
        return variable

    def resolve(self, name: str) -> "Scope | None":
        """Return the scope whose variable `name` means here."""
        scope = self
        while scope is not None:
            if name in scope.values:
                return scope
            if scope.kind == FUNCTION and name in IMPLICIT:
                scope.values[name] = Name(name, "implicit")
                return scope
            scope = scope.parent
        return None

    def resolve_type(self, name: str) -> "Scope | None":
        """Return the scope that declares the type `name`, else one that declares a value of that name alone."""
        scope, value = self, None
        while scope is not None and not scope.holds_type(name):
            value = value or (scope if name in scope.values else None)
            scope = scope.parent
        return scope or value

    def holds_type(self, name: str) -> bool:
        """Return whether a type of this name is declared here: a variable or function is none, and hides none."""
        return name in self.types or (name in self.values and self.values[name].kind in _TYPES)


class Scopes:
    """The scopes of a file by the node that opens each; `facts.javascript.declared_names` fills them."""

    def __init__(self) -> None:
        self.module = Scope(MODULE, None)
        self.of_node: dict[int, Scope] = {}

    def open(self, kind: str, node: Node, parent: Scope, body: Scope | None = None, holds_var: bool = False) -> Scope:
        """Return a new scope that `node` opens."""
        scope = self.of_node[node.id] = Scope(kind, parent, body, holds_var)
        return scope

    def of(self, node: Node, kind: str, parent: Scope) -> Scope:
        """Return the scope that `node` opens: an empty one in code that is too broken to have been collected."""
        return self.of_node.get(node.id) or self.open(kind, node, parent)

    def settle(self) -> None:
        """Note which variables several bodies share. A name that is assigned but not declared is a global one."""
        scopes = (self.module, *self.of_node.values())
        for scope in scopes:
            for name in sorted(scope.assigned):
                if scope.resolve(name) is None:
                    self.module.declare(name, "global")
        for scope in scopes:
            for name in sorted(scope.used | scope.assigned):
                owner = scope.resolve(name)
                if owner is not None and owner.body_scope is not scope.body_scope:
                    variable = owner.values[name]
                    variable.shared = True
                    variable.rebound |= name in scope.assigned
                    _captured(scope, owner, variable)
            for name in sorted(scope.used_types):
                owner = scope.resolve_type(name)
                if owner is not None:
                    (owner.types.get(name) or owner.values[name]).shared = True


def _captured(scope: Scope | None, owner: Scope, variable: Variable) -> None:
    while scope is not None and scope is not owner:
        if scope.body_scope is not owner.body_scope:
            scope.body_scope.captures[variable] = None
        scope = scope.parent
