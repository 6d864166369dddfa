"""Templates of Velocity: `$value`, `$!{value.name}`, `#set($a = $b)`, `#foreach($x in $xs)`, `#row($x)`, `#parse("f")`.

Source: the Apache Velocity Engine's VTL Reference.
"""

import re

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.expressions import Expressions, Grammar
from facts.template.page import Page, Span, Unreadable

_OPENING = re.compile(
    rb"#\*|##|#\[\[|\\\$|\$!?(?=\{?[A-Za-z_])|#\{?(set|foreach|if|elseif|else|end|parse|include|macro)\b\}?\s*"
    rb"|#([A-Za-z][\w-]*)(?=\()"
)
_ENDS = {b"#*": re.compile(rb"\*#"), b"##": re.compile(rb"\n|\Z"), b"#[[": re.compile(rb"\]\]#")}
_NAME = re.compile(rb"[A-Za-z_][\w-]*")
_TOKENS = re.compile(rb"(?<=[(,\s=])(?:\"[^\"\n]*\"|'[^'\n]*')|[()\[\]\n]")
_GRAMMAR = Grammar(frozenset({"and", "or", "not", "eq", "ne", "gt", "lt", "ge", "le"}), bar_is_filter=False)


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return Velocity(SourceText(data), "velocity").extract()


class Velocity(Page):
    """A template. A reference's dollar sign is no part of its name."""

    _closing: dict[int, int] | None = None

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def read(self, name: str, span: Span) -> int:
        """Return the value of a name, with its sign or without, which is read at the span."""
        return super().read(name.lstrip("$"), span)

    def _read(self, mark: re.Match[bytes]) -> int:
        if mark[0] in _ENDS:
            end = _ENDS[mark[0]].search(self.source, mark.end())
            return end.end() if end else -1
        if mark[0] == b"\\$":
            return mark.end()
        if mark[2]:
            return self._call(mark[2].decode(), mark)
        if mark[1] is None:
            return self._reference(mark)
        return self._directive(mark[1].decode(), mark)

    def _reference(self, mark: re.Match[bytes]) -> int:
        """`$a.b($c)[0]`, `${a.b}`"""
        start = mark.end()
        if self.source[start : start + 1] == b"{":
            end = self.source.find(b"}", start)
            if end < 0:
                return -1
            self.tag_end = end + 1
            span = Span(start + 1, end)
        else:
            end = self.tag_end = self._end_of_reference(start)
            span = Span(start, end)
        expressions = Expressions(self, span, _GRAMMAR)
        self.prints(expressions.value(), Span(mark.start(), self.tag_end))
        return self.tag_end

    def _end_of_reference(self, at: int) -> int:
        """Return where a reference without braces ends: behind names, calls and indices."""
        name = _NAME.match(self.source, at)
        assert name is not None
        at = name.end()
        while True:
            if self.source[at : at + 1] in (b"(", b"["):
                closed = self._closed(at)
                if closed < 0:
                    return at
                at = closed
            elif self.source[at : at + 1] == b"." and (name := _NAME.match(self.source, at + 1)):
                at = name.end()
            else:
                return at

    def _closed(self, at: int) -> int:
        """Return where what a bracket opens is closed, on a line; -1 if it is not."""
        if self._closing is None:
            self._closing, opened = {}, []
            for token in _TOKENS.finditer(self.source):
                if token[0] == b"\n":
                    opened.clear()
                elif token[0] in (b"(", b"["):
                    opened.append(token.start())
                elif opened and token[0] in (b")", b"]"):
                    self._closing[opened.pop()] = token.end()
        return self._closing.get(at, -1)

    def _directive(self, name: str, mark: re.Match[bytes]) -> int:
        if name in ("else", "end"):
            self.turn() if name == "else" else self._end()
            return mark.end() if mark[0].endswith(b"}") or mark.end() == 0 else mark.start() + len(mark[0].rstrip())
        end = self._closed(mark.end()) if self.source[mark.end() : mark.end() + 1] == b"(" else -1
        if end < 0:
            return mark.end()
        self.tag_end = end
        span = Span(mark.end() + 1, end - 1)
        expressions = Expressions(self, span, _GRAMMAR)
        if name == "set":
            self._set(expressions, span)
        elif name == "foreach":
            variable = expressions.word().lstrip("$")
            expressions.want("in")
            self.begin_for("block", expressions.value(), [variable], span)
        elif name == "if":
            self.begin_if("block", expressions.value())
        elif name == "elseif":
            self.begin_else_if(expressions.value)
        elif name in ("parse", "include"):
            self.include(expressions.value(), [], span)
        elif name == "macro":
            macro, parameters = expressions.word(), []
            while expressions.kind() == "name":
                parameters.append(expressions.word().lstrip("$"))
                expressions.take(",")
            self.begin_macro("block", macro, parameters, span)
        return end

    def _call(self, macro: str, mark: re.Match[bytes]) -> int:
        """`#row($a "b")` runs a macro, or is text."""
        end = self._closed(mark.end())
        if end < 0:
            return mark.end()
        self.tag_end = end
        expressions = Expressions(self, Span(mark.end() + 1, end - 1), _GRAMMAR)
        arguments = []
        while not expressions.ended:
            arguments.append(("", expressions.value()))
            expressions.take(",")
        span = Span(mark.start(), end)
        self.call(self.read(macro, span), arguments, span)
        return end

    def _set(self, expressions: Expressions, span: Span) -> None:
        """`#set($a = $b)`; of `#set($a.b = $c)`, only the value is read."""
        name = expressions.word().lstrip("$")
        simple = expressions.peek() == "="
        while not expressions.take("="):
            if expressions.ended:
                raise Unreadable
            expressions.at += 1
        value = expressions.value()
        if simple:
            self.bind(name, value, span)

    def _end(self) -> None:
        self.end("block")
