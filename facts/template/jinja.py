"""Templates of Jinja, Django, Nunjucks, Swig and Twig: `{{ value }}`, `{% statement %}`, `{# comment #}`.

Source: Jinja's Template Designer Documentation; Django's reference on built-in template tags and filters; the
documentation of Nunjucks' templating. Tags of a program's own are passed over.
"""

import re
from collections.abc import Callable

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.expressions import Expressions, unquoted
from facts.template.page import DEFAULT, ESCAPED, RAW, Page, Span, Target, Unreadable

_MARK = re.compile(rb"\{\{[-+]?|\{%[-+]?|\{#")
_TEXT = rb"(?>\\['\"]|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|.)*?"
"""Any text, in which strings are taken whole; an apostrophe without another one in its line begins none."""
_ENDS = {
    b"{{": re.compile(_TEXT + rb"([-+]?\}\})", re.DOTALL),
    b"{%": re.compile(_TEXT + rb"([-+]?%\})", re.DOTALL),
    b"{#": re.compile(rb".*?(#\})", re.DOTALL),
}
_TAG = re.compile(rb"\s*([\w.]+)")
_SAFE = frozenset({"safe", "safeseq", "raw", "mark_safe"})
_ESCAPES = frozenset({"e", "escape", "force_escape", "forceescape"})


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template in Jinja's syntax."""
    return Jinja(SourceText(data)).extract()


class Jinja(Page):
    """A template in Jinja's syntax."""

    def __init__(self, text: SourceText, language: str = "jinja") -> None:
        super().__init__(text, language)

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_MARK, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        end = _ENDS[mark[0][:2]].match(self.source, mark.end())
        if end is None:
            return -1
        self.tag_end = end.end()
        span = Span(mark.end(), end.start(1))
        if mark[0].startswith(b"{{"):
            self._print(span, Span(mark.start(), end.end()))
        elif mark[0].startswith(b"{%"):
            return self._tag(span, end.end())
        return end.end()

    def _print(self, span: Span, place: Span) -> None:
        """`{{ value }}`"""
        expressions = Expressions(self, span)
        value = expressions.whole()
        self.prints(value, place, self._how(expressions.applied))

    def _how(self, filters: list[str]) -> str:
        """Return how a value is printed to which these filters were applied."""
        if not _SAFE.isdisjoint(filters):
            return RAW
        return ESCAPED if not _ESCAPES.isdisjoint(filters) else self.how[-1]

    # ---- Tags

    def _tag(self, span: Span, after: int) -> int:
        """Execute a tag; return where the template goes on."""
        word = _TAG.match(self.source, span.start_byte, span.end_byte)
        name = word[1].decode(errors="replace") if word else ""
        if word is not None and name in ("raw", "verbatim", "comment"):
            return self._passed_over(word[1], after)
        rest = Span(word.end() if word else span.start_byte, span.end_byte)
        handler = _TAGS.get(name)
        if handler is not None:
            handler(self, name, rest)
        return after

    def _passed_over(self, name: bytes, after: int) -> int:
        """Return where text that is not read ends."""
        end = re.compile(rb"\{%[-+]?\s*end" + re.escape(name) + rb"\b[^%]*%\}").search(self.source, after)
        return len(self.source) if end is None else end.end()

    def parse(self, span: Span) -> Expressions:
        return Expressions(self, span)


def _if(page: Jinja, tag: str, span: Span) -> None:
    expressions = page.parse(span)
    condition = expressions.value()
    while not expressions.ended and tag in ("ifequal", "ifnotequal"):
        expressions.value()
    page.begin_if("if", condition)


def _elif(page: Jinja, tag: str, span: Span) -> None:
    page.begin_else_if(page.parse(span).value)


def _else(page: Jinja, tag: str, span: Span) -> None:
    page.turn()


def _for(page: Jinja, tag: str, span: Span) -> None:
    expressions = page.parse(span)
    targets = _targets(expressions)
    expressions.want("in")
    iterable = expressions.value(2)
    page.begin_for("for", iterable, targets, span)


def _targets(expressions: Expressions) -> list[Target]:
    """Return names, and names in parentheses, `a, (b, c)`: what a loop binds."""
    found: list[Target] = []
    while True:
        if expressions.take("("):
            parts = _targets(expressions)
            found.append(parts if len(parts) > 1 else parts[0])
            expressions.want(")")
        else:
            found.append(expressions.word())
        if not expressions.take(",") or expressions.peek() in (")", "in"):
            return found


def _set(page: Jinja, tag: str, span: Span) -> None:
    """`{% set name = value %}`; without a value, what stands between the tags is text of the template."""
    expressions = page.parse(span)
    names = [expressions.word()]
    while expressions.take(",", "."):
        names.append(expressions.word())
    if expressions.take("="):
        value = expressions.value()
        for name in names:
            page.bind(name, value, span)


