"""`instanceof` and patterns: tests of the subject, branches, and the variables that a match binds."""

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.file_facts import NIL
from facts.instructions import merged, operation
from facts.java import tree
from facts.java.expressions import cast
from facts.java.tree import EXPRESSIONS, children, only_child
from facts.java.unit import Unit
from facts.row_builder import tail

_PRIMITIVE = ("integral_type", "floating_point_type", "boolean_type")


@EXPRESSIONS("instanceof_expression")
def _instanceof(unit: Unit, node: Node) -> int:
    """Return the truth of `a instanceof T t`, which is bound whether it is true or not: only `decide` knows where."""
    pattern = node.child_by_field_id(tree.PATTERN)
    if pattern is None:
        return _test_type(unit, node)
    subject, body = unit.value(node.child_by_field_id(tree.LEFT)), unit.body
    label = unit.words(pattern)
    otherwise, after = body.new_block("not " + label), body.new_block("after " + label)
    match(unit, pattern, subject, otherwise)
    entering = [
        (body.load_constant("boolean", "true"), body.block),
        (body.load_constant("boolean", "false"), otherwise),
    ]
    body.goto(after)
    body.start(otherwise)
    body.goto(after)
    body.start(after)
    return merged(unit, "instanceof", entering, node)


def _test_type(unit: Unit, node: Node) -> int:
    subject, kind = unit.value(node.child_by_field_id(tree.LEFT)), unit.value(node.child_by_field_id(tree.RIGHT))
    value = operation(unit, "instanceof", [subject, kind], node)
    _bind(unit, subject, kind, node.child_by_field_id(tree.NAME))
    return value


def test_instance(unit: Unit, node: Node, on_false: Block) -> None:
    """Evaluate an `instanceof` as a condition: go on where it is true, with what it binds."""
    subject = unit.value(node.child_by_field_id(tree.LEFT))
    pattern = node.child_by_field_id(tree.PATTERN)
    if pattern is not None:
        match(unit, pattern, subject, on_false)
        return
    kind = unit.value(node.child_by_field_id(tree.RIGHT))
    _require(unit, operation(unit, "instanceof", [subject, kind], node), on_false)
    _bind(unit, subject, kind, node.child_by_field_id(tree.NAME))


def require_equal(unit: Unit, subject: int, value: int, otherwise: Block, node: Node) -> None:
    """Go on only if `subject` equals `value`."""
    _require(unit, operation(unit, "==", [subject, value], node), otherwise)


def _require(unit: Unit, condition: int, otherwise: Block) -> None:
    following = unit.body.new_block("if " + unit.label(condition))
    unit.body.branch(condition, following, otherwise)
    unit.body.start(following)


def _bind(unit: Unit, subject: int, kind: int, name: Node | None) -> None:
    """Bind the variable of a pattern to `subject` as a `kind`; to itself if that is NIL."""
    if name is None or unit.text(name) == "_":
        return
    variable = unit.declare(unit.text(name), kind)
    source = subject if kind == NIL else cast(unit, subject, [kind], name)
    unit.assign(variable, source, "pattern", name)


def match(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """Match `subject` with a pattern: control goes on in the current block if it matches, else at `otherwise`."""
    if node.type == "pattern":
        node = only_child(node)
    if node.type == "record_pattern":
        _record_pattern(unit, node, subject, otherwise)
    elif node.type in ("type_pattern", "record_pattern_component"):
        _type_pattern(unit, node, subject, otherwise)
    else:
        unit.unknown(node)


def _type_pattern(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """`T t`; `var t` and a primitive type match whatever stands there, `_` too."""
    parts = [part for part in children(node) if part.type != "modifiers"]
    kind, name = parts[0], parts[-1] if len(parts) > 1 else None
    if kind.type == "underscore_pattern":
        return
    if kind.type == "type_identifier" and unit.text(kind) == "var":
        _bind(unit, subject, NIL, name)
        return
    value = unit.value(kind)
    if kind.type not in _PRIMITIVE:
        _require(unit, operation(unit, "instanceof", [subject, value], node), otherwise)
    _bind(unit, subject, value, name)


def _record_pattern(unit: Unit, node: Node, subject: int, otherwise: Block) -> None:
    """`R(p, q)`: the subject is an `R`, and its components match."""
    kind_node = children(node)[0]
    kind = unit.type_named(unit.text(kind_node)) if kind_node.kind_id == tree.IDENTIFIER else unit.value(kind_node)
    _require(unit, operation(unit, "instanceof", [subject, kind], node), otherwise)
    body = tree.child_of_type(node, "record_pattern_body")
    for position, part in enumerate(children(body) if body is not None else ()):
        if part.type == "underscore_pattern":
            continue
        value = unit.body.instruction(unit.entity(tail(f"{unit.label(subject)}.{position}"), part))
        unit.emit("match_argument", value, subject, kind, position)
        match(unit, part, value, otherwise)
