"""Macros that begin a loop: `TAILQ_FOREACH(item, &list, link) { … }`, a call with no semicolon before a block.

What the macro writes is in another file as a rule. The block may run never, once or often. Before each round and behind
the last, nothing is known of the variables that count the rounds: those among the arguments that are local and were
declared without an initial value, or with NULL, and the first argument of a macro that is named like a loop; behind
each round they are read. A macro that counts by two, `HASH_ITER(hh, table, item, next)`, has the next element before it
runs the block, which may free the one at hand.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from facts.c import tree
from facts.c.scopes import VARIABLE, Name
from facts.c.tree import children
from facts.c.unit import Unit
from facts.control_flow_graph import Loop
from facts.function_body import MODULE

_CALL, _BLOCK = tree.kind_ids("call_expression"), tree.kind_ids("compound_statement")
_SIMPLE = tree.kind_ids("expression_statement", "if_statement", "for_statement", "while_statement", "switch_statement")
_LOOP = re.compile(r"for_?each|for_all|(^|_)(for|iter)(_|$)", re.IGNORECASE)


def repeated(unit: Unit, node: Node, call: Node) -> Node | None:
    """Return the statement that a macro in front of it repeats; None if the call is a statement of its own."""
    if unit.body.entity == MODULE or call.kind_id not in _CALL or unit.written[: node.end_byte].endswith(b";"):
        return None
    following = node.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    if following is None or following.kind_id in _BLOCK:
        return following
    named_so = _LOOP.search(unit.text(call.child_by_field_id(tree.FUNCTION)))
    return following if named_so and following.kind_id in _SIMPLE else None


def repeat(unit: Unit, call: Node, statement: Node) -> None:
    """Execute the loop that a macro makes of a statement."""
    body, label = unit.body, unit.words(call)
    head, inside, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
    counters = list(_counters(unit, call, unit.text(statement)))
    if looks_ahead := len(counters) > 1:
        unit.value(call)
    body.goto(head)
    body.start(head, sealed=False)
    body.enter(Loop(after, head))
    if not looks_ahead:
        unit.value(call)
    for name, argument in counters:
        unit.assign(name, body.allocation(unit.entity("unknown", argument)), "macro", argument)
    body.branch(unit.entity("more " + label, call), inside, after)
    body.start(inside)
    unit.execute(statement)
    if body.block is not None:
        for _, argument in counters:
            unit.value(argument)
    body.goto(head)
    body.leave()
    body.seal(head)
    unit.continue_at(after)
    unit.repeated.add(statement.id)


def _counters(unit: Unit, call: Node, repeated: str) -> Iterator[tuple[Name, Node]]:
    """Yield the variables that the macro gives a value before each round, with the arguments that name them.

    Where an argument names a variable of the block that no code declares, the macro does, and counts by that one.
    """
    arguments = children(call.child_by_field_id(tree.ARGUMENTS))
    names = [unit.text(argument) if argument.kind_id in tree.IDENTIFIER else "" for argument in arguments]
    first = _LOOP.search(unit.text(call.child_by_field_id(tree.FUNCTION))) is not None and not any(
        name and unit.scope.find(name) is None and re.search(rf"(?<![\w.>]){name}\b", repeated) for name in names
    )
    for argument, text in zip(arguments, names, strict=True):
        name = unit.scope.find(text) if text else None
        if name is not None and name.form == VARIABLE and name.owner != MODULE and (name.bare or first):
            yield name, argument
        first = False
