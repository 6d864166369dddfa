"""One Java file while its facts are made: where the walk is, and what every handler needs."""

from collections.abc import Callable

from tree_sitter import Node

from facts.file_facts import NIL
from facts.function_body import MODULE, Body
from facts.java import tree
from facts.java.captures import Captures
from facts.java.scopes import INSTANCE, STATIC, Environment, Local, Scope
from facts.source_text import SourceText
from facts.tree_walk import Walk

THIS = "this"
# Every class has these methods.
_OF_OBJECTS = frozenset("clone equals finalize getClass hashCode notify notifyAll toString wait".split())


class Unit(Walk):
    """The state of the walk over one file.

    `scope` is the class around, `names` the local variables and types, `body` takes instructions. What runs later waits
    in `waiting` until the body that defines it is done: classes, methods, lambdas. The bodies of module and classes
    stay open to the end, as they load the names of types for all code in them.
    """

    LANGUAGE = "java"
    STATEMENTS, EXPRESSIONS = tree.STATEMENTS, tree.EXPRESSIONS
    REQUIRED = {
        "class_declaration": (tree.NAME, tree.BODY),
        "interface_declaration": (tree.NAME, tree.BODY),
        "enum_declaration": (tree.NAME, tree.BODY),
        "record_declaration": (tree.NAME, tree.PARAMETERS, tree.BODY),
        "annotation_type_declaration": (tree.NAME, tree.BODY),
        "method_declaration": (tree.NAME, tree.PARAMETERS),
        "constructor_declaration": (tree.NAME, tree.PARAMETERS, tree.BODY),
        "if_statement": (tree.CONDITION, tree.CONSEQUENCE),
        "for_statement": (tree.BODY,),
        "enhanced_for_statement": (tree.NAME, tree.VALUE, tree.BODY),
        "while_statement": (tree.CONDITION, tree.BODY),
        "do_statement": (tree.CONDITION, tree.BODY),
        "try_statement": (tree.BODY,),
        "try_with_resources_statement": (tree.RESOURCES, tree.BODY),
        "synchronized_statement": (tree.BODY,),
        "switch_expression": (tree.CONDITION, tree.BODY),
    }
    BLOCKS = frozenset(
        {
            "class_body",
            "interface_body",
            "enum_body",
            "annotation_type_body",
            "constructor_body",
            "switch_block",
            "switch_block_statement_group",
        }
    )

    def __init__(self, root: Node, text: SourceText) -> None:
        super().__init__(root, text)
        self.captures = Captures(root, self.source)
        self.captured: frozenset[str] = frozenset()
        self.names = Environment()
        self.body = Body(self.facts, MODULE)
        self.module = self.scope = Scope(MODULE, self.body)
        self.open_bodies = [self.body]
        self.labels: tuple[str, ...] = ()
        # Classes that are declared before their place in the walk, by node: entity and value.
        self.declared: dict[int, tuple[int, int]] = {}
        self.results: tuple[object, ...] = ()
        # What `import static` brings: values by name, and whether some bring names that are not known.
        self.static_imports: dict[str, int] = {}
        self.static_star = False

    # ---- Code that is walked later

    def later(self, node: Node, build: Callable, *arguments: object) -> None:
        """Let `build(unit, node, …)` run when the body at hand is done, with the names of this place."""
        taken = (THIS, *self.captures.free(node)) if self.captures.is_nested(node) else self.names.variables
        self.waiting.append((node, build, arguments, self.scope, self.names.copy(taken)))

    def build_next(self) -> None:
        """Go on with what has waited longest."""
        node, build, arguments, self.scope, self.names = self.waiting.popleft()
        self.body = self.module.body
        self.attempt(lambda unit, node: build(unit, node, *arguments), node)

    def open_body(self, entity: int, captured: frozenset[str]) -> None:
        """Go on in the body of a function, of whose variables lambdas and classes in it read those `captured`."""
        self.body = Body(self.facts, entity)
        self.captured = captured

    def open_class(self, scope: Scope) -> None:
        """Go on in the body of a class, which the names of types in it belong to."""
        self.scope = scope
        self.body = scope.body = Body(self.facts, scope.entity)
        self.open_bodies.append(self.body)
        for name in (THIS, *scope.fields):
            self.names.variables.pop(name, None)

    def way_back(self) -> Callable[[], None]:
        scope, names, mark, labels = self.scope, self.names, self.names.open(), self.labels

        def go_back() -> None:
            self.scope, self.names, self.labels = scope, names, labels
            names.close(mark)

        return go_back

    def capture(self, nested: Node) -> bool:
        """State that the lambda or class `nested` may run from here on. Return True if it reads variables."""
        variables = self.names.variables
        found = self.captures.free(nested)
        if self._takes_this(found):
            found |= {THIS}
        taken = [variables[name] for name in found if name in variables]
        self.body.capture(sorted(taken, key=lambda variable: (variable.number, variable.name)))
        return bool(taken)

    # ---- Local variables

    def declare(self, name: str, kind: int = NIL) -> Local:
        """Declare a local variable with the value of its type."""
        variable = Local(name, self.body.entity, shared=name in self.captured, type=kind)
        self.names.declare(variable)
        return variable

    def receive(self, value: int) -> None:
        """Let `this` be `value` in the function at hand."""
        variable = Local(THIS, self.body.entity, shared=THIS in self.captured or self._takes_this(self.captured))
        self.names.declare(variable)
        self.body.bind(variable, value)

    def _takes_this(self, captured: frozenset[str]) -> bool:
        """Return True if some captured name is a member of the class, that is, of `this`."""
        fields, methods = self.scope.fields, self.scope.methods
        return any(fields.get(name) == INSTANCE or name[:-2] in methods for name in captured)

    def assign(self, variable: Local, source: int, kind: str, node: Node) -> int:
        """Let `variable` have a new value that is `source`; return it."""
        value = self.entity(variable.name, node)
        self.emit("assign", value, source)
        self.bind(variable, value, kind)
        if variable.type != NIL:
            self.emit("annotation", value, variable.type)
        return value

    def bind(self, variable: Local, value: int, kind: str) -> None:
        """Let `variable` have `value`, an entity that was made for it."""
        self.body.bind(variable, value)
        self.emit("binds", value, variable.owner, variable.name, kind)

    def this(self) -> int:
        """Return the receiver of the method around; unknown where there is none."""
        variable = self.names.variables.get(THIS)
        return self.unknown(None) if variable is None else self.body.read(variable)

    # ---- Names

    def read(self, name: str, node: Node) -> int:
        """Return the value of `name` as an expression: of a local variable or a field."""
        variable = self.names.variables.get(name)
        if variable is not None:
            value = self.body.read(variable)
            if variable.owner == self.body.entity and not variable.rebound:
                self.emit("read", value)
            return value
        base = self.field_owner(name)
        return self.load(base, name, node) if base is not None else self._outer(name, node, False)

    def field_owner(self, name: str) -> int | None:
        """Return the object or class whose field `name` means; None where that takes other files or objects."""
        scope = self.scope
        while scope.kind != "module":
            kind = scope.fields.get(name)
            if kind == STATIC:
                return scope.value
            if kind == INSTANCE:
                return self.this() if scope is self.scope and THIS in self.names.variables else None
            if scope.inherits:
                return None
            scope = scope.outer
        return None

    def method(self, name: str, node: Node) -> int:
        """Return the method that `name` means where it is called without an object."""
        scope = self.scope
        while scope.kind != "module":
            kinds = scope.methods.get(name)
            if kinds is not None:
                if scope is self.scope and THIS in self.names.variables:
                    return self.load(self.this(), name, node)
                return self.load(scope.value, name, node) if kinds == {STATIC} else self._outer(name, node, False)
            if scope.inherits:
                break
            scope = scope.outer
        return self._outer(name, node, False)

    def load(self, base: int, name: str, node: Node) -> int:
        """Return the attribute of `base` that is written as `name` alone."""
        value = self.body.instruction(self.entity(name, node))
        self.emit("load_attribute", value, base, name)
        return value

    def qualifier(self, node: Node) -> int:
        """Evaluate what stands before a dot: an expression, or the name of a type or package."""
        if node.kind_id != tree.IDENTIFIER:
            return self.value(node)
        name = self.text(node)
        if name in self.names.variables or self.field_owner(name) is not None:
            return self.read(name, node)
        if name in self.names.types or _looks_like_type(name):
            return self.type_named(name)
        return self._outer(name, node, True)

    def _outer(self, name: str, node: Node, is_qualifier: bool) -> int:
        """Return what `name` means that is no local variable: inherited, of an object around, imported, a package."""
        imported = self.static_imports.get(name)
        if imported is None and (is_qualifier or self.static_star):
            imported = self.unbound(name)
        if not self._is_inherited(name) and imported is not None:
            return imported
        value = self.body.instruction(self.entity(name, node))
        self.emit("load_enclosing", value, self.body.entity, name)
        if imported is not None:
            self.emit("fallback", value, imported)
        return value

    def _is_inherited(self, name: str) -> bool:
        """Return True if a class around may have the member: it declares it, or has base classes."""
        scope = self.scope
        while scope.kind != "module":
            if scope.inherits or name in scope.fields or name in scope.methods:
                return True
            scope = scope.outer
        return name in _OF_OBJECTS

    def store_outer(self, name: str, source: int, node: Node) -> None:
        """Store `source` in the field that `name` means, as it is no local variable."""
        base = self.field_owner(name)
        store = self.body.instruction(self.entity(name + " =", node))
        if base is not None:
            self.emit("store_attribute", store, base, name, source)
        else:
            self.emit("store_enclosing", store, self.body.entity, name, source)

    # ---- Types

    def type_named(self, name: str) -> int:
        """Return the value of a type: one per class, whatever the number of places."""
        value, depth = self.names.types.get(name, (NIL, 0))
        if value == NIL:
            value = self.unbound(name)
        if depth >= self.scope.inheriting:
            return value
        loaded = self.scope.types.get(name)
        if loaded is None:
            body = self.scope.body
            loaded = body.load_once(name, name, "load_enclosing", body.entity, name)
            self.scope.types[name] = loaded
            self.emit("fallback", loaded, value)
        return loaded

    def unbound(self, name: str) -> int:
        """Return what a name means that the file neither declares nor imports: a type or package."""
        return self.module.body.load_once(name, name, "load_name", MODULE, name)

    def member_of(self, base: int, name: str) -> int:
        """Return the attribute `name` of `base`, a type or package: one per class."""
        key = base, name
        value = self.scope.types.get(key)
        if value is None:
            label = f"{self.label(base)}.{name}"
            value = self.scope.types[key] = self.scope.body.load_once(key, label, "load_attribute", base, name)
        return value

    def super(self, kind: int) -> int:
        """Return the receiver as an object of its base class; or of the type `kind` that is written before `super`."""
        return self.body.load_once(("super", kind), "super", "super", self.body.entity, kind)


def _looks_like_type(name: str) -> bool:
    """Return True if a name is written as types are by convention; constants and packages are not."""
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())
