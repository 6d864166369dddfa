"""Components of one file: their scripts, and a function that shows them, made of their markup.

The function stands behind the scripts, so it closes over what they bind. Of an expression of the markup it makes a
statement: an assignment to `innerHTML` where it becomes markup, to `href` where it is an address, else `void(…)`. Loops
are loops, and what others give to a slot are parameters. Other names of Vue's markup are those of the component:
members of the function's receiver. A name that the scripts bind is used if it stands anywhere in the markup: as a tag
in kebab case, a directive, a reference by text.
"""

import re
from collections.abc import Callable

from tree_sitter import Node

from facts.file_facts import FileFacts
from facts.function_body import MODULE
from facts.instructions import load_attribute
from facts.javascript import bodies, handlers, imports  # noqa: F401
from facts.javascript.declared_names import collect
from facts.javascript.functions import Definition, receiver_of
from facts.javascript.handler_tables import field
from facts.javascript.parse import parse
from facts.javascript.scopes import Scope, Scopes
from facts.javascript.unit import Tsx, TypeScript, Unit
from facts.page.markup import Attribute, Markup, Tag
from facts.pieced_text import PiecedText
from facts.source_text import SourceText
from facts.tree_walk import deep_recursion

VIEW = b"view$"
_BRACKETS = re.compile(
    rb"[()\[\]{}]|\\.|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?",
    re.DOTALL,
)
_EXPORTED_WORD = re.compile(rb"(\bexport\s*\{\s*[\w$]+\s+as\s+)(class|for|default)(?=\s*\})")
"""Svelte's names of properties that are words of the language, which the grammar does not take as names."""
_OPENING = {b")": b"(", b"]": b"[", b"}": b"{"}
_PATH = re.compile(rb"\s*[A-Za-z_$][\w$]*(?:\s*\.\s*[A-Za-z_$][\w$]*|\[[^\[\]]*\])*\s*")
_FUNCTION = re.compile(rb"\s*(?:async\b\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]*)?=>|[\w$]+\s*=>)")
_WORD = re.compile(rb"[A-Za-z_$][\w$-]*")
_PART = re.compile(r"-(\w)")
_REFERENCES = ((b"&amp;&amp;", b"&&        "), (b"&amp;", b"&    "), (b"&lt;", b"<   "), (b"&gt;", b">   ")) + (
    (b"&quot;", b"'     "),
    (b"&#39;", b"'    "),
)
# Parameters of a component that are types: `generics="T extends Shop"` in Svelte, `generic` in Vue.
_GENERICS = (b"generics", b"generic")
_ADDRESSES = {b"href": (b"a", b"area", b"base"), b"src": (b"iframe", b"frame", b"embed"), b"action": (b"form",)}


