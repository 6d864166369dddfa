"""One Python file while its facts are made: where the walk is, and what every handler needs."""

import re
from collections import Counter, deque
from collections.abc import Callable

from tree_sitter import Node

from facts.body import MODULE, Body, Variable
from facts.builder import LABEL_LENGTH, Builder, tail
from facts.python import tree
from facts.python.builtins import BUILTINS
from facts.python.scopes import Scope, Scopes
from facts.python.tree import EXPRESSIONS, STATEMENTS, children, is_broken
from facts.ssa import UNDEFINED
from facts.text import SourceText

_SPACE = re.compile(r"(?:\s|\\\r?\n)+")
_LOOSE = re.compile(r"(?<!\w) | (?!\w)")

# Levels of the tree that the walk goes down; a level takes up to six frames of the interpreter, about 0.5 KB each.
MAX_DEPTH = 20_000
FRAMES_PER_LEVEL = 6


class Unit:
    """The state of the walk over one file.

    `scope` gives names their meaning, `body` takes instructions. A class body runs inside the body around it: then
    `bodies` holds that one first, and its variables are read there. Functions wait in `waiting` until the body that
    defines them is done.
    """

    def __init__(self, root: Node, text: SourceText) -> None:
        self.source = text.utf8
        self.facts = Builder(text, "python")
        self.emit = self.facts.emit
        self.scopes = Scopes(root, self.source)
        self.waiting: deque = deque()
        self.n_annotated: Counter[int] = Counter()
        self.broken = root.has_error
        if self.broken:
            self._state_errors(root)
        self.deep = len(self.source) > MAX_DEPTH and depth(root) > MAX_DEPTH
        self.open_body(MODULE, self.scopes.module)

    # ---- Bodies

    def open_body(self, entity: int, scope: Scope) -> None:
        """Go on in the body of a module or function."""
        scope.entity = entity
        self.scope = scope
        self.body = Body(self.facts, entity, lambda variable: self._initial(scope, variable))
        self.bodies = [self.body]
        self.caught: list[int] = []

    def open_class(self, entity: int, scope: Scope) -> None:
        """Go on in a class body, inside the body at hand."""
        scope.entity = entity
        self.scope = scope
        self.body = Body(self.facts, entity, lambda variable: self._initial(scope, variable))
        self.bodies.append(self.body)

    def close_class(self) -> None:
        """Go back to the body around a class body."""
        self.body.finish()
        self.bodies.pop()
        self.body = self.bodies[-1]
        self.scope = self.scope.parent

    def _initial(self, scope: Scope, variable: Variable) -> int:
        """Return what a variable of a body means before it is bound: an outer one (in a class) or a builtin."""
        if scope.kind == "class":
            return self._read(scope.parent.meaning(variable.name), variable.name)
        if scope.kind == "module" and (scope.star_import or variable.name in BUILTINS):
            return self._builtin(variable.name)
        return UNDEFINED

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
                if not _is_sound_part(child):
                    self.facts.unparsed(child.start_byte, child.end_byte)

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

    # ---- Names

    def read(self, name: str) -> int:
        """Return the value of `name` here."""
        variable = self.scope.meaning(name)
        value = self._read(variable, name)
        if variable is not None and not variable.rebound and variable.owner == self._body_of(variable).entity:
            self.emit("read", value)
        return value

    def _read(self, variable: Variable | None, name: str) -> int:
        return self._builtin(name) if variable is None else self._body_of(variable).read(variable)

    def _builtin(self, name: str) -> int:
        return self.bodies[0].load_once(name, name, "load_name", MODULE, name)

    def _body_of(self, variable: Variable) -> Body:
        return self.body if variable.owner == self.body.entity else self.bodies[0]

    def bind(self, name: str, value: int, kind: str) -> None:
        """Bind `name` to `value`, an entity that was made for it."""
        variable = self.scope.meaning(name)
        if variable is None:
            variable = self.scope.body.variable(name)
        if variable.owner == self.scope.body.entity:
            self.scope.body.assigned[name] = None
        self._body_of(variable).bind(variable, value)
        self.emit("binds", value, variable.owner, name, kind)

    def assign(self, name: str, source: int, kind: str, node: Node) -> int:
        """Bind `name` to a new value that is `source`; return it."""
        value = self.entity(name, node)
        self.emit("assign", value, source)
        self.bind(name, value, kind)
        return value

    def unbind(self, name: str, node: Node) -> None:
        """Execute `del name`."""
        variable = self.scope.meaning(name) or self.scope.body.variable(name)
        delete = self.entity("del " + name, node)
        self._body_of(variable).unbind(variable, delete)
        self.emit("deletes", delete, variable.owner, name)

    # ---- Walking

    def value(self, node: Node | None) -> int:
        """Evaluate an expression; return its value."""
        handler = EXPRESSIONS.get(node.kind_id) if node is not None else None
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
        self._revive()
        return self.entity("unknown", node)

    def statements(self, block: Node | None) -> None:
        """Execute the statements of a block."""
        for statement in children(block) if block is not None else ():
            self.statement(statement)

    def statement(self, node: Node) -> None:
        """Execute a statement. One that is nested deeper than MAX_DEPTH is left without facts."""
        if self.deep and depth(node) > MAX_DEPTH:
            return self.facts.unparsed(node.start_byte, node.end_byte)
        self._revive()
        self.facts.place(self.body.block.entity, node.start_byte, node.end_byte)
        handler = STATEMENTS.get(node.kind_id)
        if handler is None or (self.broken and is_broken(node) and not _is_whole(node)):
            handler = Unit.sound_parts
        self.attempt(handler, node)

    def _revive(self) -> None:
        """Let code that nothing leads to stand in a block of its own."""
        if self.body.block is None:
            self.body.start(self.body.new_block("unreachable"))

    def attempt(self, handler: Callable[["Unit", Node], None], node: Node) -> None:
        """Let `handler` execute `node`. A mistake of ours in there costs these lines, visibly, and not the file."""
        body, scope, block, frames = self.body, self.scope, self.body.block, len(self.body.frames)
        try:
            handler(self, node)
        except MemoryError:
            raise
        except Exception:
            self.facts.unparsed(node.start_byte, node.end_byte)
            self.body, self.scope = body, scope
            del self.bodies[self.bodies.index(body) + 1 :]
            body.abandon(block, frames)

    def sound_parts(self, node: Node) -> None:
        """Execute and evaluate what is sound in code that is not."""
        for child in children(node):
            self._revive()
            if child.kind_id in STATEMENTS:
                self.statement(child)
            elif child.kind_id in EXPRESSIONS:
                self.value(child)
            else:
                self.sound_parts(child)


