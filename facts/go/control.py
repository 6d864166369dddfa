"""`if` and `for` in all its forms."""

from tree_sitter import Node

from facts.control_flow_graph import Block, Loop
from facts.go import tree
from facts.go.assignments import target
from facts.go.operators import decide
from facts.go.tree import STATEMENTS, children
from facts.go.unit import Unit
from facts.row_builder import tail


@STATEMENTS("if_statement")
def _if(unit: Unit, node: Node | None) -> None:
    body, outer = unit.body, unit.scope
    after = None
    while node is not None:
        unit.open_scope()
        initializer, condition = node.child_by_field_id(tree.INITIALIZER), node.child_by_field_id(tree.CONDITION)
        alternative = node.child_by_field_id(tree.ALTERNATIVE)
        if initializer is not None:
            unit.statement(initializer)
        label = unit.words(condition)
        after = after or body.new_block("after " + label)
        then = body.new_block("then " + label)
        otherwise = after if alternative is None else body.new_block("else " + label)
        unit.revive()
        decide(unit, condition, then, otherwise)
        body.start(then)
        unit.statement(node.child_by_field_id(tree.CONSEQUENCE))
        body.goto(after)
        node = None
        if alternative is not None:
            body.start(otherwise)
            if alternative.type == "if_statement" and not alternative.has_error:
                node = alternative
            else:
                unit.statement(alternative)
                body.goto(after)
    unit.scope = outer
    unit.continue_at(after)


@STATEMENTS("for_statement")
def _for(unit: Unit, node: Node) -> None:
    names, outer = unit.take_label(), unit.open_scope()
    inside = node.child_by_field_id(tree.BODY)
    clause = next((child for child in children(node) if child != inside), None)
    if clause is not None and clause.type == "range_clause":
        _range(unit, clause, inside, names)
    elif clause is not None and clause.type == "for_clause":
        _clause(unit, clause, inside, names)
    else:
        _loop(unit, clause, None, inside, names, unit.words(clause) if clause is not None else "ever")
    unit.scope = outer


def _clause(unit: Unit, clause: Node, inside: Node, names: tuple[str, ...]) -> None:
    initializer, condition = clause.child_by_field_id(tree.INITIALIZER), clause.child_by_field_id(tree.CONDITION)
    update = clause.child_by_field_id(tree.UPDATE)
    if initializer is not None:
        unit.statement(initializer)
    named = condition or update or initializer
    _loop(unit, condition, update, inside, names, unit.words(named) if named is not None else "ever")


def _loop(
    unit: Unit, condition: Node | None, update: Node | None, inside: Node, names: tuple[str, ...], label: str
) -> None:
    """Repeat while a condition holds, with an update before each test."""
    body, label = unit.body, "for " + label
    head, start, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    again = head if update is None else body.new_block("next " + label)
    unit.revive()
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, again, names))
    if condition is not None:
        decide(unit, condition, start, after)
    else:
        body.goto(start)
    body.start(start)
    unit.statement(inside)
    body.goto(again)
    if update is not None:
        _update(unit, update, again, head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)


def _update(unit: Unit, update: Node, again: Block, head: Block) -> None:
    unit.continue_at(again)
    if unit.body.block is not None:
        unit.statement(update)
        unit.body.goto(head)


def _range(unit: Unit, clause: Node, inside: Node, names: tuple[str, ...]) -> None:
    """`for k, v := range xs`: the first is a key, index or number (of a channel or iterator the element)."""
    body, right = unit.body, clause.child_by_field_id(tree.RIGHT)
    source = unit.value(right)
    label = "for range " + unit.words(right)
    head, start, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head, names))
    # Iterators are functions: ranging over one runs it.
    body.other_code()
    targets = [left for left in tree.listed(clause.child_by_field_id(tree.LEFT))]
    items = []
    for left, relation in zip(targets, ("iterate_key", "iterate"), strict=False):
        if left is not None and unit.text(left) != "_":
            items.append((left, _next(unit, relation, source, clause)))
    if not items:
        _next(unit, "iterate_key", source, clause)
    body.link(head, after)
    body.goto(start)
    body.start(start)
    declares = any(child.type == ":=" for child in clause.children)
    for left, item in items:
        target(unit, left, item, "loop", declares=declares)
    unit.statement(inside)
    body.goto(head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)


def _next(unit: Unit, relation: str, source: int, clause: Node) -> int:
    label = "next" if relation == "iterate" else "next key"
    value = unit.body.instruction(unit.entity(tail(f"{label} {unit.label(source)}"), clause))
    unit.emit(relation, value, source)
    return value
