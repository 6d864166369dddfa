"""One template while its facts are made: its body, the names that it binds, what it prints and where.

A name that the template does not bind is read from what the template is rendered with: `load_name`. Filters are calls;
their names have a `|` in front. A part of another template is a call of `include`, whose keyword arguments are the
names that are bound where it stands.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from facts.control_flow_graph import Block, Loop
from facts.file_facts import FileFacts
from facts.function_body import MODULE, Body, Variable
from facts.row_builder import Builder, tail
from facts.source_text import SourceText
from facts.template.page_places import QUOTED, TEXT, PagePlaces

Target = str | list["Target"]
"""What a loop binds: a name, or the parts of an element to several."""
MOST_NAMES = 50
"""Of so many names at hand a part of another template is told, the innermost first."""
RAW, ESCAPED, DEFAULT = "raw", "escaped", "default"
_DIRECTIVE = re.compile(rb"(?:<!--|\{#|<%--|<%#|<#--|/\*|//|##|\{\{!(?:--)?)-?\s*(analyze:[^\n]*)")
_END_OF_COMMENT = re.compile(r"\s*(?:-->|[#-]?\}+|(?:--)?%>|\*/).*")


class Span(NamedTuple):
    """A piece of the source."""

    start_byte: int
    end_byte: int


class Open(NamedTuple):
    """A construct that waits for its end: `otherwise` begins where its condition fails, `after` follows it.

    A loop goes on at its `head`, a macro has the body around, `outer`. What is `scoped` has names of its own.
    """

    kind: str
    after: Block
    otherwise: Block | None = None
    head: Block | None = None
    outer: Body | None = None
    scoped: bool = False


class Unreadable(Exception):
    """An expression is not written as the template's language wants it."""


