"""Name resolution in a Java file: scopes of classes, local variables, types (the language specification, 6.3–6.5).

A variable's name means a local variable, else a field. A type's name means a type parameter or class around, else what
the file imports or declares. In between lie the members that a class around may inherit from another file: where that
is possible the name is a `load_enclosing`, with a `fallback` to what it means otherwise.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node

from facts.file_facts import NIL
from facts.function_body import Body, Variable

if TYPE_CHECKING:
    from facts.java.lombok import Plan

STATIC, INSTANCE = "static", "instance"


@dataclass(eq=False)
class Local(Variable):
    """A local variable or parameter, and the value of the type it is declared with; the `number`-th of its block."""

    type: int = NIL
    number: int = 0


@dataclass(eq=False)
class Scope:
    """The module or a class: what it declares, and the body that loads the names of types for all that stands in it.

    `value` is the class itself. `depth` counts the classes around; `inheriting` is the depth of the innermost scope
    from here outwards that has base classes, 0 if none has. `instance` are the field declarators and blocks that
    run when an object is made; `components` are those of a record; `written` is what Lombok adds.
    """

    entity: int
    body: Body | None = None
    value: int = NIL
    outer: "Scope | None" = None
    kind: str = "module"
    depth: int = 0
    inherits: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    methods: dict[str, set[str]] = field(default_factory=dict)
    types: dict[object, int] = field(default_factory=dict)
    instance: list = field(default_factory=list)
    components: Node | None = None
    written: "Plan | None" = None
    n_fields: int = 0

    @property
    def inheriting(self) -> int:
        scope = self
        while scope is not None and not scope.inherits:
            scope = scope.outer
        return 0 if scope is None else scope.depth


Types = dict[str, tuple[int, int]]
"""The value of every type that can be named here, with the depth of the scope that declares it."""


class Environment:
    """The local variables and types that can be named at the place of the walk; blocks nest."""

    def __init__(self, variables: dict[str, Local] | None = None, types: Types | None = None) -> None:
        self.variables: dict[str, Local] = variables or {}
        self.types: Types = types or {}
        self._replaced: list[tuple[dict, str, object]] = []

    def copy(self, names: Iterable[str]) -> "Environment":
        """Return what can be named here, of variables some `names` only, for code that is walked later."""
        taken = {name: self.variables[name] for name in names if name in self.variables}
        return Environment(taken, dict(self.types))

    def open(self) -> int:
        """Begin a block; the result is for `close`."""
        return len(self._replaced)

    def close(self, mark: int) -> None:
        """End a block: its names mean again what they meant before it."""
        while len(self._replaced) > mark:
            names, name, before = self._replaced.pop()
            if before is None:
                del names[name]
            else:
                names[name] = before

    def declare(self, variable: Local) -> None:
        """Let a name mean `variable` up to the end of the block."""
        variable.number = variable.number or len(self._replaced)
        self._replaced.append((self.variables, variable.name, self.variables.get(variable.name)))
        self.variables[variable.name] = variable

    def declare_type(self, name: str, value: int, depth: int) -> None:
        """Let the name of a type mean `value` up to the end of the block."""
        self._replaced.append((self.types, name, self.types.get(name)))
        self.types[name] = value, depth

    def declared_since(self, mark: int) -> list[Local]:
        """Return the variables that the block begun at `mark` declared."""
        return [names[name] for names, name, _ in self._replaced[mark:] if names is self.variables]
