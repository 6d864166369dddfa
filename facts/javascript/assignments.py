"""Declarations and assignments: names, patterns, members, `op=`, `++`."""

from collections.abc import Callable

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.instructions import allocate, load_attribute, load_index, merged, operation, store_attribute, store_index
from facts.javascript.calls import subscript_key
from facts.javascript.expressions import property_index
from facts.javascript.handler_tables import EXPRESSIONS, STATEMENTS, children, field, only_child
from facts.javascript.literals import undefined
from facts.javascript.names import evaluate_named
from facts.javascript.operators import go_on_if, unwrapped
from facts.javascript.unit import Unit
from facts.row_builder import tail

_NAMES = ("identifier", "shorthand_property_identifier_pattern")
_MEMBERS = ("member_expression", "subscript_expression")
_WRAPPERS = ("parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression")


@STATEMENTS("variable_declaration", "lexical_declaration", "using_declaration")
def _declaration(unit: Unit, node: Node) -> None:
    keyword = node.children[0].type
    for declarator in children(node):
        if declarator.type == "variable_declarator":
            _declare(unit, declarator, keyword)


def _declare(unit: Unit, node: Node, keyword: str) -> None:
    target, source = field(node, "name"), field(node, "value")
    name = unit.text(target) if target is not None and target.type == "identifier" else ""
    value = None
    if source is not None:
        given = _resource(unit, evaluate_named(unit, source, name), node, keyword)
        value = assign_target(unit, target, given)
        if value is None:
            value = given  # The type of a pattern is that of what is taken apart.
    elif name and keyword == "let":
        value = unit.assign(name, undefined(unit), "variable", target)
    elif name and keyword == "const":
        # Without a value only where the code that gives it is elsewhere: `declare const`.
        value = unit.entity(name, target)
        unit.bind(name, value, "variable")
    annotate(unit, value, field(node, "type"))


def _resource(unit: Unit, source: int, node: Node, keyword: str) -> int:
    """Return what a declaration binds: by `using` a resource that is entered."""
    if keyword not in ("using", "await"):
        return source
    value = unit.body.running(unit.entity(tail("enter " + unit.label(source)), node))
    unit.emit("enter", value, source)
    return value


def annotate(unit: Unit, value: int | None, declared: Node | None) -> None:
    """State the type that a value is declared to have; a variable without a value has a type all the same."""
    if declared is None:
        return
    declared_type = unit.value(declared)
    if value is not None:
        unit.emit("annotation", value, declared_type)


@EXPRESSIONS("assignment_expression")
def _assignment(unit: Unit, node: Node) -> int:
    """`target = value`, several in a row from the outermost inwards: bases of members are read before the value."""
    chain = []
    while node is not None and node.type == "assignment_expression":
        chain.append(_target(unit, field(node, "left")))
        node = unwrapped(field(node, "right"))
    name = next((label for label, _ in reversed(chain) if label), "")
    source = evaluate_named(unit, node, name)
    for _, store in reversed(chain):
        store(source)
    return source


def _target(unit: Unit, node: Node | None) -> tuple[str, Callable[[int], object]]:
    """Evaluate the parts of a target; return the name that it gives to functions, and what assigns to it."""
    node = _unwrapped_target(unit, node)
    if node is None:
        return "", lambda source: None
    if node.type not in _MEMBERS:
        name = unit.text(node) if node.type == "identifier" else ""
        return name, lambda source: assign_target(unit, node, source)
    base, key = _member(unit, node)
    if isinstance(key, str):
        return key, lambda source: store_attribute(unit, base, key, source, node)
    return "", lambda source: store_index(unit, base, key, source, node)


def _unwrapped_target(unit: Unit, node: Node | None) -> Node | None:
    """Return what is assigned to: `(x as T) = …` assigns to x. The types are read."""
    while node is not None and node.type in _WRAPPERS:
        parts = children(node)
        for declared in parts[1:]:
            unit.value(declared)
        node = parts[0] if parts else None
    return node


def _member(unit: Unit, node: Node) -> tuple[int, str | int]:
    """Evaluate the base of a member and its index, or give its name."""
    base = unit.value(field(node, "object"))
    if node.type == "member_expression":
        return base, unit.text(field(node, "property"))
    return base, subscript_key(unit, node)


def assign_target(unit: Unit, node: Node | None, source: int, kind: str = "variable") -> int | None:
    """Assign `source` to a target or pattern; return the value that a name got, None for others."""
    node = _unwrapped_target(unit, node)
    what = node.type if node is not None else "undefined"
    if what in _NAMES:
        return unit.assign(unit.text(node), source, kind, node)
    if what in _MEMBERS:
        _target(unit, node)[1](source)
    elif what == "object_pattern":
        for part in children(node):
            _assign_property(unit, part, source, kind)
    elif what == "array_pattern":
        _assign_elements(unit, node, source, kind)
    elif what in ("assignment_pattern", "object_assignment_pattern"):
        _assign_or_default(unit, node, source, kind)
    elif what not in ("undefined", "this"):
        unit.unknown(node)
    return None