class View:
    """The function that shows a component, while it is written behind the component's scripts.

    `open_tags` are the elements and blocks that are open, innermost last, each with what ends it in the function.
    """

    def __init__(self, data: bytes, *, braces: bool = False) -> None:
        self.text = PiecedText(data)
        self.page = self.text.page
        self.markup = Markup(self.page, braces=braces)
        self.language = "javascript"
        self.open_tags: list[tuple[bytes, bytes]] = []
        self._steps: list[tuple[int, int] | tuple[int, bytes]] = []
        self._shown: list[tuple[int, int]] = []
        self.unread: list[tuple[int, int]] = []

    def script(self, tag: Tag) -> None:
        """Add the content of a script."""
        language = self.value(tag.attribute(b"lang")).strip().lower()
        kind = self.value(tag.attribute(b"type")).strip().lower()
        if tag.content_end < 0 or tag.attribute(b"src") or kind in (b"text/template", b"application/json"):
            return
        if language in (b"ts", b"typescript", b"tsx") or kind in (b"text/typescript", b"ts"):
            self.language = "tsx" if language == b"tsx" else "typescript"
        for name in _GENERICS:
            if (types := tag.attribute(name)) is not None:
                self.shown(types.start, types.end)
        code = _EXPORTED_WORD.sub(lambda found: found[1] + b"_" * len(found[2]), self.page[tag.end : tag.content_end])
        self.text.piece(tag.end, tag.content_end, code)
        self.text.words(b"\n;\n", tag.content_end)

    def value(self, attribute: Attribute | None) -> bytes:
        """Return the value of an attribute, nothing without one."""
        return b"" if attribute is None else self.page[attribute.start : attribute.end]

    # ---- What the function does

    def words(self, text: bytes, at: int) -> None:
        """Let the function have words that stand nowhere."""
        self._steps.append((at, text))

    def code(self, before: bytes, span: tuple[int, int], after: bytes) -> bool:
        """Let the function have code between words. Return False if it is no code, which is not read."""
        start, end = span
        code = self.page[start:end]
        if not code.strip():
            return False
        if not _is_balanced(code):
            self.unread.append(span)
            return False
        self._steps += [(start, before), (start, end), (end, b"\n" + after)]
        return True

    def shows(self, span: tuple[int, int]) -> None:
        """Evaluate an expression."""
        self.code(b"void(", span, b");\n")

    def shows_as(self, name: bytes, span: tuple[int, int]) -> None:
        """Store an expression in a property of an element: `innerHTML`, `href`."""
        self.code(b"element$." + name + b" = (", span, b");\n")

    def attribute(self, tag: Tag, name: bytes, span: tuple[int, int]) -> None:
        """Evaluate the value of an attribute of an element."""
        name = name.lower()
        if name in (b"innerhtml", b"inner-html", b"srcdoc"):
            self.shows_as(b"srcdoc" if name == b"srcdoc" else b"innerHTML", span)
        elif tag.name.lower() in _ADDRESSES.get(name, ()):
            self.shows_as(b"href", span)
        else:
            self.shows(span)

    def handles(self, span: tuple[int, int]) -> None:
        """Evaluate a handler of events: a function, or statements."""
        code = self.page[slice(*span)]
        if _PATH.fullmatch(code) or _FUNCTION.match(code):
            self.shows(span)
        else:
            self.code(b"void(($event) => {", span, b"});\n")

    def binds(self, span: tuple[int, int]) -> None:
        """Read and assign to what an element is bound to."""
        self.shows(span)
        if _PATH.fullmatch(self.page[slice(*span)]):
            self.code(b"void(($event) => {", span, b" = $event});\n")

    def loop(self, pattern: tuple[int, int], source: tuple[int, int]) -> bytes:
        """Go on in a loop that binds a pattern to elements of an expression; return what ends it."""
        if not self._is_code(pattern) or not self._is_code(source):
            return b""
        self.code(b"for (const ", pattern, b" of (")
        self.code(b"", source, b")) {\n")
        return b"}\n"

    def given(self, parameters: tuple[int, int]) -> bytes:
        """Go on where others give values to parameters; return what ends it."""
        return b"});\n" if self.code(b"void((", parameters, b") => {\n") else b""

    def _is_code(self, span: tuple[int, int]) -> bool:
        code = self.page[slice(*span)]
        return bool(code.strip()) and _is_balanced(code)

    def begins(self, name: bytes, closers: bytes) -> None:
        """Begin an element or block that these words end."""
        self.open_tags.append((name, closers))

    def ends(self, name: bytes, at: int) -> None:
        """End the innermost element or block of a name, and what is open in it; nothing if none is open."""
        if any(found == name for found, _ in self.open_tags[-200:]):
            while True:
                found, closers = self.open_tags.pop()
                self.words(closers, at)
                if found == name:
                    return

    def shown(self, start: int, end: int) -> None:
        """State that a part of the file is markup, whose words use names."""
        self._shown.append((start, end))

    def facts(self, members: Callable[[str], bool]) -> FileFacts:
        """Return the facts of the component. `members` tells of names that nothing binds whether they are its own."""
        end = len(self.page)
        while self.open_tags:
            self.words(self.open_tags.pop()[1], end)
        self.text.words(b"\nfunction view$() {\n", end)
        for step in self._steps:
            if isinstance(step[1], bytes):
                self.text.words(step[1], step[0])
            else:
                self.text.piece(*step, _without_references(self.page[slice(*step)]))
        self.text.words(b"\n}\n", end)
        self.text.assemble()
        words = frozenset(name for span in self._shown for name in _names(self.page[slice(*span)]))
        root = parse(self.language, self.text.utf8)
        with deep_recursion():
            unit = _DIALECTS[self.language](root, self.text, words, members)
            imports.directives(unit, root)
            unit.statements(root)
            imports.state_exports(unit)
            for start, stop in self.unread:
                for line in range(SourceText.line_of(self.text, start), SourceText.line_of(self.text, stop) + 1):
                    unit.emit("unparsed", line)
            return unit.finish(bodies.build_next)


