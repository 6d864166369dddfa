"""Templates of FreeMarker: `${value?html}`, `<#list xs as x>`, `[#if x]`, `<@macro a=b/>`.

Source: the FreeMarker Manual, Template Language Reference.
"""

import re

from facts.file_facts import FileFacts
from facts.instructions import load_attribute
from facts.source_text import SourceText
from facts.template.expressions import VALUE_END, Expressions, Grammar, unquoted
from facts.template.page import ESCAPED, RAW, Page, Span, Unreadable

_OPENING = re.compile(rb"\$\{|<#--|[<\[](/?)([#@])")
_STRING = rb"\\['\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_TAG_END = {
    b"<": re.compile(rb"(?>" + _STRING + rb"|\([^()]*\)|[^>])*?(/?>)", re.DOTALL),
    b"[": re.compile(rb"(?>" + _STRING + rb"|\([^()]*\)|\[[^\[\]]*\]|[^\]])*?(/?\])", re.DOTALL),
}
_DIRECTIVES = frozenset(
    b"if elseif else list assign global local include import macro function".split()
    + b"escape noescape autoesc noautoesc ftl".split()
)
_NAME = re.compile(rb"[\w.]+")
_ESCAPES = frozenset({"html", "xhtml", "xml", "esc", "js_string", "json_string", "url"})
_WORDS = frozenset({"gt", "lt", "gte", "lte", "and", "or"})


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return FreeMarker(SourceText(data), "freemarker").extract()


def _postfix(expressions: Expressions, value: int, start: int) -> int | None:
    """`x?builtin`, `x?builtin(a)`, `x!default`, `x??`; behind `x!` the name of the next argument is no default"""
    if expressions.take("??"):
        return expressions.page.filtered("exists", [("", value)], expressions.since(start))
    if expressions.peek() == "?" and expressions.kind(1) == "name":
        expressions.at += 1
        name = expressions.word()
        arguments = expressions.arguments() if expressions.peek() == "(" else []
        applied = [*expressions.applied, name]
        result = expressions.page.filtered(name, [("", value), *arguments], expressions.since(start))
        expressions.applied = applied
        return result
    if expressions.take("!"):
        is_next = expressions.peek() == "as" or (expressions.kind() == "name" and expressions.peek(1) == "=")
        if not is_next and (expressions.kind() in ("string", "number", "name") or expressions.peek() in ("(", "[")):
            other = expressions.value(9)
            return expressions.page.filtered("default", [("", value), ("", other)], expressions.since(start))
        return value
    return None


_GRAMMAR = Grammar(_WORDS, _postfix, bar_is_filter=False)


class FreeMarker(Page):
    """A template; of what follows `<#escape x as x?html>`, everything is escaped."""

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        if mark[0] == b"<#--":
            end = self.source.find(b"-->", mark.end())
            return end + 3 if end >= 0 else -1
        if mark[0] == b"${":
            found = VALUE_END.match(self.source, mark.end())
            if found is None:
                return -1
            self.tag_end = found.end()
            if self.source.startswith(b".", mark.end()):
                return found.end()  # A special variable: `.now`.
            expressions = self.parse(Span(mark.end(), found.start(1)))
            value = expressions.value()
            self.prints(value, Span(mark.start(), found.end()), self._how(expressions.applied))
            return found.end()
        return self._tag(mark)

    def _how(self, applied: list[str]) -> str:
        if "no_esc" in applied:
            return RAW
        return ESCAPED if not _ESCAPES.isdisjoint(applied) else self.how[-1]

    def parse(self, span: Span) -> Expressions:
        return Expressions(self, span, _GRAMMAR)

    def _tag(self, mark: re.Match[bytes]) -> int:
        name = _NAME.match(self.source, mark.end())
        if name is None or (mark[2] == b"#" and name[0] not in _DIRECTIVES):
            return mark.end()
        end = _TAG_END[mark[0][:1]].match(self.source, mark.end())
        if end is None:
            return -1
        self.tag_end = end.end()
        word = name[0].decode()
        span = Span(name.end(), end.start(1))
        if mark[2] == b"@":
            if not mark[1]:
                self._call(word, span)
        elif mark[1]:
            self._end(word)
        else:
            self._begin(word, span)
        return end.end()

    def _call(self, name: str, span: Span) -> None:
        """`<@name a=b c=d/>`"""
        expressions = self.parse(span)
        arguments = []
        while not expressions.ended and expressions.peek() not in (";",):
            arguments.append(expressions.argument())
            expressions.take(",")
        first, *parts = name.split(".")
        callee = self.read(first, span)
        for part in parts:
            callee = load_attribute(self, callee, part, span)
        self.call(callee, arguments, span)

    def _begin(self, name: str, span: Span) -> None:
        expressions = self.parse(span)
        if name == "if":
            self.begin_if("if", expressions.value())
        elif name == "elseif":
            self.begin_else_if(expressions.value)
        elif name == "else":
            self.turn()
        elif name == "list":
            iterable = expressions.value()
            expressions.want("as")
            names = [expressions.word()]
            while expressions.take(","):
                names.append(expressions.word())
            self.begin_for("list", iterable, names, span, keyed=True)
        elif name in ("assign", "global", "local"):
            while expressions.kind() == "name" and expressions.peek(1) == "=":
                keyword, value = expressions.argument()
                self.bind(keyword, value, span)
                expressions.take(",")
        elif name == "include":
            self.include(expressions.value(), [], span)
        elif name == "import":
            self._import(expressions, span)
        elif name in ("macro", "function"):
            self._macro(expressions, span)
        elif name in ("escape", "autoesc"):
            self.how.append(ESCAPED)
        elif name in ("noescape", "noautoesc"):
            self.how.append(RAW)
        elif name == "ftl" and ("HTML" in self.text(span) or "XML" in self.text(span)):
            self.how[0] = ESCAPED

    def _import(self, expressions: Expressions, span: Span) -> None:
        if expressions.kind() != "string":
            raise Unreadable
        name = unquoted(expressions.peek())
        expressions.at += 1
        expressions.want("as")
        alias = expressions.word()
        value = self.body.running(self.entity(alias, span))
        self.emit("import_module", value, 0, 0, name)
        self.bind_value(alias, value, "import")

    def _macro(self, expressions: Expressions, span: Span) -> None:
        name, parameters = expressions.word(), []
        expressions.take("(")
        while expressions.kind() == "name":
            parameters.append(expressions.word())
            if expressions.take("="):
                expressions.value()
            expressions.take(",")
        self.begin_macro("macro", name, parameters, span)

    def _end(self, name: str) -> None:
        if name in ("escape", "autoesc", "noescape", "noautoesc"):
            if len(self.how) > 1:
                self.how.pop()
        else:
            self.end({"function": "macro"}.get(name, name))