def _with(page: Jinja, tag: str, span: Span) -> None:
    """`{% with a=b, c=d %}`, `{% with b as a %}`"""
    expressions = page.parse(span)
    bound = []
    while not expressions.ended:
        if expressions.peek(1) == "=":
            bound.append(expressions.argument())
        else:
            value = expressions.value()
            expressions.want("as")
            bound.append((expressions.word(), value))
        expressions.take(",", "and")
    page.begin_scope("scope")
    for name, value in bound:
        page.bind(name, value, span)


def _include(page: Jinja, tag: str, span: Span) -> None:
    """`{% include "name" with a=b only %}`, `{% extends "name" %}`"""
    expressions = page.parse(span)
    template = expressions.value()
    arguments, alone = [], False
    while not expressions.ended:
        if expressions.take("only"):
            alone = True
        elif expressions.peek(1) == "=":
            arguments.append(expressions.argument())
        elif expressions.take("without"):
            alone = True
            expressions.take("context")
        elif not expressions.take("with", "context", "ignore", "missing"):
            raise Unreadable
    page.include(template, arguments, span, alone=alone)


def _import(page: Jinja, tag: str, span: Span) -> None:
    """`{% import "name" as x %}`, `{% from "name" import a, b as c %}`"""
    expressions = page.parse(span)
    if expressions.kind() != "string":
        return
    name = unquoted(expressions.peek())
    expressions.at += 1
    if tag == "import":
        expressions.want("as")
        alias = expressions.word()
        value = page.body.running(page.entity(alias, span))
        page.emit("import_module", value, 0, 0, name)
        return page.bind_value(alias, value, "import")
    expressions.want("import")
    while expressions.kind() == "name" and expressions.peek() not in ("with", "without"):
        member = expressions.word()
        alias = expressions.word() if expressions.take("as") else member
        value = page.body.running(page.entity(alias, span))
        page.emit("import_member", value, 0, 0, name, member)
        page.bind_value(alias, value, "import")
        expressions.take(",")


def _macro(page: Jinja, tag: str, span: Span) -> None:
    expressions = page.parse(span)
    name, parameters = expressions.word(), []
    expressions.want("(")
    while not expressions.take(")"):
        parameters.append(expressions.word())
        if expressions.take("="):
            expressions.value()
        if not expressions.take(","):
            expressions.want(")")
            break
    page.begin_macro("macro", name, parameters, span)


def _autoescape(page: Jinja, tag: str, span: Span) -> None:
    word = page.text(span).split() or ["on"]
    page.how.append({"on": ESCAPED, "true": ESCAPED, "off": RAW, "false": RAW}.get(word[0], DEFAULT))
    if page.how[-1] == RAW:
        page.emit("stops_escaping", page.body.instruction(page.entity("autoescape " + word[0], span)))


def _end_autoescape(page: Jinja, tag: str, span: Span) -> None:
    if len(page.how) > 1:
        page.how.pop()


def _printing(page: Jinja, tag: str, span: Span) -> None:
    """`{% trans x, a=b %}`, `{% firstof a b %}`, `{% cycle a b %}`, `{% blocktranslate with a=b %}`"""
    expressions = page.parse(span)
    while not expressions.ended and expressions.kind() != "":
        if expressions.take("as", "noop", "trimmed", "context", "asvar"):
            return
        if expressions.peek(1) == "=" or expressions.take("with", "and", "count"):
            if expressions.kind() == "name" and expressions.peek(1) == "=":
                page.bind(expressions.peek(), expressions.argument()[1], span)
            expressions.take(",")
            continue
        page.prints(expressions.value(), span, page._how(expressions.applied))
        expressions.take(",")


def _address(page: Jinja, tag: str, span: Span) -> None:
    """`{% url "name" a as x %}`: the address of a view."""
    *_, before, name = ["", "", *page.text(span).split()]
    if before == "as" and name.isidentifier():
        page.bind(name, page.filtered(tag, [], span), span)


def _end(*kinds: str) -> Callable[[Jinja, str, Span], None]:
    return lambda page, tag, span: page.end(*kinds)


_TAGS: dict[str, Callable[[Jinja, str, Span], None]] = {
    "if": _if, "ifAsync": _if, "ifequal": _if, "ifnotequal": _if, "elif": _elif, "elseif": _elif, "elsif": _elif,
    "else": _else, "empty": _else, "endif": _end("if"), "endifequal": _end("if"), "endifnotequal": _end("if"),
    "for": _for, "asyncEach": _for, "asyncAll": _for, "endfor": _end("for"), "endeach": _end("for"),
    "endall": _end("for"), "set": _set, "with": _with, "endwith": _end("scope"), "include": _include,
    "extends": _include, "import": _import, "from": _import, "macro": _macro, "endmacro": _end("macro"),
    "url": _address, "static": _address,
    "autoescape": _autoescape, "endautoescape": _end_autoescape, "trans": _printing, "translate": _printing,
    "firstof": _printing, "cycle": _printing, "blocktrans": _printing, "blocktranslate": _printing,
}  # fmt: skip