def depth(node: Node) -> int:
    """Return how deep the tree below a node is."""
    cursor, level, deepest = node.walk(), 0, 0
    while True:
        while cursor.goto_first_child():
            level += 1
        deepest = max(deepest, level)
        while not cursor.goto_next_sibling():
            if not level:
                return deepest
            cursor.goto_parent()
            level -= 1


def _is_sound_part(node: Node) -> bool:
    """Whether a part of a syntax error is a statement or expression in itself, which gives its own facts and errors."""
    if node.kind_id in STATEMENTS or node.type == "block":
        return True
    return node.kind_id in EXPRESSIONS and node.named_child_count > 0 and not node.has_error


_REQUIRED = {
    "function_definition": (tree.NAME, tree.PARAMETERS, tree.BODY),
    "class_definition": (tree.NAME, tree.BODY),
    "if_statement": (tree.CONDITION, tree.CONSEQUENCE),
    "for_statement": (tree.LEFT, tree.RIGHT, tree.BODY),
    "while_statement": (tree.CONDITION, tree.BODY),
    "try_statement": (tree.BODY,),
    "with_statement": (tree.BODY,),
    "match_statement": (tree.SUBJECT, tree.BODY),
    "decorated_definition": (tree.DEFINITION,),
}


def _is_whole(node: Node) -> bool:
    """Whether a compound statement has all its parts, in spite of an error in it."""
    fields = _REQUIRED.get(node.type)
    return fields is not None and all(node.child_by_field_id(field) is not None for field in fields)
