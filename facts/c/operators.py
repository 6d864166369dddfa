"""Operators, assignments and conversions; short-circuit operators and conditional expressions as control flow."""

import re

from tree_sitter import Node

from facts.c import tree
from facts.c.places import POINTER, Place, load, place_of, store
from facts.c.tree import EXPRESSIONS, children
from facts.c.unit import Unit
from facts.conditions import decide_in_turn, either
from facts.control_flow_graph import Block
from facts.instructions import operation
from facts.operator_chains import Binary
from facts.row_builder import tail
from facts.tree_sitter_grammar import is_broken

BINARY = Binary(tree.kind_ids("binary_expression"), tree.LEFT, tree.RIGHT, tree.OPERATOR)
_UNARY, _CALL = map(tree.kind_ids, ("unary_expression", "call_expression"))
_LOGICAL = {"&&": "and", "||": "or"}
# Calls whose truth is that of their first argument: they tell the compiler what to expect of it, or report it.
_EXPECTATION = re.compile(
    r"(?!is_|looks_|seems_)(\w*_)?(un)?likely|([A-Z0-9_]*_)?(UN)?LIKELY|__builtin_expect(_with_probability)?|"
    r"(\w+_)?(expect|predict)_(true|false)|([A-Z0-9_]*_)?(EXPECT|PREDICT)_(TRUE|FALSE|LIKELY|UNLIKELY)|"
    r"\w+_(fast|slow)_?path|\w+_assert|WARN_ON(_ONCE)?"
)


def described(unit: Unit, operator: str, operands: list[int], node: Node, label: str) -> int:
    """Return the result of an operator that is written otherwise than between its operands."""
    value = unit.body.instruction(unit.entity(tail(label), node))
    unit.emit("operation", value, operator)
    for position, operand in enumerate(operands):
        unit.emit("operand", value, position, operand)
    return value


def _operator(node: Node) -> str:
    return node.child_by_field_id(tree.OPERATOR).type


@EXPRESSIONS("binary_expression")
def _binary(unit: Unit, node: Node) -> int:
    if _operator(node) in _LOGICAL:
        return _truth(unit, node)
    return BINARY.evaluate(unit, node, frozenset(_LOGICAL))


@EXPRESSIONS("unary_expression")
def _unary(unit: Unit, node: Node) -> int:
    return operation(unit, _operator(node), [unit.value(node.child_by_field_id(tree.ARGUMENT))], node)


@EXPRESSIONS("comma_expression")
def _comma(unit: Unit, node: Node) -> int:
    while node.kind_id in _COMMA and not is_broken(node):
        unit.value(node.child_by_field_id(tree.LEFT))
        node = node.child_by_field_id(tree.RIGHT)
    return unit.value(node)


_COMMA = tree.kind_ids("comma_expression")


# ---- Assignments


@EXPRESSIONS("assignment_expression")
def _assignment(unit: Unit, node: Node) -> int:
    left, right, operator = node.child_by_field_id(tree.LEFT), node.child_by_field_id(tree.RIGHT), _operator(node)
    place = place_of(unit, left)
    if place is None:
        # What a macro stands for is assigned to, `DATA(x) = y`: nobody knows what that is, but y is kept there.
        kept = Place(POINTER, unit.text(left), unit.value(left))
        value = unit.value(right)
        store(unit, kept, value, left)
        unit.changes(left)
        return value
    if operator == "=":
        value = unit.value(right)
    else:
        value = operation(unit, operator, [load(unit, place, left), unit.value(right)], node)
    store(unit, place, value, left)
    return value


@EXPRESSIONS("update_expression")
def _update(unit: Unit, node: Node) -> int:
    """`++x` gives the new value, `x++` the old one."""
    argument, operator = node.child_by_field_id(tree.ARGUMENT), _operator(node)
    place: Place | None = place_of(unit, argument)
    if place is None:
        value = operation(unit, operator, [unit.value(argument)], node)
        unit.changes(argument)
        return value
    old = load(unit, place, argument)
    new = operation(unit, operator, [old], node)
    store(unit, place, new, argument)
    return new if argument.start_byte > node.start_byte else old


# ---- Types in expressions


@EXPRESSIONS("cast_expression")
def _cast(unit: Unit, node: Node) -> int:
    kind, source = unit.value(node.child_by_field_id(tree.TYPE)), unit.value(node.child_by_field_id(tree.VALUE))
    label = f"({unit.label(kind).removeprefix('type ')}){unit.label(source)}"
    value = unit.body.instruction(unit.entity(tail(label), node))
    unit.emit("cast", value, source, kind)
    return value


