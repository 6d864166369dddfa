"""`switch` as statement and expression: its labels are tests in order, each a branch; `yield` gives its value."""

from dataclasses import dataclass

from tree_sitter import Node

from facts.control_flow_graph import Block, Loop
from facts.java import tree
from facts.java.control import execute
from facts.java.operators import decide
from facts.java.patterns import match, require_equal
from facts.java.tree import EXPRESSIONS, STATEMENTS, children, only_child
from facts.java.unit import Unit
from facts.ssa import UNDEFINED

# No name that a program can give.
_YIELD = " yield"


@dataclass(eq=False)
class Result:
    """The value of a switch expression, as a variable that every `yield` writes."""

    name: str

    def __str__(self) -> str:
        return self.name


@STATEMENTS("switch_expression")
def _switch_statement(unit: Unit, node: Node) -> None:
    body, subject = unit.body, unit.value(only_child(node.child_by_field_id(tree.CONDITION)))
    after = body.new_block("after switch " + unit.label(subject))
    body.enter(Loop(after, None))
    _Switch(unit, node, subject, after, None).run(after)
    body.leave()
    unit.continue_at(after)


@EXPRESSIONS("switch_expression")
def _switch_expression(unit: Unit, node: Node) -> int:
    body, subject = unit.body, unit.value(only_child(node.child_by_field_id(tree.CONDITION)))
    result = Result("switch " + unit.label(subject))
    after = body.new_block("after " + result.name)
    body.enter(Loop(after, None, (_YIELD,)))
    results, unit.results = unit.results, (*unit.results, result)
    _Switch(unit, node, subject, body.failure(), result).run(after)
    unit.results = results
    body.leave()
    unit.continue_at(after)
    value = UNDEFINED if body.block is None else body.variables.read(body.block, result)
    unit.revive()
    return unit.entity("unknown", node) if value == UNDEFINED else value


@STATEMENTS("yield_statement")
def _yield(unit: Unit, node: Node) -> None:
    give(unit, only_child(node))


def give(unit: Unit, node: Node | None) -> None:
    """Let `node` be the value of the switch expression around, and leave it."""
    value = unit.value(node)
    if unit.results:
        unit.body.variables.write(unit.body.block, unit.results[-1], value)
        unit.body.jump("break", _YIELD)


class _Switch:
    """A switch under construction. `otherwise` is where control goes if no label matches and none is `default`."""

    def __init__(self, unit: Unit, node: Node, subject: int, otherwise: Block, result: Result | None) -> None:
        self.unit, self.subject, self.otherwise, self.result = unit, subject, otherwise, result
        self.groups = children(node.child_by_field_id(tree.BODY))
        self.default: Block | None = None

    def run(self, after: Block) -> None:
        """Walk the groups in order: test the labels, execute what matches, go on with the tests of the next group."""
        unit, body = self.unit, self.unit.body
        mark = unit.names.open()
        blocks = [body.new_block(_words(unit, group)) for group in self.groups]
        for group, block, following in zip(self.groups, blocks, (*blocks[1:], after), strict=False):
            inner = unit.names.open()
            self._test(group, block)
            rest = body.block
            body.start(block, sealed=block is not self.default)
            if group.type == "switch_rule":
                self._rule(group, after)
                unit.names.close(inner)
            else:
                self._statements(group)
                body.goto(following)
            body.block = rest
        body.goto(self.default or self.otherwise)
        if self.default is not None:
            body.seal(self.default)
        unit.names.close(mark)

    def _test(self, group: Node, target: Block) -> None:
        """Test the labels of a group: `target` is where a match leads; go on where none matches."""
        for label in children(group):
            if label.type != "switch_label":
                continue
            parts = children(label)
            guard = next((part for part in parts if part.type == "guard"), None)
            if not parts or any(self._is_default(part) for part in parts):
                self.default = target
            tested = [part for part in parts if part is not guard and not self._is_default(part)]
            if guard is None or len(tested) == 1:
                for part in tested:
                    self._test_one(part, guard, target)
            elif tested:
                self._test_guarded(tested, guard, target)

    def _test_guarded(self, parts: list[Node], guard: Node, target: Block) -> None:
        """Test several patterns, then the guard that they share, which is evaluated once."""
        unit, body = self.unit, self.unit.body
        fits, following = body.new_block("when " + unit.words(guard)), body.new_block("not " + unit.words(guard))
        for part in parts:
            self._test_one(part, None, fits)
        body.goto(following)
        body.start(fits)
        decide(unit, only_child(guard), target, following)
        unit.continue_at(following)

    def _is_default(self, part: Node) -> bool:
        return part.kind_id == tree.IDENTIFIER and self.unit.text(part) == "default"

    def _test_one(self, part: Node, guard: Node | None, target: Block) -> None:
        unit, body = self.unit, self.unit.body
        unit.revive()
        following = body.new_block("not " + unit.words(part))
        if part.type == "pattern":
            match(unit, part, self.subject, following)
        else:
            require_equal(unit, self.subject, self._constant(part), following, part)
        if guard is not None:
            decide(unit, only_child(guard), target, following)
        body.goto(target)
        unit.continue_at(following)

    def _constant(self, node: Node) -> int:
        """Return the value of a label: a name alone may be a constant of the subject's type."""
        unit = self.unit
        if node.kind_id != tree.IDENTIFIER:
            return unit.value(node)
        name = unit.text(node)
        if name in unit.names.variables or unit.field_owner(name) is not None:
            return unit.read(name, node)
        value = unit.body.instruction(unit.entity(name, node))
        unit.emit("load_enumerator", value, self.subject, name)
        unit.emit("load_enclosing", value, unit.body.entity, name)
        return value

    def _rule(self, group: Node, after: Block) -> None:
        """`-> statement`: nothing falls through; an expression is the value of a switch expression."""
        unit = self.unit
        for part in children(group):
            if part.type == "switch_label":
                continue
            if part.type == "expression_statement" and self.result is not None:
                give(unit, only_child(part))
            else:
                execute(unit, part)
        unit.body.goto(after)

    def _statements(self, group: Node) -> None:
        for part in children(group):
            if part.type != "switch_label":
                self.unit.statement(part)


def _words(unit: Unit, group: Node) -> str:
    """Return the label of the block that a group's labels lead to."""
    labels = [unit.words(label) for label in children(group) if label.type == "switch_label"]
    return ",".join(labels) or "case"