def _is_balanced(code: bytes) -> bool:
    """Return True if brackets match, and comments end."""
    opened = []
    for match in _BRACKETS.finditer(code):
        found = match[0]
        if found in _OPENING:
            if not opened or opened.pop() != _OPENING[found]:
                return False
        elif found in (b"(", b"[", b"{"):
            opened.append(found)
        elif found.startswith(b"/*") and not found.endswith(b"*/"):
            return False
    return not opened


def _without_references(code: bytes) -> bytes:
    """Return code of the same length with the signs that references of HTML stand for."""
    if b"&" in code:
        for reference, sign in _REFERENCES:
            code = code.replace(reference, sign)
    return code


def _names(markup: bytes) -> set[str]:
    """Return the names that words of markup may mean: as they are, in camel and Pascal case, of a directive."""
    names = set()
    for word in _WORD.findall(markup):
        text = word.decode(errors="replace")
        camel = _PART.sub(lambda found: found[1].upper(), text)
        names |= {text, camel, camel[:1].upper() + camel[1:], text.lstrip("$")} | set(text.split("-"))
    return names


class _Component(Unit):
    """The walk over a component. `words` stand in its markup, `members` tells the names of the component itself."""

    def __init__(self, root: Node, text: SourceText, words: frozenset[str], members: Callable[[str], bool]) -> None:
        self._words, self._members = words, members
        self._view: Node | None = next(
            (node for node in reversed(root.named_children) if _is_view(node, text.utf8)), None
        )
        self._used: list[str] = []
        super().__init__(root, text)

    def collected(self, root: Node) -> Scopes:
        """Return the scopes of the file; the view's has the component's members, and uses what the markup names."""
        return collect(root, self.source, self.LANGUAGE, self._complete)

    def _complete(self, scopes: Scopes) -> None:
        view = self._view and scopes.of_node.get(self._view.id)
        if view is None:
            return
        self._used = sorted(self._words & scopes.module.values.keys())
        view.used |= {*self._used, "this"}
        for scope in list(scopes.of_node.values()):
            if not _stands_in(scope, view):
                continue
            for name in sorted(scope.used | scope.assigned):
                if scope.resolve(name) is None and self._members(name):
                    view.declare(name, "member")

    def entered(self, definition: Definition) -> None:
        """In the view, bind the component's members, and read what the markup names."""
        if self._view is None or definition.node != self._view:
            return
        self.emit("component_view", MODULE, definition.function)
        for name, variable in list(definition.scope.values.items()):
            if variable.kind == "member":
                value = load_attribute(self, receiver_of(self, definition), name, field(self._view, "name"))
                self.bind(name, value, "parameter")
        for name in self._used:
            self.read(name)

    def statement(self, node: Node) -> None:
        """Execute a statement; a reactive one of Svelte, `$: …`, at any time after others."""
        label = field(node, "label") if node.type == "labeled_statement" else None
        if label is not None and self.text(label) == "$":
            self.revive()
            self.body.other_code()
        super().statement(node)


def _is_view(node: Node, source: bytes) -> bool:
    name = field(node, "name") if node.type == "function_declaration" else None
    return name is not None and source[name.start_byte : name.end_byte] == VIEW


def _stands_in(scope: Scope | None, outer: Scope) -> bool:
    while scope is not None and scope is not outer:
        scope = scope.parent
    return scope is outer


class _TypedComponent(_Component, TypeScript):
    pass


class _TsxComponent(_Component, Tsx):
    pass


_DIALECTS = {"javascript": _Component, "typescript": _TypedComponent, "tsx": _TsxComponent}
