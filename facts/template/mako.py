"""Templates of Mako: `${value | h}`, lines `% for x in xs:`, `<%include file="…"/>`, `<%def name="f(x)">`.

Of Python in `<% %>`, the names that it binds are read. Source: the documentation of Mako, Syntax and Filtering.
"""

import re

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.expressions import VALUE_END, Expressions
from facts.template.mako_python import bound_names
from facts.template.page import DEFAULT, ESCAPED, RAW, Page, Span

_OPENING = re.compile(
    rb"\$\{|<%doc>|<%text\b[^<>]*>|<%!?(?=\s)|<%(\w+)\b([^<>]*?)/?>|</%(\w+)>|^[ \t]*##[^\n]*"
    rb"|^[ \t]*%(?!%)[ \t]*(\w+)((?:[^\n\\]|\\\r?\n|\\)*)",
    re.MULTILINE,
)
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ESCAPES = frozenset({"h", "x", "u"})


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return Mako(SourceText(data), "mako").extract()


class Mako(Page):
    """A template."""

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        text = mark[0]
        if text == b"${":
            return self._print(mark)
        for start, end in ((b"<%doc>", b"</%doc>"), (b"<%text", b"</%text>")):
            if text.startswith(start):
                at = self.source.find(end, mark.end())
                return at + len(end) if at >= 0 else -1
        if text in (b"<%", b"<%!"):
            return self._python(mark.end())
        self.tag_end = mark.end()
        if mark[1]:
            self._tag(mark[1].decode(), mark)
        elif mark[3]:
            self.end(mark[3].decode())
        elif mark[4]:
            self._line(mark[4].decode(), Span(*mark.span(5)))
        return mark.end()

    def _python(self, start: int) -> int:
        """`<%! from a import b %>`"""
        end = self.source.find(b"%>", start)
        if end < 0:
            return -1
        for bound in bound_names(self.source, start, end):
            value = self.body.running(self.entity(bound.name, Span(bound.start, bound.end)))
            if bound.member:
                self.emit("import_member", value, 0, 0, bound.module, bound.member)
            elif bound.module:
                self.emit("import_module", value, 0, 0, bound.module)
            self.bind_value(bound.name, value, "import" if bound.module else "variable")
        return end + 2

    def _print(self, mark: re.Match[bytes]) -> int:
        end = VALUE_END.match(self.source, mark.end())
        if end is None:
            return -1
        self.tag_end = end.end()
        expressions = Expressions(self, Span(mark.end(), end.start(1)))
        value = expressions.value()
        filters = list(expressions.applied)
        while expressions.take(","):
            filters.append(expressions.word())
        how = RAW if "n" in filters else ESCAPED if not _ESCAPES.isdisjoint(filters) else self.how[-1]
        self.prints(value, Span(mark.start(), end.end()), how)
        return end.end()

    def _tag(self, name: str, mark: re.Match[bytes]) -> None:
        attributes = {found[1]: Span(*found.span(2 if found[2] is not None else 3)) for found in self._attributes(mark)}
        span = Span(*mark.span())
        if name in ("include", "inherit") and b"file" in attributes:
            file = self.text(attributes[b"file"])
            self.include(self.body.load_constant("string", file), [], span)
        elif name == "namespace" and {b"name", b"file"} <= attributes.keys():
            value = self.body.running(self.entity(self.text(attributes[b"name"]), span))
            self.emit("import_module", value, 0, 0, self.text(attributes[b"file"]))
            self.bind_value(self.text(attributes[b"name"]), value, "import")
        elif name == "def" and b"name" in attributes:
            self._macro(attributes[b"name"], mark)
        elif name == "page" and b"expression_filter" in attributes:
            self.how = [ESCAPED if "h" in self.text(attributes[b"expression_filter"]) else DEFAULT]

    def _attributes(self, mark: re.Match[bytes]) -> list[re.Match[bytes]]:
        return list(_ATTRIBUTE.finditer(self.source, mark.start(2), mark.end(2)))

    def _macro(self, signature: Span, mark: re.Match[bytes]) -> None:
        """`<%def name="f(a, b)">`"""
        expressions = Expressions(self, signature)
        name, parameters = expressions.word(), []
        expressions.take("(")
        while expressions.kind() == "name":
            parameters.append(expressions.word())
            if expressions.take("="):
                expressions.value()
            expressions.take(",")
        self.begin_macro("def", name, parameters, Span(*mark.span()))
        if mark[0].endswith(b"/>"):
            self.end("def")

    def _line(self, word: str, span: Span) -> None:
        """`% if x:`, `% for x in xs:`"""
        if word.startswith("end"):
            return self.end(word.removeprefix("end"))
        expressions = Expressions(self, span)
        if word == "if":
            self.begin_if("if", expressions.value())
        elif word == "elif":
            self.begin_else_if(expressions.value)
        elif word == "else":
            self.turn()
        elif word == "for":
            expressions.take("(")
            names = [expressions.word()]
            while expressions.take(","):
                names.append(expressions.word())
            expressions.take(")")
            expressions.want("in")
            self.begin_for("for", expressions.value(), names, span)
