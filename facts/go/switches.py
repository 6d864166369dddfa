"""`switch` on values and on types, and `select` among channels."""

from collections.abc import Callable

from tree_sitter import Node

from facts.control_flow_graph import Block, Loop
from facts.go import tree
from facts.go.assignments import is_there, target
from facts.go.channels import receive, send
from facts.go.expressions import cast, instance_test
from facts.go.operators import decide
from facts.go.tree import STATEMENTS, children, operator_of
from facts.go.unit import Unit
from facts.instructions import operation

_CASES = tree.kind_ids("expression_case", "type_case", "communication_case", "default_case")


class _Switch:
    """A statement with cases under construction: each has a block, and the statements in it."""

    def __init__(self, unit: Unit, node: Node, label: str) -> None:
        self.unit, self.names = unit, unit.take_label()
        self.after = unit.body.new_block("after " + label)
        self.cases = [case for case in children(node) if case.kind_id in _CASES]
        self.blocks = [unit.body.new_block(self._label(case, label)) for case in self.cases]

    def _label(self, case: Node, label: str) -> str:
        parts = [child for child in children(case) if child.type != "statement_list"]
        return f"case {','.join(map(self.unit.words, parts))}" if parts else "default " + label

    def dispatch(self, test: Callable[[Node, Block, Block], None]) -> None:
        """Let `test` pass from each part of each case to its block or on; go to the default if none fits."""
        unit, body, default = self.unit, self.unit.body, self.after
        for case, block in zip(self.cases, self.blocks, strict=True):
            if case.type == "default_case":
                default = block
            for part in _alternatives(case):
                following = body.new_block("not " + unit.words(part))
                test(part, block, following)
                body.start(following)
        body.goto(default)

    def run(self, begin: Callable[[Node], None]) -> None:
        """Walk the cases, each in a scope of its own that `begin` opens."""
        unit, body = self.unit, self.unit.body
        body.enter(Loop(self.after, None, self.names))
        outer_following = unit.following
        for case, block, following in zip(self.cases, self.blocks, [*self.blocks, None][1:], strict=True):
            body.start(block)
            unit.following = following
            outer = unit.open_scope()
            begin(case)
            for part in children(case):
                if part.type == "statement_list":
                    unit.statements(part)
            unit.scope = outer
            body.goto(self.after)
        unit.following = outer_following
        body.leave()
        unit.continue_at(self.after)


def _alternatives(case: Node) -> list[Node]:
    """Return what a case lists: expressions or types."""
    if case.type == "expression_case":
        return tree.listed(case.child_by_field_id(tree.VALUE))
    return list(tree.with_fields(case, tree.TYPE)) if case.type == "type_case" else []


@STATEMENTS("expression_switch_statement")
def _switch(unit: Unit, node: Node) -> None:
    """`switch x { … }`; without x, the first case that is true."""
    subject_node, outer = node.child_by_field_id(tree.VALUE), unit.scope
    switch = _Switch(unit, node, f"switch {unit.words(subject_node)}" if subject_node is not None else "switch")
    unit.open_scope()
    _initialize(unit, node)
    subject = unit.value(subject_node) if subject_node is not None else None

    def test(part: Node, block: Block, following: Block) -> None:
        if subject is None:
            decide(unit, part, block, following)
        else:
            unit.body.branch(operation(unit, "==", [subject, unit.value(part)], part), block, following)

    switch.dispatch(test)
    switch.run(lambda case: None)
    unit.scope = outer


@STATEMENTS("type_switch_statement")
def _type_switch(unit: Unit, node: Node) -> None:
    """`switch v := x.(type) { … }`: in a case of one type, v is x as that type."""
    value, outer = node.child_by_field_id(tree.VALUE), unit.scope
    switch = _Switch(unit, node, "switch type " + unit.words(value))
    unit.open_scope()
    _initialize(unit, node)
    subject = unit.value(value)
    alias = next(iter(tree.listed(node.child_by_field_id(tree.ALIAS))), None)
    types: dict[int, int] = {}

    def test(part: Node, block: Block, following: Block) -> None:
        condition, types[part.id] = instance_test(unit, subject, part, part)
        unit.body.branch(condition, block, following)

    def begin(case: Node) -> None:
        if alias is None or unit.text(alias) == "_":
            return
        kinds = _alternatives(case)
        is_one = len(kinds) == 1 and unit.text(kinds[0]) != "nil"
        source = cast(unit, subject, types[kinds[0].id], alias) if is_one else subject
        unit.assign(unit.declare(alias), source, "variable", alias)

    switch.dispatch(test)
    switch.run(begin)
    unit.scope = outer


def _initialize(unit: Unit, node: Node) -> None:
    initializer = node.child_by_field_id(tree.INITIALIZER)
    if initializer is not None:
        unit.statement(initializer)
        unit.revive()


@STATEMENTS("select_statement")
def _select(unit: Unit, node: Node) -> None:
    """`select`: channels and what is sent are evaluated first; then one of the cases goes on, nobody knows which."""
    body = unit.body
    switch = _Switch(unit, node, "select")
    ready = [_prepare(unit, case.child_by_field_id(tree.COMMUNICATION)) for case in switch.cases]
    choice = body.new_block("select")
    body.goto(choice)
    body.start(choice)
    for block in switch.blocks:
        body.link(choice, block)
    body.block = None
    begins = dict(zip((case.id for case in switch.cases), ready, strict=True))
    switch.run(lambda case: begins[case.id]())


def _prepare(unit: Unit, node: Node | None) -> Callable[[], None]:
    """Evaluate the operands of a case of `select`; return what sends or receives."""
    if node is None:
        return lambda: None
    if node.type == "send_statement":
        channel = unit.value(node.child_by_field_id(tree.CHANNEL))
        value = unit.value(node.child_by_field_id(tree.VALUE))
        return lambda: send(unit, channel, value, node)
    return _prepare_receive(unit, node)


@STATEMENTS("receive_statement")
def _receive(unit: Unit, node: Node) -> None:
    _prepare_receive(unit, node)()


def _prepare_receive(unit: Unit, node: Node) -> Callable[[], None]:
    right = tree.inside(node.child_by_field_id(tree.RIGHT))
    is_receive = right is not None and right.kind_id in tree.UNARY and operator_of(right) == "<-"
    channel = unit.value(right.child_by_field_id(tree.OPERAND) if is_receive else right)
    lefts = tree.listed(node.child_by_field_id(tree.LEFT))
    declares = any(child.type == ":=" for child in node.children)

    def run() -> None:
        value = receive(unit, channel, right or node)
        values = [value, is_there(unit, value, right or node)] if len(lefts) > 1 else [value]
        for left, source in zip(lefts, values, strict=False):
            target(unit, left, source, "variable", declares=declares)

    return run
