"""Control flow of one body: blocks, edges, and where jumps and exceptions lead."""

from dataclasses import dataclass, field

from facts.dominators import immediate_dominators
from facts.row_builder import Builder, tail


class Block:
    """A straight run of instructions, the `number`-th block of its body.

    Values of variables at its end, as far as they are known, stand in `definitions`.
    """

    __slots__ = (
        "number",
        "entity",
        "predecessors",
        "successors",
        "caught_by",
        "instructions",
        "definitions",
        "sealed",
        "fresh",
        "unstored",
        "exposed",
        "raises",
    )

    def __init__(self, number: int, entity: int) -> None:
        self.number, self.entity = number, entity
        self.predecessors: list[Block] = []
        self.successors: list[Block] = []
        self.caught_by: list[Block] = []
        self.instructions: list[int] = []
        self.definitions: dict = {}
        self.sealed = False
        # What is known of cells here (see facts.function_body): values loaded or stored since other code could run;
        # bindings that are stored when the block ends, and those that are stored when other code runs.
        self.fresh: dict = {}
        self.unstored: dict = {}
        self.exposed: dict = {}
        self.raises = False


@dataclass
class Loop:
    """The targets of `break` and `continue`. `names` are the labels that a jump may give, "" for none: a labelled
    statement that is not a loop is left only by its label.
    """

    after: Block
    again: Block | None
    names: tuple[str, ...] = ("",)


@dataclass
class Guard:
    """Code whose exceptions reach `handlers`; when `everything` is caught they reach nothing further out."""

    handlers: list[Block]
    everything: bool


@dataclass
class Finally:
    """Code that every way out of a region passes. `jumps` are the ways taken: (kind, label)."""

    block: Block
    jumps: dict[tuple[str, str], None] = field(default_factory=dict)


class Graph:
    """The blocks of a body under construction, and the block that code is added to.

    `block` is None after a jump: no code can follow there. Frames are the loops, guards and finally regions that
    enclose the code at hand, innermost last; `catchers` are the blocks that an exception raised there may reach.
    """

    def __init__(self, facts: Builder, body: int) -> None:
        self.facts, self.entity = facts, body
        self.blocks: list[Block] = []
        self.frames: list[Loop | Guard | Finally] = []
        self.catchers: list[Block] = []
        self._outer_catchers: list[list[Block]] = []
        self.loops = 0
        self.labels: dict[str, Block] = {}
        self.entry = self.new_block("entry")
        self.block: Block | None = self.entry

    @property
    def here(self) -> Block:
        """The block that code is added to. Raises ValueError where no code can follow."""
        if self.block is None:
            raise ValueError("no code can follow here")
        return self.block

    def new_block(self, label: str) -> Block:
        """Return a new block, to which nothing leads yet."""
        block = Block(len(self.blocks), self.facts.entity(self.entity, "block " + tail(label)))
        self.blocks.append(block)
        return block

    def link(self, source: Block, target: Block) -> None:
        """Let control pass from the end of `source` to the start of `target`."""
        if target not in source.successors:
            source.successors.append(target)
            target.predecessors.append(source)

    def goto(self, target: Block) -> None:
        """End the current block by passing to `target`; nothing if no code can get here."""
        if self.block is not None:
            self.link(self.block, target)
            self.block = None

    def branch(self, condition: int, on_true: Block, on_false: Block) -> None:
        """End the current block by a test of `condition`."""
        if self.block is not None:
            self.facts.emit("branch", self.block.entity, condition, on_true.entity, on_false.entity)
            self.link(self.block, on_true)
            self.goto(on_false)

    def enter(self, frame: Loop | Guard | Finally) -> None:
        """Let `frame` enclose the code that follows."""
        self.frames.append(frame)
        self._outer_catchers.append(self.catchers)
        if isinstance(frame, Finally):
            self.catchers = [frame.block]
        elif isinstance(frame, Guard):
            self.catchers = [*frame.handlers, *(() if frame.everything else self.catchers)]
        self.loops += isinstance(frame, Loop)

    def leave(self) -> None:
        """End the innermost frame."""
        self.catchers = self._outer_catchers.pop()
        self.loops -= isinstance(self.frames.pop(), Loop)

    def may_raise(self, block: Block) -> None:
        """State that something in `block` may raise."""
        block.raises = True
        for handler in self.catchers:
            if handler not in block.caught_by:
                block.caught_by.append(handler)
                handler.predecessors.append(block)

    def labelled(self, name: str) -> Block:
        """Return the block that the label `name` opens. Jumps may name it before it is reached: it is sealed last."""
        block = self.labels.get(name)
        if block is None:
            block = self.labels[name] = self.new_block("label " + name)
        return block

    def jump(self, kind: str, label: str = "") -> None:
        """Leave by `break`, `continue`, `goto` or `return`: through the finally regions on the way, innermost first.

        A region may hold the label of a `goto` further down, so that control stays in it: it may pass at once, too.
        """
        if kind == "goto" and self.block is not None:
            self.link(self.block, self.labelled(label))
        target = self._target(kind, label)
        if target is not None:
            self.goto(target)
        self.block = None

    def resume(self, region: Finally) -> None:
        """At the end of a finally region that is no longer a frame, go on with the jumps that passed it."""
        for kind, label in region.jumps:
            target = self._target(kind, label)
            if target is not None and self.block is not None:
                self.link(self.block, target)

    def _target(self, kind: str, label: str) -> Block | None:
        for frame in reversed(self.frames):
            if isinstance(frame, Finally):
                frame.jumps[kind, label] = None
                return frame.block
            if isinstance(frame, Loop) and kind in ("break", "continue") and label in frame.names:
                target = frame.after if kind == "break" else frame.again
                if target is not None:
                    return target
        return self.labelled(label) if kind == "goto" else None

    def emit_flow(self) -> None:
        """Emit blocks, edges, dominators and the order of instructions."""
        emit = self.facts.emit
        emit("entry", self.entity, self.entry.entity)
        for block in self.blocks:
            emit("block", block.entity, self.entity)
            for target in block.successors:
                emit("edge", block.entity, target.entity)
            for handler in block.caught_by:
                emit("exception_edge", block.entity, handler.entity)
            for index, instruction in enumerate(dict.fromkeys(block.instructions)):
                emit("in_block", instruction, block.entity)
                emit("order_in_block", instruction, index)
        self._emit_dominators()

    def flow(self) -> list[list[int]]:
        """Return the numbers of the blocks that each block may pass control to."""
        return [[target.number for target in (*block.successors, *block.caught_by)] for block in self.blocks]

    def _emit_dominators(self) -> None:
        if len(self.blocks) == 1:
            return
        for block, dominator in zip(self.blocks, immediate_dominators(self.flow()), strict=True):
            if dominator >= 0:
                self.facts.emit("immediate_dominator", block.entity, self.blocks[dominator].entity)