class Page:
    """The state of the walk over one template.

    `scopes` are the names at hand, innermost last; `constructs` those that are open; `how` says how values are printed
    where nothing else is said, innermost last. `TELLS_PLACES`: escaping is the same all over the page.
    """

    TELLS_PLACES = True

    def __init__(self, text: SourceText, language: str) -> None:
        self.source = text.utf8
        self.facts = Builder(text, language)
        self.emit = self.facts.emit
        self.scopes: list[dict[str, None]] = [{}]
        self._meanings: dict[str, list[Variable]] = {}
        self.constructs: list[Open] = []
        self.how = [DEFAULT]
        self.places = PagePlaces()
        self.tag_end = 0
        self._n_open: Counter[str] = Counter()
        self.body = Body(self.facts, MODULE)
        self.emit("template", MODULE)

    # ---- Text and entities

    def text(self, span: Span) -> str:
        """Return the text of a span."""
        return self.source[span.start_byte : span.end_byte].decode(errors="replace")

    def entity(self, label: str, span: Span) -> int:
        """Return a new entity of the current body that stands at the span."""
        return self.facts.entity(self.body.entity, tail(" ".join(label.split())), span.start_byte, span.end_byte)

    def label(self, value: int) -> str:
        """Return the text that stands for a value in labels of what is made of it."""
        return self.facts.labels[value].removeprefix("φ ")

    def _state_directives(self) -> None:
        """State the comments that speak to the analyser."""
        for found in _DIRECTIVE.finditer(self.source) if b"analyze:" in self.source else ():
            text = _END_OF_COMMENT.sub("", self.text(Span(*found.span(1))))
            self.emit("directive_comment", self.facts.text.line_of(found.start()), "# " + text)

    # ---- Names

    def read(self, name: str, span: Span) -> int:
        """Return the value of `name`, which is read at the span."""
        if meanings := self._meanings.get(name):
            value = self.body.read(meanings[-1])
            self.emit("read", value)
            return value
        value = self.body.load_once(name, name, "load_name", MODULE, name)
        self.facts.place(value, *span)
        return value

    def bind(self, name: str, source: int, span: Span, kind: str = "variable") -> None:
        """Bind `name` to a new value that is `source`, in the innermost scope."""
        value = self.entity(name, span)
        self.emit("assign", value, source)
        self.bind_value(name, value, kind)

    def bind_value(self, name: str, value: int, kind: str) -> None:
        """Bind `name` to `value`, an entity that was made for it. What is bound outside of loops, macros may read."""
        meanings = self._meanings.setdefault(name, [])
        if name not in self.scopes[-1]:
            self.scopes[-1][name] = None
            meanings.append(Variable(name, self.body.entity, shared=len(self.scopes) == 1))
        self.body.bind(meanings[-1], value)
        self.emit("binds", value, self.body.entity, name, kind)

    # ---- What a template does

    def prints(self, value: int, span: Span, how: str = "", place: str = "") -> None:
        """Print a value into the page, at the place of its text if no other is given."""
        print_ = self.body.running(self.entity("print " + self.label(value), span))
        self.emit("prints", print_, value, how or self.how[-1])
        place = place or self.places.place
        if self.TELLS_PLACES and place not in (TEXT, QUOTED):
            self.emit("printed_in", print_, place)
        self.places.printed()

    def call(self, callee: int, arguments: list[tuple[str, int]], span: Span) -> int:
        """Return the result of a call; an argument is a keyword, or the empty string, and a value."""
        result = self.body.running(self.entity(self.label(callee) + "()", span))
        self.emit("call", result, self.body.entity, callee)
        position = 0
        for keyword, value in arguments:
            if keyword:
                self.emit("keyword_argument", result, keyword, value)
            else:
                self.emit("argument", result, position, value)
                position += 1
        return result

    def filtered(self, name: str, arguments: list[tuple[str, int]], span: Span) -> int:
        """Return what a filter makes of its arguments."""
        name = "|" + name
        return self.call(self.body.load_once(name, name, "load_name", MODULE, name), arguments, span)

    def include(self, template: int, arguments: list[tuple[str, int]], span: Span, *, alone: bool = False) -> None:
        """Print another template with the names at hand and these; unless it stands `alone`, with what it is given."""
        given = {keyword for keyword, _ in arguments}
        at_hand = (name for scope in reversed(self.scopes) for name in reversed(scope))
        for name in () if alone else dict.fromkeys(islice(at_hand, MOST_NAMES)):
            if name not in given:
                arguments = [*arguments, (name, self.read(name, span))]
        callee = "include alone" if alone else "include"
        loaded = self.body.load_once(callee, callee, "load_name", MODULE, callee)
        self.call(loaded, [("", template), *arguments], span)

    # ---- Control flow

    def begin_if(self, kind: str, condition: int, after: Block | None = None) -> None:
        """Go on where the condition holds; behind the construct at `after`, if others end there, too."""
        label = f"{kind} {self.label(condition)}"
        inside, otherwise = self.body.new_block("in " + label), self.body.new_block("else " + label)
        after = after or self.body.new_block("after " + label)
        self.body.branch(condition, inside, otherwise)
        self.body.start(inside)
        self._open(Open(kind, after, otherwise))

    def begin_else_if(self, condition: Callable[[], int]) -> None:
        """Go on where the condition of the innermost construct fails and this one, evaluated there, holds."""
        before = self.turn()
        if before is not None:
            value = condition()
            self._drop()
            self.begin_if(before.kind, value, before.after)

    def turn(self) -> Open | None:
        """Go on where the condition of the innermost construct fails, once."""
        if not self.constructs or self.constructs[-1].otherwise is None:
            return None
        found = self.constructs[-1]
        self.body.goto(found.after)
        self.body.start(found.otherwise)
        self.constructs[-1] = found._replace(otherwise=None)
        return found

    def begin_for(self, kind: str, iterable: int, names: Sequence[Target], span: Span, *, keyed: bool = False) -> None:
        """Go on in a loop: bind the next element to a name, or its parts to several.

        Of a `keyed` loop, the first of two names is the key or index.
        """
        body, label = self.body, f"{kind} {' '.join(map(written, names))}"
        head, inside, after = body.new_block(label), body.new_block("in " + label), body.new_block("after " + label)
        body.goto(head)
        body.start(head, sealed=False)
        body.enter(Loop(after, head))
        self.scopes.append({})
        item = body.running(self.entity("next " + self.label(iterable), span))
        self.emit("iterate", item, iterable)
        body.link(head, after)
        body.goto(inside)
        body.start(inside)
        if keyed and len(names) == 2:
            key = body.instruction(self.entity("key of " + self.label(iterable), span))
            self.emit("iterate_key", key, iterable)
            self._bind_parts(names[0], key, span)
            names = names[1:]
        self._bind_parts(names[0] if len(names) == 1 else names, item, span)
        self._open(Open(kind, after, head=head, scoped=True))

    def _bind_parts(self, target: Target, value: int, span: Span) -> None:
        """Bind a value to a name, or its parts to several."""
        if isinstance(target, str):
            self.bind(target, value, span, "loop")
            return
        for position, each in enumerate(target):
            part = self.body.instruction(self.entity(written(each), span))
            self.emit("unpack", part, value, position)
            self._bind_parts(each, part, span)

    def begin_scope(self, kind: str) -> None:
        """Go on in a scope of its own."""
        after = self.body.new_block("after " + kind)
        self.scopes.append({})
        self._open(Open(kind, after, scoped=True))

    def begin_macro(self, kind: str, name: str, parameters: list[str], span: Span) -> None:
        """Go on in a new function of this name, which prints when it is called."""
        function = self.entity("def " + name, span)
        self.emit("function", function, self.body.entity, name)
        value = self.entity(name, span)
        self.emit("define", value, function)
        self.bind_value(name, value, "function")
        after, outer = self.body.new_block("after " + name), self.body
        self._open(Open(kind, after, outer=outer, scoped=True))
        self.scopes.append({})
        self.body = Body(self.facts, function)
        for position, parameter in enumerate(parameters):
            entered = self.entity(parameter, span)
            self.emit("parameter", function, position, parameter, entered)
            self.emit("keyword_parameter", function, parameter, entered)
            self.bind_value(parameter, entered, "parameter")

    def end(self, *kinds: str) -> None:
        """End the innermost construct of these kinds, and what is still open in it; nothing if none is open."""
        if any(self._n_open[kind] for kind in kinds):
            while self.end_innermost() not in kinds:
                pass

    def read_tags(self, opening: re.Pattern[bytes], read: Callable[[re.Match[bytes]], int]) -> FileFacts:
        """Return the facts of the template: let `read` execute what begins at each match of `opening`.

        It returns where the template goes on, and sets `tag_end` before it raises Unreadable; -1 if there is no end.
        """
        at = 0
        while (found := opening.search(self.source, at)) is not None:
            self.places.text(self.source[at : found.start()])
            try:
                at = self.tag_end = read(found)
            except Unreadable:
                at = self.tag_end
                self.facts.unparsed(found.start(), at)
            if at < 0:
                self.facts.unparsed(found.start(), len(self.source))
                break
        return self.finish()

    def finish(self) -> FileFacts:
        """End what the template leaves open; return its facts."""
        while self.constructs:
            self.end_innermost()
        self.body.finish()
        self._state_directives()
        return self.facts.finish()

    def _open(self, construct: Open) -> None:
        self.constructs.append(construct)
        self._n_open[construct.kind] += 1

    def _drop(self) -> Open:
        found = self.constructs.pop()
        self._n_open[found.kind] -= 1
        return found

    def end_innermost(self) -> str:
        """End the innermost construct; return its kind."""
        if self.constructs[-1].otherwise is not None:
            self.turn()
        found = self._drop()
        if found.outer is not None:
            self.body.finish()
            self.body = found.outer
        elif found.head is not None:
            self.body.goto(found.head)
            self.body.leave()
            self.body.seal(found.head)
        if found.scoped:
            for name in self.scopes.pop():
                self._meanings[name].pop()
        self.body.goto(found.after)
        self.body.start(found.after)
        return found.kind


def written(target: Target) -> str:
    """Return a target as text."""
    return target if isinstance(target, str) else f"({', '.join(map(written, target))})"