def _assign_or_default(unit: Unit, node: Node, source: int, kind: str) -> None:
    target = field(node, "left")
    assign_target(unit, target, defaulted(unit, source, field(node, "right"), unit.words(target)), kind)


def defaulted(unit: Unit, source: int, default: Node | None, name: str) -> int:
    """Return `source`, or where it is undefined what `default` evaluates to."""
    body = unit.body
    label = tail("default " + name)
    following, after = body.new_block(label), body.new_block("after " + label)
    condition = operation(unit, "===", [source, undefined(unit)], default)
    entering: list[tuple[int, Block]] = [(source, body.block)]
    body.branch(condition, following, after)
    body.start(following)
    entering.append((evaluate_named(unit, default, name), body.block))
    body.goto(after)
    body.start(after)
    return merged(unit, label, entering, default)


def _assign_property(unit: Unit, node: Node, source: int, kind: str) -> None:
    """Assign a property of `source` to a part of an object pattern."""
    if node.type == "rest_pattern":
        rest = unit.entity("object", node)
        unit.emit("spread", rest, source, -1)
        assign_target(unit, only_child(node), allocate(unit, rest, "object"), kind)
        return
    if node.type == "pair_pattern":
        key, target = property_index(unit, field(node, "key")), field(node, "value")
    else:
        target = node
        key = unit.text(field(node, "left") if node.type == "object_assignment_pattern" else node)
    load = load_attribute if isinstance(key, str) else load_index
    assign_target(unit, target, load(unit, source, key, node), kind)


def _assign_elements(unit: Unit, node: Node, source: int, kind: str) -> None:
    """Assign the elements of `source` to the parts of an array pattern; holes take one each."""
    position = 0
    for part in node.children:
        if part.type == ",":
            position += 1
        elif part.type == "rest_pattern":
            value = unit.body.instruction(unit.entity(tail(f"...{unit.label(source)}"), part))
            unit.emit("unpack_rest", value, source, position, 0)
            assign_target(unit, only_child(part), value, kind)
        elif part.is_named and part.type not in ("comment", "html_comment"):
            value = unit.body.instruction(unit.entity(tail(f"{unit.label(source)}[{position}]"), part))
            unit.emit("unpack", value, source, position)
            assign_target(unit, part, value, kind)


@EXPRESSIONS("augmented_assignment_expression")
def _augmented(unit: Unit, node: Node) -> int:
    """`target op= value`: the target's parts are evaluated once, then read, computed and stored."""
    operator = field(node, "operator").type
    old, store = _read_target(unit, field(node, "left"))
    right = field(node, "right")
    if operator[:-1] not in ("&&", "||", "??"):
        value = operation(unit, operator, [old, unit.value(right)], node)
        store(value)
        return value
    body = unit.body
    following = body.new_block(f"{operator} {unit.label(old)}")
    after = body.new_block(f"after {operator} {unit.label(old)}")
    entering = [(old, go_on_if(unit, operator[:-1], old, following, after, node))]
    body.start(following)
    value = evaluate_named(unit, right, unit.words(field(node, "left")))
    store(value)
    entering.append((value, body.block))
    body.goto(after)
    body.start(after)
    return merged(unit, operator, entering, node)


@EXPRESSIONS("update_expression")
def _update(unit: Unit, node: Node) -> int:
    """`++x` has the new value, `x++` the old one."""
    operator = field(node, "operator")
    old, store = _read_target(unit, field(node, "argument"))
    value = operation(unit, operator.type, [old], node)
    store(value)
    return value if operator.start_byte == node.start_byte else old


def _read_target(unit: Unit, node: Node | None) -> tuple[int, Callable[[int], object]]:
    """Return the value of a target, and what assigns to it."""
    while node is not None and node.type in _WRAPPERS:
        node = only_child(node)
    if node is None or node.type not in _MEMBERS:
        return unit.value(node), lambda source: _store_again(unit, node, source)
    base, key = _member(unit, node)
    if isinstance(key, str):
        return load_attribute(unit, base, key, node), lambda source: store_attribute(unit, base, key, source, node)
    return load_index(unit, base, key, node), lambda source: store_index(unit, base, key, source, node)


def _store_again(unit: Unit, node: Node | None, source: int) -> None:
    """Assign to a target that was read, and is no member. Only names can be: of others the lines give no facts."""
    if node is not None and node.type in _NAMES:
        unit.assign(unit.text(node), source, "variable", node)
    elif node is not None and node.type not in ("undefined", "this"):
        unit.facts.unparsed(node.start_byte, node.end_byte)
