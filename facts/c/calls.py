"""Calls, and the other expressions that run code: GNU statement expressions and assembly."""

from tree_sitter import Node

from facts.c import tree
from facts.c.operators import BINARY, described
from facts.c.places import place_of, store
from facts.c.tree import EXPRESSIONS, children, with_fields
from facts.c.unit import Unit
from facts.row_builder import tail

# Functions of the library that never return.
NO_RETURN = frozenset(
    """
abort exit quick_exit _exit _Exit longjmp siglongjmp pthread_exit thrd_exit __builtin_unreachable __builtin_trap
__assert_fail
""".split()
)
_ASSERT = frozenset({"assert", "static_assert", "_Static_assert"})
# What gives the type of its operand, which is not evaluated.
_TYPE_OF = frozenset({"typeof", "__typeof", "__typeof__", "typeof_unqual"})


@EXPRESSIONS("call_expression")
def _call(unit: Unit, node: Node) -> int:
    function, arguments = node.child_by_field_id(tree.FUNCTION), node.child_by_field_id(tree.ARGUMENTS)
    if function.kind_id in _STRINGS:
        return _text_and_macro(unit, function, arguments)
    if function.kind_id in _CALLS and _hands_on(unit, arguments):
        return _chosen_macro(unit, node, function, arguments)
    name = unit.text(function) if function.kind_id in tree.IDENTIFIER else ""
    if name in _ASSERT and unit.scope.find(name) is None and (condition := tree.only_child(arguments)) is not None:
        return _assert(unit, node, condition)
    if name in _TYPE_OF:
        return unit.entity("unknown", node)
    callee = unit.value(function)
    result = _calling(unit, callee, arguments, node)
    if name in NO_RETURN and unit.scope.find(name) is None:
        unit.body.stop()
        unit.revive()
    return result


_STRINGS, _CALLS = tree.kind_ids("string_literal", "concatenated_string"), tree.kind_ids("call_expression")


def _text_and_macro(unit: Unit, text: Node, arguments: Node) -> int:
    """`"text" MACRO(x)`: text that the macro goes on with; its arguments are read."""
    for argument in children(arguments):
        unit.value(argument)
        unit.revive()
    return unit.value(text)


def _hands_on(unit: Unit, arguments: Node) -> bool:
    return any(unit.text(argument) == FURTHER[0] for argument in children(arguments))


def _chosen_macro(unit: Unit, node: Node, function: Node, arguments: Node) -> int:
    """`CHOOSE(x)(__VA_ARGS__)`: a macro whose name is pasted. Nobody knows what it makes of the arguments."""
    for part in (function, *children(arguments)):
        unit.value(part)
        unit.revive()
    return unit.entity("unknown", node)


# What a macro takes for its `...`: the first arguments by their places, and the list of those behind them.
FURTHER, FURTHER_LIST = ("__VA_ARGS__", *(f"__VA_ARGS__[{place}]" for place in range(1, 8))), "..."


def _further_values(unit: Unit, node: Node) -> list[int]:
    """Return what `__VA_ARGS__` stands for among the arguments of a call."""
    names = [name for name in (*FURTHER, FURTHER_LIST) if unit.scope.find(name) is not None]
    return [unit.read(name, node) for name in names or FURTHER[:1]]


def _calling(unit: Unit, callee: int, arguments: Node, node: Node) -> int:
    """Evaluate arguments, call; a block among the arguments of a macro is executed before."""
    values = []
    for argument in children(arguments):
        if argument.type == "compound_statement":
            unit.statement(argument)
        elif argument.kind_id in tree.IDENTIFIER and unit.text(argument) == FURTHER[0]:
            values += _further_values(unit, argument)
        else:
            values.append(unit.value(argument))
        unit.revive()
    result = unit.body.running(unit.entity(tail(unit.label(callee) + "()"), node))
    unit.emit("call", result, unit.body.entity, callee)
    for position, value in enumerate(values):
        unit.emit("argument", result, position, value)
    for argument in children(arguments):
        unit.changes(argument)
    return result


def _assert(unit: Unit, node: Node, condition: Node) -> int:
    """`assert(condition)`: what follows is only reached where it holds. `assert(a && b)` asserts a, then b."""
    if BINARY.is_whole(inner := tree.inside(condition)) and BINARY.operator_of(inner) == "&&":
        *first, last = BINARY.operands(inner)
        for asserted in first:
            _assert(unit, asserted, asserted)
        return _assert(unit, node, last)
    body = unit.body
    value = unit.value(condition)
    statement = body.instruction(unit.entity(tail("assert " + unit.label(value)), node))
    unit.emit("assertion", statement, body.entity, value)
    holds = body.new_block("holds " + unit.label(value))
    body.branch(value, holds, body.failure())
    body.start(holds)
    return statement


@EXPRESSIONS("parenthesized_expression")
def _parenthesized(unit: Unit, node: Node) -> int:
    inner = tree.inside(node)
    return _statement_expression(unit, inner) if inner is not None and inner.kind_id in _BLOCK else unit.value(inner)


_BLOCK, _EXPRESSION = tree.kind_ids("compound_statement"), tree.kind_ids("expression_statement")


def _statement_expression(unit: Unit, block: Node) -> int:
    """`({ …; x; })`: the value of the last statement, if that is an expression."""
    outer, statements = unit.open_scope(), children(block)
    last = statements.pop() if statements and statements[-1].kind_id in _EXPRESSION else None
    for statement in statements:
        unit.statement(statement)
    unit.revive()
    value = unit.value(tree.only_child(last)) if last is not None else unit.entity("unknown", block)
    unit.scope = outer
    return value


@EXPRESSIONS("compound_statement")
def _block(unit: Unit, node: Node) -> int:
    return _statement_expression(unit, node)


@EXPRESSIONS("extension_expression")
def _extension(unit: Unit, node: Node) -> int:
    return unit.value(tree.only_child(node))


@EXPRESSIONS("gnu_asm_expression")
def _assembly(unit: Unit, node: Node) -> int:
    """Assembly reads its inputs and gives every output a value; `asm goto` may go to its labels."""
    inputs, outputs = node.child_by_field_id(tree.INPUTS), node.child_by_field_id(tree.OUTPUTS)
    operands = list(with_fields(inputs, tree.OPERAND)) if inputs is not None else []
    values = [unit.value(operand.child_by_field_id(tree.VALUE)) for operand in operands]
    value = described(unit, "asm", values, node, "asm")
    for operand in with_fields(outputs, tree.OPERAND) if outputs is not None else ():
        target = operand.child_by_field_id(tree.VALUE)
        place = place_of(unit, target)
        if place is not None:
            store(unit, place, value, target)
    unit.body.other_code()
    labels = node.child_by_field_id(tree.GOTO_LABELS)
    for label in with_fields(labels, tree.LABEL) if labels is not None else ():
        _may_go_to(unit, label)
    return value


def _may_go_to(unit: Unit, label: Node) -> None:
    following = unit.body.new_block("after asm")
    unit.body.branch(unit.entity("asm goto", label), unit.body.labelled(unit.text(label)), following)
    unit.body.start(following)
