"""Statements that choose and repeat: if, switch, while, do, for; and Microsoft's try."""

from collections.abc import Iterator

from tree_sitter import Node

from facts.c import tree
from facts.c.operators import decide
from facts.c.tree import STATEMENTS, children
from facts.c.unit import Unit
from facts.control_flow_graph import Block, Finally, Guard, Loop
from facts.file_facts import NIL
from facts.instructions import operation


@STATEMENTS("if_statement")
def _if(unit: Unit, node: Node) -> None:
    body = unit.body
    after = None
    while node is not None:
        condition, alternative = node.child_by_field_id(tree.CONDITION), node.child_by_field_id(tree.ALTERNATIVE)
        label = unit.words(tree.inside(condition) or condition)
        after = after or body.new_block("after " + label)
        then = body.new_block("then " + label)
        otherwise = after if alternative is None else body.new_block("else " + label)
        decide(unit, condition, then, otherwise)
        body.start(then)
        unit.execute(node.child_by_field_id(tree.CONSEQUENCE))
        body.goto(after)
        if alternative is None:
            break
        body.start(otherwise)
        node = _chained(alternative)
        if node is None:
            for statement in children(alternative):
                unit.statement(statement)
            body.goto(after)
    unit.continue_at(after)


def _chained(clause: Node) -> Node | None:
    """Return the `if` that an `else` consists of, if it is sound."""
    statement = tree.only_child(clause)
    if statement is None or statement.type != "if_statement" or clause.has_error:
        return None
    return statement


@STATEMENTS("while_statement")
def _while(unit: Unit, node: Node) -> None:
    body, condition = unit.body, node.child_by_field_id(tree.CONDITION)
    label = "while " + unit.words(tree.inside(condition) or condition)
    head, inside, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head))
    decide(unit, condition, inside, after)
    body.start(inside)
    unit.execute(node.child_by_field_id(tree.BODY))
    body.goto(head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)


@STATEMENTS("do_statement")
def _do(unit: Unit, node: Node) -> None:
    body, condition = unit.body, node.child_by_field_id(tree.CONDITION)
    label = "do while " + unit.words(tree.inside(condition) or condition)
    inside, test, after = body.new_block("in " + label), body.new_block(label), body.new_block("after " + label)
    body.goto(inside)
    body.start(inside, sealed=False)
    body.enter(Loop(after, test))
    unit.execute(node.child_by_field_id(tree.BODY))
    body.goto(test)
    body.leave()
    unit.continue_at(test)
    if body.block is not None:
        decide(unit, condition, inside, after)
    body.seal(inside)
    unit.continue_at(after)


@STATEMENTS("for_statement")
def _for(unit: Unit, node: Node) -> None:
    body, outer = unit.body, unit.open_scope()
    condition, update = node.child_by_field_id(tree.CONDITION), node.child_by_field_id(tree.UPDATE)
    _initialize(unit, node.child_by_field_id(tree.INITIALIZER))
    label = "for " + unit.words(condition or update or node.child_by_field_id(tree.BODY))
    head, inside, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    again = head if update is None else body.new_block("next " + label)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, again))
    if condition is not None:
        decide(unit, condition, inside, after)
    else:
        body.goto(inside)
    body.start(inside)
    unit.execute(node.child_by_field_id(tree.BODY))
    body.goto(again)
    body.leave()
    _repeat(unit, update, again, head)
    body.seal(head)
    unit.scope = outer
    unit.continue_at(after)


def _initialize(unit: Unit, node: Node | None) -> None:
    if node is None:
        return
    if node.type == "declaration":
        unit.statement(node)
    else:
        unit.value(node)
    unit.revive()


def _repeat(unit: Unit, update: Node | None, again: Block, head: Block) -> None:
    if update is None:
        return
    unit.continue_at(again)
    if unit.body.block is not None:
        unit.value(update)
        unit.body.goto(head)


# ---- Switch


