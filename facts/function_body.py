"""One body under construction: a function, a class's or module's top level. Language-neutral."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from facts.control_flow_graph import Block, Finally, Graph
from facts.row_builder import Builder
from facts.ssa import UNDEFINED, Variables

MODULE = 0
"""The entity of the module."""


@dataclass(eq=False)
class Variable:
    """A name in the scope that owns it.

    `owner` is the entity of the body whose variable it is. `shared`: another body reads it, so its bindings go to a
    cell; `rebound`: another body binds it too, so that nobody can know its value after other code ran. `captured` turns
    true once a body that reads it may exist.
    """

    name: str
    owner: int = UNDEFINED
    shared: bool = False
    rebound: bool = False
    captured: bool = False
    cell: int = UNDEFINED

    def __str__(self) -> str:
        return self.name


class Body(Graph):
    """A body's control flow, variables and instructions.

    A variable of the body is in SSA form; if it is shared, its bindings are stored to its cell too, unless they are
    overwritten before anyone can see them. Other bodies' variables, and its own that others rebind, are loaded from
    the cell: once per body where nobody binds them meanwhile, else again after code that may have changed them.
    `initial` gives a variable's value where the body is entered, UNDEFINED if it has none.
    """

    def __init__(self, facts: Builder, entity: int, initial: Callable[[Variable], int] | None = None) -> None:
        super().__init__(facts, entity)
        self.variables = Variables(facts, entity, initial or (lambda variable: UNDEFINED))
        self.seal(self.entry)
        self._loads: dict[object, int] = {}
        self._unbound: dict[object, int] = {}
        self._constants: dict[tuple[str, str], int] = {}
        self._failures: dict[tuple[int, ...], Block] = {}

    # ---- Blocks

    def seal(self, block: Block) -> None:
        """State that every predecessor of `block` is known."""
        block.sealed = True

    def start(self, block: Block, *, sealed: bool = True) -> None:
        """Add what follows to `block`. A loop's head is sealed later, by `seal`."""
        self.block = block
        if sealed:
            self.seal(block)

    def goto(self, target: Block) -> None:
        if self.block is not None:
            self._store_pending()
        super().goto(target)

    def branch(self, condition: int, on_true: Block, on_false: Block) -> None:
        if self.block is not None:
            self._store_pending()
        super().branch(condition, on_true, on_false)

    def jump(self, kind: str, label: str = "") -> None:
        if self.block is not None:
            self._store_pending()
        super().jump(kind, label)

    def failure(self) -> Block:
        """Return the block that failed assertions lead to, which raises: one for all that reach the same handlers."""
        key = tuple(handler.entity for handler in self.catchers)
        block = self._failures.get(key)
        if block is None:
            block = self._failures[key] = self.new_block("fails")
            self.may_raise(block)
        return block

    # ---- Instructions

    def instruction(self, entity: int) -> int:
        """Add an instruction, which may raise, to the current block; return it."""
        block = self.here
        block.instructions.append(entity)
        if not block.raises:
            self.may_raise(block)
        return entity

    def allocation(self, entity: int) -> int:
        """Add an instruction that cannot raise: the making of a new object."""
        self.here.instructions.append(entity)
        return entity

    def running(self, entity: int) -> int:
        """Add an instruction that may run any other code: a call and the like."""
        self.other_code()
        return self.instruction(entity)

    def other_code(self) -> None:
        """State that code of other bodies may run here: it may read shared variables and rebind some."""
        block = self.here
        if block.exposed:
            self._store_all(block.exposed)
        if block.fresh:
            block.fresh.clear()

    # ---- Variables

    def bind(self, variable: Variable, value: int) -> None:
        """Let `variable` have `value` from here on. `value` is an entity made for this binding."""
        self._split(variable)
        if variable.shared or variable.rebound:
            self._bind_shared(variable, value)
        if not self._foreign(variable):
            self.variables.write(self.here, variable, value)

    def _bind_shared(self, variable: Variable, value: int) -> None:
        if self._foreign(variable):
            self.here.fresh[variable] = value
            self._store(variable, value)
        else:
            # In a loop, what captures the variable may stand further down.
            exposed = variable.captured or self.loops
            (self.here.exposed if exposed else self.here.unstored)[variable] = value

    def read(self, variable: Variable) -> int:
        """Return the value of `variable` here."""
        if not self._foreign(variable):
            value = self.variables.read(self.here, variable)
            return value if value != UNDEFINED else self._nothing(variable)
        if not variable.rebound:
            return self.load_once(variable, variable.name, "load_cell", self.cell_of(variable))
        known = self.here.fresh.get(variable)
        if known is None:
            known = self.facts.entity(self.entity, variable.name)
            self.facts.emit("load_cell", known, self.cell_of(variable))
            self.here.instructions.append(known)
            self.here.fresh[variable] = known
        return known

    def load_once(self, key: object, name: str, relation: str, *row: int | str) -> int:
        """Return the value that the body loads once, on entry: what `relation` states of it stands in `row`."""
        value = self._loads.get(key)
        if value is None:
            value = self._loads[key] = self.facts.entity(self.entity, name)
            self.facts.emit(relation, value, *row)
        return value

    def renew(self, key: object) -> None:
        """Let `load_once` give another value from here on: what it loads may have changed."""
        if key in self._loads:
            self._loads[key, len(self._loads)] = self._loads.pop(key)

    def load_constant(self, kind: str, text: str) -> int:
        """Return a constant of the body: one value, wherever it is used."""
        value = self._constants.get((kind, text))
        if value is None:
            value = self._constants[kind, text] = self.facts.entity(self.entity, text)
            self.facts.emit("constant", value, kind, text)
        return value

    def cell_of(self, variable: Variable) -> int:
        """Return the cell of `variable`."""
        if variable.cell == UNDEFINED:
            variable.cell = self.facts.entity(variable.owner, "cell " + variable.name)
            self.facts.emit("cell", variable.cell, variable.owner, variable.name)
        return variable.cell

    def capture(self, variables: Iterable[Variable]) -> None:
        """State that a body which reads `variables` may run from here on."""
        for variable in variables:
            variable.captured = True
            for pending in (self.here.unstored, self.here.exposed):
                if variable in pending:
                    self._store(variable, pending.pop(variable))

    def unbind(self, variable: Variable, delete: int) -> None:
        """Let `variable` have no value from here on; `delete` is the instruction."""
        self.instruction(delete)
        self._split(variable)
        if not self._foreign(variable):
            self.variables.write(self.here, variable, UNDEFINED)

    def stop(self) -> None:
        """End the current block: control goes nowhere from here, but for exceptions."""
        self._store_pending()
        self.block = None

    def start_new(self, label: str) -> None:
        """Go on in a new block."""
        block = self.new_block(label)
        self.goto(block)
        self.start(block)

    def end_region(self, region: Finally, label: str, *, passes: bool) -> None:
        """At the end of a finally region go on with every jump and exception that passed it.

        With `passes`, code that came there in the ordinary way goes on, too, in a new block.
        """
        if self.block is None:
            return
        self.resume(region)
        self.may_raise(self.block)
        if passes:
            self.start_new(label)
        else:
            self.stop()

    def abandon(self, block: Block | None, frames: int) -> None:
        """Go on behind code that was given up: from `block`, where it began, with the outer `frames` only."""
        while len(self.frames) > frames:
            self.leave()
        following = self.new_block("after unparsed")
        self.block = block
        self.goto(following)
        self.start(following)

    def _foreign(self, variable: Variable) -> bool:
        """Return True if the variable's value here is only known from its cell."""
        return variable.rebound or variable.owner != self.entity

    def _nothing(self, variable: Variable) -> int:
        value = self._unbound.get(variable)
        if value is None:
            value = self._unbound[variable] = self.facts.entity(self.entity, "unbound " + variable.name)
        return value

    def _store(self, variable: Variable, value: int) -> None:
        self.facts.emit("store_cell", value, self.cell_of(variable), value)
        self.here.instructions.append(value)

    def _store_pending(self) -> None:
        self._store_all(self.here.unstored)
        self._store_all(self.here.exposed)

    def _store_all(self, pending: dict[Variable, int]) -> None:
        for variable, value in pending.items():
            self._store(variable, value)
        pending.clear()

    def _split(self, variable: Variable) -> None:
        """Start a new block if handlers have to see the old value from what raised before the binding."""
        if not (self.here.raises and self.catchers):
            return
        following = self.new_block("from " + variable.name)
        self.goto(following)
        self.start(following)

    def finish(self) -> None:
        """Emit the body's control flow and merges."""
        if self.block is not None:
            self._store_pending()
        self.variables.resolve(self.blocks, self.flow())
        self.entry.instructions[:0] = self._loads.values()
        self.emit_flow()
        self.variables.emit_merges()
