"""Static single assignment form, built while a body is walked.

Braun et al., Simple and Efficient Construction of Static Single Assignment Form (CC 2013): a variable's value is looked
up backwards through the blocks; a φ is placed where control flows together, and given up when all that enters it is one
value. Lookups work with a list of φs to fill instead of recursion, so that no program is too deep.
"""

from collections.abc import Callable, Hashable

from facts.builder import Builder
from facts.cfg import Block

UNDEFINED = -1
"""The value of a variable that has none. It enters no φ: reading it raises."""


class Phi:
    """A φ: its entity, the block it opens and, once that block's predecessors are known, what enters it from each."""

    __slots__ = ("entity", "variable", "block", "operands")

    def __init__(self, entity: int, variable: Hashable, block: Block) -> None:
        self.entity, self.variable, self.block = entity, variable, block
        self.operands: list[int] = []


class Variables:
    """The values of a body's variables at every block.

    `initial` gives a variable's value where the body is entered (UNDEFINED if it has none); `name` its name.
    """

    def __init__(self, facts: Builder, body: int, initial: Callable[[Hashable], int]) -> None:
        self._facts, self._body, self._initial = facts, body, initial
        self._phis: list[Phi] = []
        self._unfilled: list[Phi] = []

    def write(self, block: Block, variable: Hashable, value: int) -> None:
        """Let `variable` have `value` from here to the end of `block`."""
        block.definitions[variable] = value

    def read(self, block: Block, variable: Hashable) -> int:
        """Return the value of `variable` at the end of `block`, as far as the block is built; maybe UNDEFINED."""
        value = self._look_up(block, variable)
        self._fill()
        return value

    def seal(self, block: Block) -> None:
        """State that all predecessors of `block` are known."""
        block.sealed = True
        self._unfilled.extend(block.open_phis)
        block.open_phis = []
        self._fill()

    def _look_up(self, block: Block, variable: Hashable) -> int:
        passed = []
        while (value := block.definitions.get(variable)) is None:
            passed.append(block)
            if block.sealed and len(block.predecessors) == 1:
                block = block.predecessors[0]
                continue
            value = self._initial(variable) if block.sealed and not block.predecessors else self._open(block, variable)
            break
        for walked in passed:
            walked.definitions[variable] = value
        return value

    def _open(self, block: Block, variable: Hashable) -> int:
        phi = Phi(self._facts.entity(self._body, f"φ {variable}"), variable, block)
        self._phis.append(phi)
        (self._unfilled if block.sealed else block.open_phis).append(phi)
        return phi.entity

    def _fill(self) -> None:
        while self._unfilled:
            phi = self._unfilled.pop()
            phi.operands = [self._look_up(block, phi.variable) for block in phi.block.predecessors]

    def finish(self) -> None:
        """Give up the trivial φs and emit the others as merges. Every block must be sealed."""
        replaced = self._give_up_trivial()
        for phi in self._phis:
            if phi.entity in replaced:
                self._facts.replace(phi.entity, _follow(replaced, phi.entity))
                continue
            self._facts.emit("in_block", phi.entity, phi.block.entity)
            for operand, block in zip(phi.operands, phi.block.predecessors, strict=True):
                if operand != UNDEFINED:
                    self._facts.emit("merge", phi.entity, operand, block.entity)

    def _give_up_trivial(self) -> dict[int, int]:
        """Return what stands for each φ that merges one value only."""
        replaced: dict[int, int] = {}
        users: dict[int, list[Phi]] = {phi.entity: [] for phi in self._phis}
        for phi in self._phis:
            for operand in set(phi.operands):
                if operand in users:
                    users[operand].append(phi)
        work = self._phis[:]
        while work:
            phi = work.pop()
            if phi.entity in replaced:
                continue
            entering = {_follow(replaced, operand) for operand in set(phi.operands)} - {phi.entity, UNDEFINED}
            if len(entering) == 1:
                (value,) = entering
                replaced[phi.entity] = value
                if value in users:
                    users[value].extend(user for user in users[phi.entity] if user.entity not in replaced)
                work.extend(users[phi.entity])
        return replaced


def _follow(replaced: dict[int, int], value: int) -> int:
    """Return what stands for a value in the end, and let all that is passed on the way stand for it directly."""
    passed = []
    while value in replaced:
        passed.append(value)
        value = replaced[value]
    for entity in passed:
        replaced[entity] = value
    return value
