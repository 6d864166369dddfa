"""Templates of Go's `text/template` and `html/template`: `{{.Name | printf "%s"}}`, `{{range .Items}}…{{end}}`.

The value at hand, the dot, is what the template is given, or the element in a loop. `html/template` escapes as the
place in the page wants it, so places are not told. Source: the documentation of `text/template`.
"""

import re
from collections.abc import Callable

from facts.file_facts import FileFacts
from facts.instructions import load_attribute
from facts.source_text import SourceText
from facts.template.expressions import unquoted
from facts.template.page import Page, Span, Unreadable

_OPENING = re.compile(rb"\{\{(?:-\s)?")
_END = re.compile(rb"(?>\\['\"]|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`|.)*?((?:\s-)?\}\})", re.DOTALL)
_COMMENT = re.compile(rb"\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_TOKEN = re.compile(
    rb"""\s+|(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*')|(?P<number>-?\d[\w.]*)
    |(?P<field>\$?\w*(?:\.\w+)+|\$\w*|\.)|(?P<word>\w+)|(?P<sign>:=|=|\||\(|\)|,)""",
    re.VERBOSE,
)
_PREDEFINED = {"true": "boolean", "false": "boolean", "nil": "none"}
MAX_DEPTH = 100


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return GoTemplate(SourceText(data), "gotemplate").extract()


class GoTemplate(Page):
    """A template; the dot is bound in loops and the like, as a variable of that name."""

    TELLS_PLACES = False

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        if comment := _COMMENT.match(self.source, mark.end()):
            return comment.end()
        if self.source[mark.end() : mark.end() + 1] in (b"<", b"%"):
            return mark.end()  # a shortcode of Hugo, in a text that is no template of its own
        end = _END.match(self.source, mark.end())
        if end is None:
            return -1
        self.tag_end = end.end()
        pipeline = Pipeline(self, Span(mark.end(), end.start(1)))
        keyword = pipeline.keyword()
        if keyword in _ACTIONS:
            pipeline.at += 1
            _ACTIONS[keyword](self, pipeline)
        elif pipeline.tokens:
            value = pipeline.declaration()
            if not pipeline.declared:
                self.prints(value, Span(mark.start(), end.end()))
        return end.end()


