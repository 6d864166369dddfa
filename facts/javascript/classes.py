"""Classes: bases, methods, fields, static parts, decorators."""

from tree_sitter import Node

from facts.instructions import load_attribute, store_index
from facts.javascript.bodies import store_field
from facts.javascript.calls import with_type_arguments
from facts.javascript.declared_types import is_constructor, is_static
from facts.javascript.expressions import accessor_kind, property_index
from facts.javascript.functions import (
    Definition,
    apply_decorators,
    begin_function,
    children_in,
    define_function,
    define_value,
    state_kind,
    type_scope,
)
from facts.javascript.handler_tables import EXPRESSIONS, STATEMENTS, child_of_type, children, field, only_child, tokens
from facts.javascript.literals import property_label, property_name
from facts.javascript.scopes import FUNCTION
from facts.javascript.unit import Unit
from facts.row_builder import tail

FIELDS = ("field_definition", "public_field_definition")
_SIGNATURES = ("method_signature", "abstract_method_signature")


@STATEMENTS("class_declaration", "abstract_class_declaration")
def _declaration(unit: Unit, node: Node) -> None:
    define_class(unit, node, unit.text(field(node, "name")))


@EXPRESSIONS("class")
def _expression(unit: Unit, node: Node) -> int:
    given, name = unit.take_name(), field(node, "name")
    return define_class(unit, node, unit.text(name) if name is not None else given or "<class>")


def define_class(unit: Unit, node: Node, name: str) -> int:
    """Evaluate a class in place and bind its name; return its value."""
    entity = unit.entity("class " + name, node)
    unit.emit("class", entity, unit.body.entity, name)
    unit.emit("class_kind", entity, "class")
    if node.type == "abstract_class_declaration":
        unit.emit("modifier", entity, "abstract")
    outer, inner = unit.scope, unit.scopes.of(node, "block", unit.scope)
    unit.scope = inner
    unit.scope = type_scope(unit, node, entity)
    derived = _bases(unit, entity, child_of_type(node, "class_heritage"))
    value = define_value(unit, entity, name, field(node, "name") or node, None)
    if field(node, "name") is not None:
        unit.bind(name, value, "class")
    decorators, unit.decorators = [*unit.decorators, *children_in(node, "decorator")], []
    apply_decorators(unit, decorators, entity, value)
    Members(unit, entity, value, derived).state(field(node, "body"))
    unit.scope = outer
    return value


def _bases(unit: Unit, entity: int, node: Node | None) -> bool:
    """State what a class extends, then what it implements; whether it extends anything."""
    position, derived = 0, False
    for clause in children(node):
        implemented = clause.type == "implements_clause"
        parents = children(clause) if implemented else [field(clause, "value") or clause]
        for parent in parents:
            value = unit.value(parent)
            if not implemented and clause.type == "extends_clause":
                value = with_type_arguments(unit, clause, value)
            unit.emit("base", entity, position, value)
            position += 1
            derived |= not implemented
    return derived


class Members:
    """States the members of a class: methods at once, static parts in their order behind them."""

    def __init__(self, unit: Unit, entity: int, value: int, derived: bool) -> None:
        self._unit, self._entity, self._value, self._derived = unit, entity, value, derived
        self._fields: list[Node] = []
        self._static: list[Node] = []
        self._constructor: Definition | None = None

    def state(self, body: Node | None) -> None:
        decorators: list[Node] = []
        written = (field(member, "name") for member in children(body) if member.type == "method_definition")
        self._written = {property_name(self._unit, name) for name in written}
        for member in children(body):
            if member.type == "decorator":
                decorators.append(member)
                continue
            self._member(member, decorators + children_in(member, "decorator"))
            decorators = []
        if self._fields and self._constructor is None:
            self._unwritten_constructor(body)
        if self._constructor is not None:
            self._constructor.fields = self._fields
        self._run_static()

    def _member(self, node: Node, decorators: list[Node]) -> None:
        if node.type in FIELDS:
            self._field(node, decorators)
        elif node.type == "class_static_block":
            self._static.append(node)
        elif node.type == "method_definition" and is_constructor(self._unit, node):
            self._written_constructor(node)
        elif node.type == "method_definition" or node.type in _SIGNATURES:
            self._method(node, decorators)
        elif node.type == "index_signature":
            self._unit.statement(node)
        else:
            self._unit.unknown(node)

    def _method(self, node: Node, decorators: list[Node]) -> None:
        unit, key = self._unit, field(node, "name")
        index = property_index(unit, key)
        definition, value = define_function(unit, node, property_label(unit, key), self._entity)
        function = definition.function
        if node.type == "abstract_method_signature" and "abstract" not in tokens(node):
            unit.emit("modifier", function, "abstract")
        apply_decorators(unit, decorators, function, value)
        kind = accessor_kind(node)
        if not isinstance(index, str):
            base = self._value if is_static(node) else load_attribute(unit, self._value, "prototype", node)
            store_index(unit, base, index, value, node)
        elif kind:
            unit.emit("accessor", self._entity, index, function, kind)
        elif node.type != "method_signature" or index not in self._written:
            unit.emit("member", self._entity, index, value)

    def _written_constructor(self, node: Node) -> None:
        unit = self._unit
        definition = begin_function(unit, node, "constructor", self._entity)
        definition.derived = self._derived
        unit.emit("constructor", self._entity, definition.function)
        unit.waiting.append(definition)
        self._constructor = definition

    def _unwritten_constructor(self, body: Node | None) -> None:
        unit = self._unit
        scope = unit.scopes.of(body, FUNCTION, unit.scope)
        function = unit.facts.entity(self._entity, "def constructor", body.start_byte, body.end_byte)
        unit.emit("function", function, self._entity, "constructor")
        unit.emit("constructor", self._entity, function)
        unit.body.capture(scope.captures)
        self._constructor = Definition(body, scope, function, derived=self._derived)
        unit.waiting.append(self._constructor)

    def _field(self, node: Node, decorators: list[Node]) -> None:
        unit, key, declared = self._unit, field(node, "property") or field(node, "name"), field(node, "type")
        name = property_name(unit, key)
        if name is None:
            for part in (only_child(key), *(only_child(decorator) for decorator in decorators), declared):
                if part is not None:
                    unit.value(part)
        else:
            entity = unit.facts.entity(self._entity, "field " + tail(name), node.start_byte, node.end_byte)
            unit.emit("field", entity, self._entity, name)
            state_kind(unit, entity, node)
            apply_decorators(unit, decorators, entity, None)
        if declared is not None and name is not None:
            state_attribute(unit, self._entity, name, declared)
        if field(node, "value") is not None:
            (self._static if is_static(node) else self._fields).append(node)

    def _run_static(self) -> None:
        """Run static initialisers and blocks, in the order of the class; `this` is the class."""
        unit = self._unit
        for node in self._static:
            with unit.inside(node) as scope:
                self._bind_this(scope)
                if node.type in FIELDS:
                    store_field(unit, node)
                else:
                    unit.statements(field(node, "body"))

    def _bind_this(self, scope) -> None:
        unit, variable = self._unit, scope.values.get("this")
        if variable is not None and variable.entry is None:
            variable.entry = unit.facts.entity(unit.body.entity, "this")
            unit.emit("assign", variable.entry, self._value)
            unit.body.bind(scope.own(variable), variable.entry)


def state_attribute(unit: Unit, entity: int, name: str, declared: Node) -> None:
    """State the type that an attribute is declared to have."""
    position = unit.n_annotated.get(entity, 0)
    unit.n_annotated[entity] = position + 1
    unit.emit("attribute_annotation", entity, position, name, unit.value(declared))
