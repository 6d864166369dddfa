"""Static single assignment form of a body: what is read is noted while the body is walked, and found out at its end.

A read whose value is known on the straight path before it gives that value. Any other gives a φ of the block where the
path ends, which may be given up later. When all blocks are known, φs are placed on the iterated dominance frontiers of
the writes (Cytron et al., Efficiently Computing Static Single Assignment Form, TOPLAS 1991), those that a read may see
are filled, and one that merges a single value is replaced by it (Braun et al., CC 2013). The steps are in proportion to
the blocks, the reads and writes, the φs placed and what enters those that are seen; none depends on how many variables
or blocks stand around a read.
"""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from facts.control_flow_graph import Block
from facts.dominators import DominatorTree, Nearest
from facts.row_builder import Builder

Name = TypeVar("Name", bound=Hashable)

UNDEFINED = -1
"""The value of a variable that has none. It enters no φ: reading it raises."""

# The blocks of a straight path that a read looks back through before it gives a φ.
REACH = 256


class Phi:
    """A φ: its entity, the block it opens and what enters it from each of that block's predecessors."""

    __slots__ = ("entity", "block", "operands")

    def __init__(self, entity: int, block: Block) -> None:
        self.entity, self.block = entity, block
        self.operands: list[int] = []


class Variables(Generic[Name]):
    """The values of a body's variables at every block.

    `initial` gives a variable's value where the body is entered (UNDEFINED if it has none).
    """

    def __init__(self, facts: Builder, body: int, initial: Callable[[Name], int]) -> None:
        self._facts, self._body, self._initial = facts, body, initial
        self._writes: dict[Name, dict[int, int]] = {}
        self._asked: dict[Name, list[Phi]] = {}
        self._phis: list[Phi] = []
        self._replaced: dict[int, int] = {}

    def write(self, block: Block, variable: Name, value: int) -> None:
        """Let `variable` have `value` from here to the end of `block`."""
        block.definitions[variable] = value
        self._writes.setdefault(variable, {})[block.number] = value

    def read(self, block: Block, variable: Name) -> int:
        """Return the value of `variable` at the end of `block`, as far as the block is built; maybe UNDEFINED."""
        end, left = block, REACH
        while (value := block.definitions.get(variable)) is None:
            if block.sealed and not block.predecessors:
                value = self._initial(variable)
            elif block.sealed and len(block.predecessors) == 1 and left:
                block, left = block.predecessors[0], left - 1
                continue
            else:
                value = block.definitions[variable] = self._ask(block, variable)
            break
        end.definitions[variable] = value
        return value

    def _ask(self, block: Block, variable: Name) -> int:
        """Return a φ that stands for the value of `variable` at the start of `block`."""
        phi = self._phi(block, variable)
        self._asked.setdefault(variable, []).append(phi)
        return phi.entity

    def _phi(self, block: Block, variable: Name) -> Phi:
        return Phi(self._facts.entity(self._body, f"φ {variable}"), block)

    def resolve(self, blocks: list[Block], flow: list[list[int]]) -> None:
        """Find what every φ merges, and give up those that merge one value; `flow` are the successors of all blocks."""
        if not self._asked:
            return
        tree = DominatorTree(flow)
        for variable, asked in self._asked.items():
            self._fill(variable, asked, blocks, tree)
        _give_up_trivial(self._phis, self._replaced)
        for entity in self._replaced:
            self._facts.replace(entity, _follow(self._replaced, entity))

    def _fill(self, variable: Name, asked: list[Phi], blocks: list[Block], tree: DominatorTree) -> None:
        """Place the φs of a variable, and fill those that some read may see."""
        writes = self._writes.get(variable, {})
        top = tree.above_all([*writes, *(phi.block.number for phi in asked)])
        places = tree.iterated_frontier(writes, top)
        nearest = Nearest(tree, {*writes, *places})
        made = {phi.block.number: phi for phi in asked if phi.block.number in places}
        unfilled = list(made.values())

        def leave_top() -> None:
            """Take in what is not below the code that reads and writes the variable: few are live there."""
            nonlocal top, places, nearest
            top = tree.root
            places = tree.iterated_frontier(writes, top)
            nearest = Nearest(tree, {*writes, *places})

        def leaving(block: int) -> int:
            place = nearest.above(block)
            if place == tree.root:
                return entering(top)
            return writes[place] if place in writes else entering(place)

        def entering(block: int) -> int:
            if block == tree.root:
                return self._initial(variable)
            if block == top:
                leave_top()
            if block not in places:
                return leaving(tree.parent[block])
            if block not in made:
                made[block] = self._phi(blocks[block], variable)
                unfilled.append(made[block])
            return made[block].entity

        for phi in asked:
            if phi.block.number not in places and (value := entering(phi.block.number)) != UNDEFINED:
                self._replaced[phi.entity] = value
        while unfilled:
            phi = unfilled.pop()
            phi.operands = [leaving(block.number) for block in phi.block.predecessors]
        self._phis.extend(made.values())

    def emit_merges(self) -> None:
        """Emit the φs that were not given up."""
        for phi in self._phis:
            if phi.entity in self._replaced:
                continue
            self._facts.emit("in_block", phi.entity, phi.block.entity)
            for operand, block in zip(phi.operands, phi.block.predecessors, strict=True):
                if operand != UNDEFINED:
                    self._facts.emit("merge", phi.entity, operand, block.entity)


def _give_up_trivial(phis: list[Phi], replaced: dict[int, int]) -> None:
    """Add to `replaced` what stands for each φ that merges one value only."""
    users: dict[int, list[Phi]] = {phi.entity: [] for phi in phis}
    for phi in phis:
        for operand in set(phi.operands):
            if operand in users:
                users[operand].append(phi)
    work = phis[:]
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


def _follow(replaced: dict[int, int], value: int) -> int:
    """Return what stands for a value in the end, and let all that is passed on the way stand for it directly."""
    passed = []
    while value in replaced:
        passed.append(value)
        value = replaced[value]
    for entity in passed:
        replaced[entity] = value
    return value