@STATEMENTS("switch_statement")
def _switch(unit: Unit, node: Node) -> None:
    """`switch`: tests of the subject lead to the `case`s, wherever they stand below; each falls through to the next."""
    body, condition = unit.body, node.child_by_field_id(tree.CONDITION)
    subject = unit.value(condition)
    unit.revive()
    label = "switch " + unit.words(tree.inside(condition) or condition)
    after = body.new_block("after " + label)
    outer, unit.cases = unit.cases, {}
    _dispatch(unit, node, subject, label, after)
    body.enter(Loop(after, None))
    around = unit.open_scope()
    unit.statements(node.child_by_field_id(tree.BODY))
    body.goto(after)
    body.leave()
    unit.cases, unit.scope = outer, around
    unit.continue_at(after)


def _dispatch(unit: Unit, node: Node, subject: int, label: str, after: Block) -> None:
    """Test the subject for one case after the other; go to the default, or behind the switch, if none fits."""
    body, default = unit.body, after
    for case in list(_cases(node.child_by_field_id(tree.BODY))):
        value = case.child_by_field_id(tree.VALUE)
        if value is None:
            default = unit.cases[case.id] = body.new_block("default " + label)
            continue
        block = unit.cases[case.id] = body.new_block("case " + unit.words(value))
        following = body.new_block("not " + unit.words(value))
        body.branch(operation(unit, "==", [subject, unit.value(value)], value), block, following)
        body.start(following)
    body.goto(default)


def _cases(node: Node | None) -> Iterator[Node]:
    """Yield the `case`s of a switch in order, not those of switches and functions in it."""
    work = [node] if node is not None else []
    while work:
        node = work.pop()
        if node.kind_id in _CASE:
            yield node
        if node.kind_id not in _CLOSED:
            work.extend(reversed(node.named_children))


_CASE = tree.kind_ids("case_statement")
_CLOSED = tree.kind_ids("switch_statement", "function_definition", "expression_statement", "declaration")


@STATEMENTS("case_statement")
def _case(unit: Unit, node: Node) -> None:
    unit.enter(node)
    value = node.child_by_field_id(tree.VALUE)
    for statement in children(node):
        if statement != value:
            unit.statement(statement)


# ---- Microsoft's structured exception handling


@STATEMENTS("seh_try_statement")
def _try(unit: Unit, node: Node) -> None:
    clause = next(child for child in children(node) if child.type in ("seh_except_clause", "seh_finally_clause"))
    if clause.type == "seh_finally_clause":
        _try_finally(unit, node, clause)
    else:
        _try_except(unit, node, clause)


def _guarded(unit: Unit, node: Node, frame: Guard | Finally, leave: Block) -> None:
    """Execute the body of a `__try`; it and `__leave` pass on to `leave`."""
    body, start = unit.body, unit.body.new_block("try")
    body.goto(start)
    body.start(start)
    body.enter(frame)
    unit.leaves.append(leave)
    unit.execute(node.child_by_field_id(tree.BODY))
    unit.leaves.pop()
    body.leave()
    body.goto(leave)


def _try_except(unit: Unit, node: Node, clause: Node) -> None:
    body = unit.body
    handler, after = body.new_block("except"), body.new_block("after try")
    _guarded(unit, node, Guard([handler], everything=False), after)
    body.start(handler)
    caught = body.instruction(unit.entity("caught", clause))
    unit.emit("catch", caught, NIL)
    unit.value(clause.child_by_field_id(tree.FILTER))
    unit.execute(clause.child_by_field_id(tree.BODY))
    body.goto(after)
    unit.continue_at(after)


def _try_finally(unit: Unit, node: Node, clause: Node) -> None:
    body = unit.body
    region = Finally(body.new_block("finally"))
    _guarded(unit, node, region, region.block)
    body.start(region.block)
    unit.execute(clause.child_by_field_id(tree.BODY))
    body.end_region(region, "after try", passes=True)


@STATEMENTS("seh_leave_statement")
def _leave(unit: Unit, node: Node) -> None:
    if unit.leaves:
        unit.body.goto(unit.leaves[-1])
    unit.body.block = None
