"""Statements that steer: if, loops, switch, jumps, labels; and those without effect."""

from tree_sitter import Node

from facts.control_flow_graph import Block, Loop
from facts.instructions import awaited, operation, returned
from facts.javascript.assignments import assign_target
from facts.javascript.handler_tables import STATEMENTS, children, field, only_child, tokens
from facts.javascript.literals import undefined
from facts.javascript.operators import decide, unwrapped
from facts.javascript.unit import Unit
from facts.row_builder import tail

_LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})


@STATEMENTS("statement_block")
def _block(unit: Unit, node: Node) -> None:
    with unit.inside(node):
        unit.statements(node)


@STATEMENTS("expression_statement")
def _expression(unit: Unit, node: Node) -> None:
    """An expression, or a namespace; a string alone is a directive or a comment, which computes nothing."""
    expression = only_child(node)
    if expression is not None and expression.type == "internal_module":
        unit.statement(expression)
    elif expression is not None and expression.type == "string":
        _state_directive(unit, expression)
    elif expression is not None:
        unit.value(expression)


def _state_directive(unit: Unit, string: Node) -> None:
    """State what makes functions callable from a browser: `"use server"`, of the module or the function around it."""
    if unit.text(string)[1:-1] == _SERVER:
        unit.emit("modifier", unit.body.entity, _SERVER)


_SERVER = "use server"


@STATEMENTS("if_statement")
def _if(unit: Unit, node: Node) -> None:
    body = unit.body
    after = None
    while True:
        condition, other = _condition(node), only_child(field(node, "alternative"))
        label = unit.words(condition)
        after = after or body.new_block("after " + label)
        then = body.new_block("then " + label)
        otherwise = after if other is None else body.new_block("else " + label)
        decide(unit, condition, then, otherwise)
        body.start(then)
        unit.run(field(node, "consequence"))
        body.goto(after)
        if other is None:
            break
        body.start(otherwise)
        if other.type != "if_statement" or other.has_error:
            unit.run(other)
            break
        node = other
    body.goto(after)
    unit.continue_at(after)


def _condition(node: Node) -> Node:
    """Return the condition of a statement, without its parentheses."""
    condition = field(node, "condition")
    return unwrapped(condition) or condition


@STATEMENTS("while_statement")
def _while(unit: Unit, node: Node) -> None:
    body, condition = unit.body, _condition(node)
    label = "while " + unit.words(condition)
    head, inside, after = _blocks(unit, label)
    names = ("", *unit.take_labels())
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head, names))
    decide(unit, condition, inside, after)
    body.start(inside)
    unit.run(field(node, "body"))
    _end_loop(unit, head, head, after)


@STATEMENTS("do_statement")
def _do(unit: Unit, node: Node) -> None:
    body, condition = unit.body, _condition(node)
    label = "do " + unit.words(condition)
    head, test, after = body.new_block(label), body.new_block("while " + label), body.new_block("after " + label)
    names = ("", *unit.take_labels())
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, test, names))
    unit.run(field(node, "body"))
    body.goto(test)
    body.leave()
    unit.continue_at(test)
    if body.block is not None:
        decide(unit, condition, head, after)
    body.seal(head)
    unit.continue_at(after)


@STATEMENTS("for_statement")
def _for(unit: Unit, node: Node) -> None:
    names = ("", *unit.take_labels())
    with unit.inside(node):
        _execute(unit, field(node, "initializer"))
        body = unit.body
        condition = field(node, "condition")
        if condition is not None and (not condition.is_named or condition.type == "empty_statement"):
            condition = None
        label = "for " + (unit.words(condition) if condition is not None else ";;")
        head, inside, after = _blocks(unit, label)
        following = body.new_block("next " + label)
        body.goto(head)
        body.start(head, sealed=False)
        body.enter(Loop(after, following, names))
        if condition is None:
            body.goto(inside)
        else:
            decide(unit, condition, inside, after)
        body.start(inside)
        unit.run(field(node, "body"))
        body.goto(following)
        unit.continue_at(following)
        if body.block is not None and field(node, "increment") is not None:
            unit.value(field(node, "increment"))
        _end_loop(unit, head, head, after)


def _execute(unit: Unit, node: Node | None) -> None:
    """Execute what a `for` starts with: a declaration or an expression."""
    if node is not None and node.is_named:
        if node.kind_id in unit.STATEMENTS:
            unit.statement(node)
        else:
            unit.value(node)


