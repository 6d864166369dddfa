"""One file while its facts are made: the walk over its tree, whatever the language.

A language derives its own walk, with tables of handlers by node kind, and adds what names mean in it. Code with syntax
errors is walked, too: what is sound in it gives facts, the lines of the rest are stated.
"""

import os
import re
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Self

from tree_sitter import Node

from facts.control_flow_graph import Block
from facts.file_facts import FileFacts
from facts.function_body import Body
from facts.row_builder import LABEL_LENGTH, Builder, tail
from facts.source_text import SourceText
from facts.tree_sitter_grammar import Handlers, is_broken, is_deeper

_SPACE = re.compile(r"(?:\s|\\\r?\n)+")
_LOOSE = re.compile(r"(?<!\w) | (?!\w)")

# Levels of the tree that the walk goes down; a level takes up to six frames of the interpreter, about 0.5 KB each.
MAX_DEPTH = 20_000
FRAMES_PER_LEVEL = 6


class Walk:
    """The state of the walk over one file; `body` takes instructions, definitions wait in `waiting` for their turn.

    `STATEMENTS` and `EXPRESSIONS` are the handlers, `REQUIRED` the fields that a statement with a syntax error in it
    must have to be walked as a whole, `BLOCKS` the kinds that hold statements.
    """

    LANGUAGE: ClassVar[str]
    STATEMENTS: ClassVar[Handlers]
    EXPRESSIONS: ClassVar[Handlers]
    REQUIRED: ClassVar[Mapping[str, tuple[int, ...]]]
    BLOCKS: ClassVar[frozenset[str]] = frozenset()

    body: Body

    def __init__(self, root: Node, text: SourceText) -> None:
        self.source = text.utf8
        self.facts = Builder(text, self.LANGUAGE)
        self.emit = self.facts.emit
        self.waiting: deque = deque()
        self.broken = root.has_error
        if self.broken:
            self._state_errors(root)
        self.deep = len(self.source) > MAX_DEPTH and is_deeper(root, MAX_DEPTH)

    def _state_errors(self, root: Node) -> None:
        """State the lines of all syntax errors, but for sound statements in them."""
        work = [root]
        while work:
            node = work.pop()
            if node.is_missing or (node.is_error and not node.child_count):
                self.facts.unparsed(node.start_byte, node.end_byte)
            elif node.has_error:
                work.extend(node.children)
            for child in node.children if node.is_error else ():
                if not self._is_sound_part(child):
                    self.facts.unparsed(child.start_byte, child.end_byte)

    def _is_sound_part(self, node: Node) -> bool:
        """Return True if a part of a syntax error is a statement or expression in itself, which gives its facts and
        errors.
        """
        if node.kind_id in self.STATEMENTS or node.type in self.BLOCKS:
            return True
        return node.kind_id in self.EXPRESSIONS and node.named_child_count > 0 and not node.has_error

    def _is_whole(self, node: Node) -> bool:
        """Return True if a compound statement has all its parts, in spite of an error in it."""
        fields = self.REQUIRED.get(node.type)
        return fields is not None and all(node.child_by_field_id(field) is not None for field in fields)

    # ---- Text and entities

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def entity(self, label: str, node: Node) -> int:
        """Return a new entity of the current body that stands where `node` stands."""
        return self.facts.entity(self.body.entity, label, node.start_byte, node.end_byte)

    def words(self, node: Node) -> str:
        """Return the text of a node as a label: shortened, and the same however it is laid out."""
        text = self.source[max(node.start_byte, node.end_byte - 4 * LABEL_LENGTH) : node.end_byte].decode(
            errors="ignore"
        )
        return tail(_LOOSE.sub("", _SPACE.sub(" ", text.strip())))

    def label(self, value: int) -> str:
        """Return the text that stands for a value in labels of what is made of it."""
        return self.facts.labels[value].removeprefix("φ ")

    # ---- Walking

    def value(self, node: Node | None) -> int:
        """Evaluate an expression; return its value."""
        if node is None:
            return self.unknown(None)
        handler = self.EXPRESSIONS.get(node.kind_id)
        if handler is None or (self.broken and is_broken(node)):
            return self.unknown(node)
        return handler(self, node)

    def unknown(self, node: Node | None) -> int:
        """Return a value that nothing is known of, after what is sound in `node` was evaluated."""
        if node is None:
            return self.facts.entity(self.body.entity, "unknown")
        if not self.broken:
            self.facts.unparsed(node.start_byte, node.end_byte)
        self.sound_parts(node)
        self.revive()
        return self.entity("unknown", node)

    def finish(self, build_next: Callable[[Self], None]) -> FileFacts:
        """End the module, build one after the other what waits, and return the facts of the file."""
        self.body.finish()
        while self.waiting:
            build_next(self)
        return self.facts.finish()

    def statements(self, block: Node | None) -> None:
        """Execute the statements of a block."""
        for statement in self.STATEMENTS.grammar.children(block) if block is not None else ():
            self.statement(statement)

    def statement(self, node: Node) -> None:
        """Execute a statement. One that is nested deeper than MAX_DEPTH is left without facts."""
        if self.deep and is_deeper(node, MAX_DEPTH):
            return self.facts.unparsed(node.start_byte, node.end_byte)
        self.revive()
        self.facts.place(self.body.here.entity, node.start_byte, node.end_byte)
        handler = self.STATEMENTS.get(node.kind_id)
        if handler is None or (self.broken and is_broken(node) and not self._is_whole(node)):
            handler = Walk.sound_parts
        self.attempt(handler, node)

    def revive(self) -> None:
        """Let code that nothing leads to stand in a block of its own."""
        if self.body.block is None:
            self.body.start(self.body.new_block("unreachable"))

    def continue_at(self, block: Block) -> None:
        """Go on at `block`, if control can get there."""
        self.body.seal(block)
        self.body.block = block if block.predecessors else None

    def attempt(self, handler: Callable[["Walk", Node], None], node: Node) -> None:
        """Let `handler` execute `node`. A mistake of ours in there costs these lines, visibly, and not the file."""
        body, block, frames = self.body, self.body.block, len(self.body.frames)
        go_back = self.way_back()
        try:
            handler(self, node)
        except MemoryError:
            raise
        except Exception:
            if os.environ.get("ANALYZE_DEBUG"):
                traceback.print_exc()
            self.facts.unparsed(node.start_byte, node.end_byte)
            go_back()
            self.body = body
            body.abandon(block, frames)

    def way_back(self) -> Callable[[], None]:
        """Return what puts a language's own state back as it is now."""
        return lambda: None

    def sound_parts(self, node: Node) -> None:
        """Execute and evaluate what is sound in code that is not."""
        for child in self.STATEMENTS.grammar.children(node):
            self.revive()
            if child.kind_id in self.STATEMENTS:
                self.statement(child)
            elif child.kind_id in self.EXPRESSIONS:
                self.value(child)
            else:
                self.sound_parts(child)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let a walk go MAX_DEPTH levels down: calls from Python to Python take no C stack (since 3.11), only memory."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MAX_DEPTH * FRAMES_PER_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