class Pipeline:
    """The tokens of an action. `declared` are the variables that it binds: `$x := .A`."""

    def __init__(self, page: GoTemplate, span: Span) -> None:
        self.page, self.span, self.at, self.depth = page, span, 0, 0
        self.tokens: list[tuple[str, str, Span]] = []
        self.declared: list[str] = []
        at = span.start_byte
        while at < span.end_byte:
            token = _TOKEN.match(page.source, at, span.end_byte)
            if token is None:
                raise Unreadable
            if token.lastgroup:
                self.tokens.append((token.lastgroup, token[0].decode(errors="replace"), Span(*token.span())))
            at = token.end()

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        """Return the kind and text of a token that follows."""
        index = self.at + ahead
        return self.tokens[index][:2] if index < len(self.tokens) else ("", "")

    def keyword(self) -> str:
        kind, text = self.peek()
        return text if kind == "word" else ""

    def declaration(self) -> int:
        """Evaluate the pipeline, and bind the variable that it is assigned to. Of a loop's, only the names are told."""
        names, at = [], self.at
        while self.peek()[0] == "field" and self.peek()[1].startswith("$"):
            names.append(self.peek()[1])
            self.at += 1
            if self.peek()[1] == ",":
                self.at += 1
        if names and self.peek()[1] in (":=", "="):
            self.at += 1
            self.declared = names
        else:
            self.at = at
        value = self.value()
        if len(self.declared) == 1:
            self.page.bind(names[0], value, self.span)
        return value

    def value(self) -> int:
        """Evaluate commands that are piped into each other."""
        value = self.command(None)
        while self.peek()[1] == "|" and self.peek()[0] == "sign":
            self.at += 1
            value = self.command(value)
        return value

    def command(self, last: int | None) -> int:
        """Evaluate an operand, or a function or method with arguments; `last` is piped into it."""
        kind, name = self.peek()
        values: list[tuple[str, int]] = []
        if kind == "word" and name not in _PREDEFINED:
            self.at += 1
        else:
            name, values = "", [("", self.operand())]
        while self.peek()[0] and self.peek()[1] not in ("|", ")", ","):
            values.append(("", self.operand()))
        if last is not None:
            values.append(("", last))
        if name:
            return self.page.filtered(name, values, self.span)
        return values[0][1] if len(values) == 1 else self.page.call(values[0][1], values[1:], self.span)

    def operand(self) -> int:
        kind, text = self.peek()
        if not kind:
            raise Unreadable
        span = self.tokens[self.at][2]
        self.at += 1
        if kind == "string":
            return self.page.body.load_constant("string", text[1:-1] if text[0] == "`" else unquoted(text))
        if kind == "number":
            return self.page.body.load_constant("float" if "." in text else "integer", text)
        if kind == "word":
            if text in _PREDEFINED:
                return self.page.body.load_constant(_PREDEFINED[text], text)
            return self.page.filtered(text, [], span)
        value = self._nested() if text == "(" else self._field(text, span)
        while self.peek()[0] == "field" and self.peek()[1].startswith(".") and text == "(" and len(self.peek()[1]) > 1:
            value = self._along(value, self.peek()[1], self.tokens[self.at][2])
            self.at += 1
        return value

    def _nested(self) -> int:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        value = self.value()
        self.depth -= 1
        if self.peek()[1] != ")":
            raise Unreadable
        self.at += 1
        return value

    def _field(self, text: str, span: Span) -> int:
        if text in (":=", "=", "|", ")", ","):
            raise Unreadable
        first, _, rest = text.partition(".")
        if first in ("", "$"):
            root = self.page.body.load_once(".", ".", "load_name", 0, ".")
            value = root if first else self.page.read(".", span)
        else:
            value = self.page.read(first, span)
        return self._along(value, rest, span)

    def _along(self, value: int, path: str, span: Span) -> int:
        for name in filter(None, path.split(".")):
            value = load_attribute(self.page, value, name, span)
        return value


def _if(page: GoTemplate, pipeline: Pipeline) -> None:
    page.begin_if("block", pipeline.declaration())


def _else(page: GoTemplate, pipeline: Pipeline) -> None:
    if pipeline.keyword() in ("if", "with"):
        pipeline.at += 1
        page.begin_else_if(pipeline.declaration)
    else:
        page.turn()


def _range(page: GoTemplate, pipeline: Pipeline) -> None:
    value = pipeline.declaration()
    names = pipeline.declared if len(pipeline.declared) == 2 else ["", *pipeline.declared]
    page.begin_for("block", value, [names[0] or "$", "."], pipeline.span, keyed=True)
    if len(names) > 1:
        page.bind(names[1], page.read(".", pipeline.span), pipeline.span)


def _with(page: GoTemplate, pipeline: Pipeline) -> None:
    value = pipeline.declaration()
    page.begin_scope("block")
    page.bind(".", value, pipeline.span)


def _define(page: GoTemplate, pipeline: Pipeline) -> None:
    """`{{define "name"}}`: read as if it stood in the template around, with what that is given."""
    page.begin_scope("block")


def _template(page: GoTemplate, pipeline: Pipeline) -> None:
    """`{{template "name" .A}}`"""
    template = pipeline.operand()
    arguments = [(".", pipeline.value())] if pipeline.peek()[0] else []
    page.include(template, arguments, pipeline.span, alone=bool(arguments))


def _block(page: GoTemplate, pipeline: Pipeline) -> None:
    """`{{block "name" .A}}…{{end}}`"""
    pipeline.operand()
    _with(page, pipeline)


def _end(page: GoTemplate, pipeline: Pipeline) -> None:
    page.end("block")


def _nothing(page: GoTemplate, pipeline: Pipeline) -> None:
    """`{{break}}`, `{{continue}}`: taken for going on."""


_ACTIONS: dict[str, Callable[[GoTemplate, Pipeline], None]] = {
    "if": _if, "else": _else, "range": _range, "with": _with, "define": _define, "template": _template,
    "block": _block, "end": _end, "break": _nothing, "continue": _nothing,
}  # fmt: skip
