"""One Python file while its facts are made: where the walk is, and what every handler needs."""

from collections import Counter
from collections.abc import Callable

from tree_sitter import Node

from facts.function_body import MODULE, Body, Variable
from facts.python import tree
from facts.python.builtins import BUILTINS
from facts.python.scopes import Scope, Scopes
from facts.source_text import SourceText
from facts.ssa import UNDEFINED
from facts.tree_walk import Walk


class Unit(Walk):
    """The state of the walk over one file.

    `scope` gives names their meaning, `body` takes instructions. A class body runs inside the body around it: then
    `bodies` holds that one first, and its variables are read there. Functions wait in `waiting` until the body that
    defines them is done.
    """

    LANGUAGE = "python"
    STATEMENTS, EXPRESSIONS = tree.STATEMENTS, tree.EXPRESSIONS
    REQUIRED = {
        "function_definition": (tree.NAME, tree.PARAMETERS, tree.BODY),
        "class_definition": (tree.NAME, tree.BODY),
        "if_statement": (tree.CONDITION, tree.CONSEQUENCE),
        "for_statement": (tree.LEFT, tree.RIGHT, tree.BODY),
        "while_statement": (tree.CONDITION, tree.BODY),
        "try_statement": (tree.BODY,),
        "with_statement": (tree.BODY,),
        "match_statement": (tree.SUBJECT, tree.BODY),
        "decorated_definition": (tree.DEFINITION,),
    }
    BLOCKS = frozenset({"block"})

    def __init__(self, root: Node, text: SourceText) -> None:
        super().__init__(root, text)
        self.scopes = Scopes(root, self.source)
        self.n_annotated: Counter[int] = Counter()
        self.open_body(MODULE, self.scopes.module)

    # ---- Bodies

    def open_body(self, entity: int, scope: Scope) -> None:
        """Go on in the body of a module or function."""
        scope.entity = entity
        self.scope = scope
        self.body = Body(self.facts, entity, lambda variable: self._initial(scope, variable))
        self.bodies = [self.body]
        self.caught: list[int] = []

    def open_class(self, entity: int, scope: Scope) -> None:
        """Go on in a class body, inside the body at hand."""
        scope.entity = entity
        self.scope = scope
        self.body = Body(self.facts, entity, lambda variable: self._initial(scope, variable))
        self.bodies.append(self.body)

    def close_class(self) -> None:
        """Go back to the body around a class body."""
        self.body.finish()
        self.bodies.pop()
        self.body = self.bodies[-1]
        self.scope = self.scope.parent

    def _initial(self, scope: Scope, variable: Variable) -> int:
        """Return what a variable of a body means before it is bound: an outer one (in a class) or a builtin."""
        if scope.kind == "class":
            return self._read(scope.parent.meaning(variable.name), variable.name)
        if scope.kind == "module" and (scope.star_import or variable.name in BUILTINS):
            return self._builtin(variable.name)
        return UNDEFINED

    # ---- Names

    def read(self, name: str) -> int:
        """Return the value of `name` here."""
        variable = self.scope.meaning(name)
        value = self._read(variable, name)
        if variable is not None and not variable.rebound and variable.owner == self._body_of(variable).entity:
            self.emit("read", value)
        return value

    def _read(self, variable: Variable | None, name: str) -> int:
        return self._builtin(name) if variable is None else self._body_of(variable).read(variable)

    def _builtin(self, name: str) -> int:
        return self.bodies[0].load_once(name, name, "load_name", MODULE, name)

    def _body_of(self, variable: Variable) -> Body:
        return self.body if variable.owner == self.body.entity else self.bodies[0]

    def bind(self, name: str, value: int, kind: str) -> None:
        """Bind `name` to `value`, an entity that was made for it."""
        variable = self.scope.meaning(name)
        if variable is None:
            variable = self.scope.body.variable(name)
        if variable.owner == self.scope.body.entity:
            self.scope.body.assigned[name] = None
        self._body_of(variable).bind(variable, value)
        self.emit("binds", value, variable.owner, name, kind)

    def assign(self, name: str, source: int, kind: str, node: Node) -> int:
        """Bind `name` to a new value that is `source`; return it."""
        value = self.entity(name, node)
        self.emit("assign", value, source)
        self.bind(name, value, kind)
        return value

    def unbind(self, name: str, node: Node) -> None:
        """Execute `del name`."""
        variable = self.scope.meaning(name) or self.scope.body.variable(name)
        delete = self.entity("del " + name, node)
        self._body_of(variable).unbind(variable, delete)
        self.emit("deletes", delete, variable.owner, name)

    # ---- Walking

    def way_back(self) -> Callable[[], None]:
        scope, bodies = self.scope, len(self.bodies)

        def go_back() -> None:
            self.scope = scope
            del self.bodies[bodies:]

        return go_back