@STATEMENTS("for_in_statement")
def _for_in(unit: Unit, node: Node) -> None:
    """`for (x of xs)` takes elements, `for (k in o)` those of the list of o's keys."""
    body, place = unit.body, field(node, "left")
    names = ("", *unit.take_labels())
    with unit.inside(node):
        if field(node, "value") is not None:
            assign_target(unit, place, unit.value(field(node, "value")))
        source = unit.value(field(node, "right"))
        if field(node, "operator") is not None and field(node, "operator").type == "in":
            source = operation(unit, "keys", [source], field(node, "right"))
        label = "for " + unit.words(place)
        head, inside, after = _blocks(unit, label)
        body.goto(head)
        body.start(head, sealed=False)
        body.enter(Loop(after, head, names))
        item = body.running(unit.entity(tail("next " + unit.label(source)), place))
        unit.emit("iterate", item, source)
        item = awaited(unit, item, place) if "await" in tokens(node) else item
        body.link(head, after)
        body.goto(inside)
        body.start(inside)
        assign_target(unit, place, item, "loop")
        unit.run(field(node, "body"))
        _end_loop(unit, head, head, after)


def _blocks(unit: Unit, label: str) -> tuple[Block, Block, Block]:
    """Return the blocks of a loop: where a round begins, its body, and what follows the loop."""
    new_block = unit.body.new_block
    return new_block(label), new_block("in " + label), new_block("after " + label)


def _end_loop(unit: Unit, again: Block, head: Block, after: Block) -> None:
    unit.body.goto(again)
    unit.body.leave()
    unit.body.seal(head)
    unit.continue_at(after)


@STATEMENTS("switch_statement")
def _switch(unit: Unit, node: Node) -> None:
    """Cases are compared in order; a body that is not left falls through to the next."""
    body = unit.body
    names = ("", *unit.take_labels())
    subject = unit.value(field(node, "value"))
    label = "switch " + unit.label(subject)
    after = body.new_block("after " + label)
    cases = [child for child in children(field(node, "body")) if child.type in ("switch_case", "switch_default")]
    body.enter(Loop(after, None, names))
    with unit.inside(field(node, "body")):
        blocks = [body.new_block("case " + _case_label(unit, case)) for case in cases]
        default = after
        for case, block in zip(cases, blocks, strict=True):
            if case.type == "switch_default":
                default = block
                continue
            value = operation(unit, "===", [subject, unit.value(field(case, "value"))], case)
            following = body.new_block("not " + _case_label(unit, case))
            body.branch(value, block, following)
            body.start(following)
        body.goto(default)
        for case, block in zip(cases, blocks, strict=True):
            body.goto(block)
            body.start(block)
            for statement in case.children_by_field_name("body"):
                if statement.is_named and statement.type not in ("comment", "html_comment"):
                    unit.statement(statement)
        body.goto(after)
    body.leave()
    unit.continue_at(after)


def _case_label(unit: Unit, case: Node) -> str:
    return unit.words(field(case, "value")) if case.type == "switch_case" else "default"


@STATEMENTS("labeled_statement")
def _labeled(unit: Unit, node: Node) -> None:
    label, inner = unit.text(field(node, "label")), field(node, "body")
    labels = (*unit.take_labels(), label)
    if inner.type in _LOOPS or inner.type == "labeled_statement":
        unit.labels = labels
        return unit.statement(inner)
    after = unit.body.new_block("after " + label)
    unit.body.enter(Loop(after, None, labels))
    unit.statement(inner)
    unit.body.leave()
    unit.body.goto(after)
    unit.continue_at(after)


@STATEMENTS("break_statement", "continue_statement")
def _jump(unit: Unit, node: Node) -> None:
    label = field(node, "label")
    unit.body.jump(node.type.removesuffix("_statement"), unit.text(label) if label is not None else "")


@STATEMENTS("return_statement")
def _return(unit: Unit, node: Node) -> None:
    argument = only_child(node)
    value = unit.value(argument) if argument is not None else undefined(unit)
    returned(unit, value)
    unit.body.jump("return")


@STATEMENTS("with_statement")
def _with(unit: Unit, node: Node) -> None:
    """The names in it are read as if the object had none of them."""
    unit.value(field(node, "object"))
    unit.run(field(node, "body"))


@STATEMENTS("empty_statement", "debugger_statement", "hash_bang_line")
def _nothing(unit: Unit, node: Node) -> None:
    """These compute nothing."""
