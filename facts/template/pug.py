"""Templates of Pug: one line a tag, code or text, nested by indentation.

`p= escaped`, `p!= raw`, `#{escaped}`, `!{raw}`, `a(href=value title!=value)`, `each x in xs`, `if x`.
Expressions are those that JavaScript shares with other languages. Source: https://pugjs.org/language.
"""

import re

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.expressions import Expressions, Grammar
from facts.template.page import ESCAPED, RAW, Page, Span, Unreadable
from facts.template.page_places import ADDRESS, QUOTED, SCRIPT, TEXT

_LINE = re.compile(rb"([ \t]*)([^\n]*)\n?")
_WORD = re.compile(
    rb"(if|else\s+if|else|unless|each|for|while|case|when|include|extends|mixin)\b[ \t]*"
    rb"|-[ \t]*|\+|//|!=|=|\||<|(?:block|append|prepend|default|doctype)\b"
)
_TAG = re.compile(rb"[\w:-]*(?:[.#][\w-]+)*")
_INTERPOLATED = re.compile(rb"([#!])\{((?:[^{}]|\{[^{}]*\})*)\}")
_ATTRIBUTE = re.compile(rb"[\s,]*(?:([\w:@.-]+|\"[^\"]*\"|'[^']*')\s*(!?=)?[ \t]*)")
_BOUND = re.compile(rb"(?:(?:var|let|const)\s+)?([A-Za-z_$][\w$]*)\s*=(?!=)")
_EACH = re.compile(rb"(\w+)(?:\s*,\s*(\w+))?\s+(?:in|of)\s+")
_TOKEN = re.compile(rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|[()\[\]{},\n]", re.DOTALL)
_VALUE_TOKEN = re.compile(
    rb"(?<=[^\s+?:&|=<>!,*/%-])(?P<gap>[ \t]+)(?=[\w:@-]+\s*!?=(?!=))|" + _TOKEN.pattern, re.DOTALL
)
MAX_TAGS = 50
"""So many tags may stand in one line, each in the one before."""
_ADDRESSES = frozenset({b"href", b"src", b"action", b"formaction"})
_GRAMMAR = Grammar(frozenset({"in"}), bar_is_filter=False)


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return Pug(SourceText(data), "pug").extract()


class Pug(Page):
    """A template. `_indents` are those of the open constructs, `_text` that of a block of text, with its place."""

    def __init__(self, text: SourceText, language: str) -> None:
        super().__init__(text, language)
        self.how = [ESCAPED]
        self._indents: list[int] = []
        self._text: tuple[int, str] | None = None
        self._inner = 0

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        at = 0
        while at < len(self.source):
            line = _LINE.match(self.source, at)
            assert line is not None
            self.tag_end = line.end()
            if line[2].strip():
                self._inner = 0
                try:
                    self._line(len(line[1]), Span(line.start(2), line.end(2)))
                except Unreadable:
                    self.facts.unparsed(line.start(), self.tag_end)
            at = self.tag_end
        return self.finish()

    def _line(self, indent: int, span: Span) -> None:
        if self._text is not None and indent > self._text[0]:
            return self._interpolate(span, self._text[1])
        self._text = None
        word = _WORD.match(self.source, span.start_byte, span.end_byte)
        is_else = word is not None and word[0].startswith((b"else", b"when"))
        while self._indents and (indent < self._indents[-1] or (indent == self._indents[-1] and not is_else)):
            self._indents.pop()
            self.end_innermost()
        if word is None:
            self._tag(indent, span)
        else:
            self._word(b" ".join(word[0].split()).decode(), indent, Span(word.end(), span.end_byte), span)

    def _word(self, word: str, indent: int, rest: Span, line: Span) -> None:
        if word == "//":
            self._text = (indent, "")
        elif word == "-":
            self._code(indent, rest)
        elif word in ("=", "!="):
            self.prints(self.value(rest), line, RAW if word == "!=" else ESCAPED)
        elif word in ("|", "<"):
            self._interpolate(line, TEXT)
        elif word in ("if", "unless", "while", "case"):
            self.begin_if("block", self.value(rest))
            self._indents.append(indent)
        elif word in ("else if", "else", "when"):
            self.begin_else_if(lambda: self.value(rest)) if word == "else if" else self.turn()
        elif word in ("each", "for"):
            self._each(indent, rest)
        elif word in ("include", "extends"):
            name = self.body.load_constant("string", self.text(rest).strip())
            self.include(name, [], line)
        elif word == "mixin":
            expressions = self.parse(rest)
            name, parameters = expressions.word(), []
            while expressions.take("(", ",") and expressions.kind() == "name":
                parameters.append(expressions.word())
            self.begin_macro("block", name, parameters, line)
            self._indents.append(indent)
        elif word == "+":
            self.value(Span(rest.start_byte, self._end_of_call(rest)))

    def parse(self, span: Span) -> Expressions:
        return Expressions(self, span, _GRAMMAR)

    def value(self, span: Span) -> int:
        """Evaluate the expression that the span holds. Raises Unreadable."""
        comment = self.source.find(b" //", *span)
        return self.parse(span if comment < 0 else Span(span.start_byte, comment)).whole()

    def _code(self, indent: int, span: Span) -> None:
        """`- var x = value`, `- code`"""
        if not self.text(span).strip():
            self._text = (indent, "")
            return
        bound = _BOUND.match(self.source, span.start_byte, span.end_byte)
        if bound is not None:
            self.bind(bound[1].decode(), self.value(Span(bound.end(), span.end_byte)), span)

    def _each(self, indent: int, span: Span) -> None:
        """`each x, i in xs`"""
        names = _EACH.match(self.source, span.start_byte, span.end_byte)
        if names is None:
            raise Unreadable
        iterable = self.value(Span(names.end(), span.end_byte))
        bound = [name.decode() for name in (names[2], names[1]) if name is not None]
        self.begin_for("block", iterable, bound, span, keyed=True)
        self._indents.append(indent)

    def _tag(self, indent: int, span: Span) -> None:
        """`a.b(href=x)= value`, `script.`, `p text #{x}`, `li: a(href=x) text`"""
        at, name = span.start_byte, b""
        found = _TAG.match(self.source, at, span.end_byte)
        if found is not None:
            name, at = found[0], found.end()
        if self.source[at : at + 1] == b"(":
            at = self._attributes(at + 1)
        line_end = self.source.find(b"\n", at)
        line_end = len(self.source) if line_end < 0 else line_end
        self.tag_end = min(line_end + 1, len(self.source))
        rest = Span(at, line_end)
        place = SCRIPT if name.split(b".")[0].split(b"#")[0] in (b"script", b"style") else TEXT
        sign = self.source[at : at + 2]
        if sign.startswith(b"&"):
            self._attributes_of(rest)
        elif sign == b"!=" or sign.startswith(b"="):
            how, width = (RAW, 2) if sign == b"!=" else (ESCAPED, 1)
            self.prints(self.value(Span(at + width, line_end)), rest, how, place)
        elif self.source[at:line_end].strip() == b"." or (place == SCRIPT and name.endswith(b".")):
            self._text = (indent, place)
        elif sign.startswith(b":") and name:
            inner = at + 1 + (len(self.source[at + 1 : line_end]) - len(self.source[at + 1 : line_end].lstrip()))
            if inner < line_end:
                self._inner += 1
                if self._inner > MAX_TAGS:
                    raise Unreadable
                self._line(indent, Span(inner, line_end))
        else:
            self._interpolate(rest, place)

    def _attributes_of(self, span: Span) -> None:
        """`&attributes(values)`"""
        begin = self.source.find(b"(", *span)
        if begin >= 0:
            self.prints(self.value(Span(begin, self._end_of_call(Span(begin, span.end_byte)))), span, ESCAPED)

    def _attributes(self, at: int) -> int:
        """Print what stands in the parentheses of a tag; return where they end."""
        while self.source[at : at + 1] != b")":
            found = _ATTRIBUTE.match(self.source, at)
            if found is None:
                raise Unreadable
            at = found.end()
            if found[2] is not None:
                end = self._end_of_value(at)
                self._attribute(found[1].strip(b"\"'").lower(), found[2], Span(at, end))
                at = end
            while self.source[at : at + 1] in (b" ", b",", b"\n", b"\t", b"\r"):
                at += 1
        return at + 1

    def _attribute(self, name: bytes, sign: bytes, span: Span) -> None:
        try:
            value = self.value(span)
        except Unreadable:
            return self.facts.unparsed(*span)
        place = SCRIPT if name.startswith(b"on") else ADDRESS if name in _ADDRESSES else QUOTED
        if place == ADDRESS and self.source[span.start_byte : span.start_byte + 1] in (b'"', b"'", b"`"):
            place = QUOTED
        self.prints(value, span, RAW if sign == b"!=" else ESCAPED, place)

    def _end_of_value(self, at: int) -> int:
        """Return where an attribute's value ends: at a comma, a line's end, a bracket that closes the list, or a space
        before another attribute.
        """
        depth = 0
        for token in _VALUE_TOKEN.finditer(self.source, at):
            if token[0] in (b"(", b"[", b"{"):
                depth += 1
            elif token[0] in (b")", b"]", b"}") and depth:
                depth -= 1
            elif not depth and (token[0] in (b")", b",", b"\n") or token["gap"]):
                return token.start()
        raise Unreadable

    def _end_of_call(self, span: Span) -> int:
        """Return where the first parentheses of the span are closed; the end of the name if there are none."""
        depth = 0
        for token in _TOKEN.finditer(self.source, span.start_byte, span.end_byte):
            depth += {b"(": 1, b")": -1}.get(token[0], 0)
            if not depth and token[0] == b")":
                return token.end()
        return span.end_byte

    def _interpolate(self, span: Span, place: str) -> None:
        """Print `#{x}` and `!{x}` in a text."""
        for found in _INTERPOLATED.finditer(self.source, span.start_byte, span.end_byte) if place else ():
            value = self.value(Span(*found.span(2)))
            self.prints(value, Span(*found.span()), RAW if found[1] == b"!" else ESCAPED, place)