@EXPRESSIONS("sizeof_expression")
def _sizeof(unit: Unit, node: Node) -> int:
    """`sizeof`: of a type, or of the type of an expression, which is not evaluated; a variable with a cell is named."""
    kind, argument = node.child_by_field_id(tree.TYPE), tree.inside(node.child_by_field_id(tree.VALUE))
    operands = []
    if kind is not None:
        operands.append(unit.value(kind))
    elif argument is not None and argument.kind_id in tree.IDENTIFIER:
        name = unit.scope.find(unit.text(argument))
        if name is None:
            operands.append(unit.type_of(unit.text(argument)))
        elif name.rebound or name.rank:
            operands.append(unit.address(name))
    return described(unit, "sizeof", operands, node, "sizeof " + unit.words(kind or argument or node))


@EXPRESSIONS("alignof_expression")
def _alignof(unit: Unit, node: Node) -> int:
    kind = node.child_by_field_id(tree.TYPE)
    return described(unit, "alignof", [unit.value(kind)], node, "alignof " + unit.words(kind))


@EXPRESSIONS("offsetof_expression")
def _offsetof(unit: Unit, node: Node) -> int:
    kind, member = unit.value(node.child_by_field_id(tree.TYPE)), unit.text(node.child_by_field_id(tree.MEMBER))
    return described(unit, "offsetof", [kind, unit.body.load_constant("string", member)], node, "offsetof " + member)


@EXPRESSIONS("generic_expression")
def _generic(unit: Unit, node: Node) -> int:
    """`_Generic`: one of the values it lists, by the type of the first expression, which is not evaluated."""
    _, *pairs = children(node)
    values = [unit.value(part) for part in pairs if part.type != "type_descriptor"]
    return described(unit, "_Generic", values, node, "_Generic")


# ---- Conditions


def _truth(unit: Unit, node: Node) -> int:
    """Return the 1 or 0 that `&&` and `||` give."""
    body, label = unit.body, unit.words(node)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    decide(unit, node, *blocks)
    one, zero = (lambda: body.load_constant("integer", "1")), (lambda: body.load_constant("integer", "0"))
    return _joined(unit, node, blocks, [one, zero])


def _joined(unit: Unit, node: Node, blocks: list[Block], values: list) -> int:
    label = unit.words(node)
    return either(unit, label, blocks, values, node, unit.body.new_block("after " + label))


@EXPRESSIONS("conditional_expression")
def _conditional(unit: Unit, node: Node) -> int:
    """`a ? b : c`; without `b` (GNU) the condition's own value."""
    condition, chosen = node.child_by_field_id(tree.CONDITION), node.child_by_field_id(tree.CONSEQUENCE)
    other, body, label = node.child_by_field_id(tree.ALTERNATIVE), unit.body, unit.words(node)
    blocks = [body.new_block("then " + label), body.new_block("else " + label)]
    if chosen is not None:
        decide(unit, condition, *blocks)
        return _joined(unit, node, blocks, [lambda: unit.value(chosen), lambda: unit.value(other)])
    value = unit.value(condition)
    body.branch(value, *blocks)
    return _joined(unit, node, blocks, [lambda: value, lambda: unit.value(other)])


def decide(unit: Unit, node: Node | None, on_true: Block, on_false: Block) -> None:
    """Evaluate a condition and pass on by its truth. `!`, `&&` and `||` give no value."""
    while node is not None and not is_broken(node):
        if node.kind_id in tree.PARENTHESES:
            node = tree.only_child(node)
        elif node.kind_id in _UNARY and _operator(node) == "!":
            on_true, on_false = on_false, on_true
            node = node.child_by_field_id(tree.ARGUMENT)
        elif (expected := _expected(unit, node)) is not None:
            node = expected
        else:
            break
    if node is not None and BINARY.is_whole(node) and _operator(node) in _LOGICAL:
        operator = _operator(node)
        decide_in_turn(unit, _LOGICAL[operator], operator == "&&", BINARY.operands(node), decide, on_true, on_false)
    else:
        value = unit.value(node)
        unit.revive()
        unit.body.branch(value, on_true, on_false)


def _expected(unit: Unit, node: Node) -> Node | None:
    """Return the condition in `likely(condition)`, or in `BE (condition, 0)`, which tells what the outcome will be."""
    if node.kind_id not in _CALL:
        return None
    name, arguments = unit.text(node.child_by_field_id(tree.FUNCTION)), children(node.child_by_field_id(tree.ARGUMENTS))
    tells = name.isupper() and len(arguments) == 2 and unit.text(arguments[1]) in ("0", "1")
    return arguments[0] if arguments and (tells or _EXPECTATION.fullmatch(name)) else None
