"""Types that a program declares: structs, interfaces, and those made of other types."""

from tree_sitter import Node

from facts.go import tree
from facts.go.functions import state_signature
from facts.go.literals import string, text_of
from facts.go.scopes import TYPE
from facts.go.tree import EXPRESSIONS, STATEMENTS, children
from facts.go.type_values import bind_type_parameters
from facts.go.unit import Unit
from facts.row_builder import tail

_STRUCT, _INTERFACE = tree.kind_ids("struct_type"), tree.kind_ids("interface_type")


@STATEMENTS("type_declaration")
def _declaration(unit: Unit, node: Node) -> None:
    unit.statements(node)


@STATEMENTS("type_spec")
def _type_spec(unit: Unit, node: Node) -> None:
    """`type T …` is a new type: its fields and methods are its own, what else it is made of is its base."""
    name, kind = node.child_by_field_id(tree.NAME), node.child_by_field_id(tree.TYPE)
    text = unit.text(name)
    cls = _class(unit, "class " + text, text, kind, node)
    value = unit.entity(text, name)
    unit.emit("define", value, cls)
    _bind(unit, name, kind, value)
    outer = unit.open_scope()
    bind_type_parameters(unit, cls, node.child_by_field_id(tree.TYPE_PARAMETERS))
    _contents(unit, cls, kind)
    unit.scope = outer


@STATEMENTS("type_alias")
def _type_alias(unit: Unit, node: Node) -> None:
    name, kind = node.child_by_field_id(tree.NAME), node.child_by_field_id(tree.TYPE)
    value = unit.entity(unit.text(name), name)
    outer = unit.open_scope()
    bind_type_parameters(unit, value, node.child_by_field_id(tree.TYPE_PARAMETERS))
    unit.emit("assign", value, unit.value(kind))
    unit.scope = outer
    _bind(unit, name, kind, value)


def _bind(unit: Unit, name: Node, kind: Node | None, value: int) -> None:
    text = unit.text(name)
    if text == "_":
        return
    if unit.scope is unit.file:
        unit.bind(unit.declare(name, TYPE), value, "type")
        return
    declared = unit.declare(name, TYPE)
    declared.value, declared.shape = value, kind
    unit.emit("binds", value, unit.body.entity, text, "type")


def _class(unit: Unit, label: str, name: str, kind: Node | None, node: Node) -> int:
    cls = unit.entity(label, node)
    unit.emit("class", cls, unit.body.entity, name)
    form = kind.kind_id if kind is not None else 0
    unit.emit("class_kind", cls, "struct" if form in _STRUCT else "interface" if form in _INTERFACE else "named")
    return cls


@EXPRESSIONS("struct_type", "interface_type")
def _anonymous(unit: Unit, node: Node) -> int:
    """A struct or interface without a name: a type of its own; `interface{}` and `struct{}` are everywhere the same."""
    label = tail("type " + unit.words(node))
    parts = children(node)
    if not parts or (node.type == "struct_type" and not children(parts[0])):
        return unit.body.load_once(label, label, "allocate", "type")
    cls = _class(unit, label, "", node, node)
    value = unit.entity(tail(unit.words(node)), node)
    unit.emit("define", value, cls)
    _contents(unit, cls, node)
    return value


def _contents(unit: Unit, cls: int, kind: Node | None) -> None:
    if kind is not None and kind.kind_id in _STRUCT:
        _Struct(unit, cls).state(kind)
    elif kind is not None and kind.kind_id in _INTERFACE:
        _interface(unit, cls, kind)
    else:
        unit.emit("base", cls, 0, unit.value(kind))


class _Struct:
    """A struct under construction: positions count its fields, those of embedded types among them."""

    def __init__(self, unit: Unit, cls: int) -> None:
        self.unit, self.cls, self.position, self.n_bases = unit, cls, 0, 0

    def state(self, node: Node) -> None:
        """State the fields; an embedded type is a base, and a field of its own name."""
        for fields in children(node):
            for declaration in children(fields):
                if declaration.type == "field_declaration":
                    self._declaration(declaration)

    def _declaration(self, node: Node) -> None:
        unit, kind = self.unit, node.child_by_field_id(tree.TYPE)
        type_value, names = unit.value(kind), list(tree.with_fields(node, tree.NAME))
        if not names and kind is not None:
            unit.emit("base", self.cls, self.n_bases, type_value)
            self.n_bases += 1
            self._field(_embedded_name(unit, kind), kind, type_value, node)
        for name in names:
            self._field(unit.text(name), name, type_value, node)

    def _field(self, name: str, place: Node, type_value: int, node: Node) -> None:
        unit = self.unit
        entity = unit.facts.entity(self.cls, name, place.start_byte, place.end_byte)
        unit.emit("field", entity, self.cls, name)
        unit.emit("attribute_annotation", self.cls, self.position, name, type_value)
        tag = node.child_by_field_id(tree.TAG)
        if tag is not None:
            unit.emit("decorates", string(unit, text_of(unit, tag), tag), entity, 0)
        self.position += 1


def _embedded_name(unit: Unit, kind: Node) -> str:
    while kind.type in ("generic_type", "qualified_type"):
        kind = kind.child_by_field_id(tree.TYPE if kind.type == "generic_type" else tree.NAME)
    return unit.text(kind)


def _interface(unit: Unit, cls: int, node: Node) -> None:
    """Methods are functions without code; embedded interfaces and sets of types are bases."""
    n_bases = 0
    for part in children(node):
        if part.type == "method_elem":
            _method(unit, cls, part)
        else:
            unit.emit("base", cls, n_bases, unit.value(part))
            n_bases += 1


def _method(unit: Unit, cls: int, node: Node) -> None:
    name = node.child_by_field_id(tree.NAME)
    text = unit.text(name)
    function = unit.facts.entity(cls, "def " + text, node.start_byte, node.end_byte)
    unit.emit("function", function, cls, text)
    unit.emit("modifier", function, "abstract")
    value = unit.facts.entity(cls, text, name.start_byte, name.end_byte)
    unit.emit("define", value, function)
    unit.emit("member", cls, text, value)
    state_signature(unit, function, node)
