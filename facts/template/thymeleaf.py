"""Templates of Thymeleaf: attributes `th:text="${value}"`, and `[[${value}]]`, `[(${value})]` in text.

A name that `th:each` or `th:with` binds is known from there to the end of the page. Source: Thymeleaf's tutorial, Using
Thymeleaf, chapters 4 to 12.
"""

import html
import re

from facts.file_facts import FileFacts
from facts.instructions import load_attribute, operation
from facts.source_text import SourceText
from facts.template.expressions import Expressions, Grammar
from facts.template.page import ESCAPED, RAW, Page, Span

_OPENING = re.compile(rb"\b(?:data-)?th[:-]([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')|\[\[(?=[^\]])|\[\((?=[^)])")
_INLINE_END = {b"[[": re.compile(rb"\]\]"), b"[(": re.compile(rb"\)\]")}
_PART = re.compile(rb"[$*]\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEMPLATE = re.compile(r"\s*(?:~\{)?\s*([\w./-]+)")
_GRAMMAR = Grammar(
    frozenset({"and", "or", "eq", "ne", "neq", "gt", "lt", "ge", "le", "div", "mod", "matches"}), bar_is_filter=False
)


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return Thymeleaf(SourceText(data), "html").extract()


class Thymeleaf(Page):
    """A template."""

    TELLS_PLACES = False

    def __init__(self, text: SourceText, language: str) -> None:
        super().__init__(text, language)
        self.how = [ESCAPED]
        self._endless: set[bytes] = set()

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        if mark[0] in _INLINE_END:
            end = _INLINE_END[mark[0]].search(self.source, mark.end()) if mark[0] not in self._endless else None
            if end is None:
                self._endless.add(mark[0])
                return mark.end()
            self.tag_end = end.end()
            span = Span(mark.start(), end.end())
            for value in self._values(Span(mark.end(), end.start())):
                self.prints(value, span, RAW if mark[0] == b"[(" else ESCAPED)
            return end.end()
        self.tag_end = mark.end()
        self._attribute(mark[1].decode(), Span(*mark.span(2 if mark[2] is not None else 3)))
        return mark.end()

    def _attribute(self, name: str, span: Span) -> None:
        if name in ("each", "with"):
            self._bind(name, span)
        elif name in ("replace", "include", "insert"):
            self._fragment(span)
        elif name == "object":
            for value in self._values(span)[:1]:
                self.bind("*", value, span)
        elif name not in ("fragment", "if", "unless", "switch", "case", "remove", "inline"):
            for value in self._values(span):
                self.prints(value, span, RAW if name == "utext" else ESCAPED)

    def _values(self, span: Span) -> list[int]:
        """Return the values of the parts `${…}` and `*{…}` of a span; the second are read from the object at hand."""
        found = []
        for part in _PART.finditer(self.source, span.start_byte, span.end_byte):
            inner = Span(*part.span(1))
            if part[0].startswith(b"*") and self._meanings.get("*"):
                found.append(self._of_object(inner))
            elif inner.end_byte > inner.start_byte:
                found.append(self._value(inner))
        return found

    def _of_object(self, span: Span) -> int:
        """Return what the path is in the object at hand."""
        value = self.read("*", span)
        for name in re.findall(r"[a-zA-Z_]\w*", self.text(span)):
            value = load_attribute(self, value, name, span)
        return value

    def _value(self, span: Span) -> int:
        source = self.source[span.start_byte : span.end_byte]
        if b"&" in source or b"@" in source or b"#" in source or b"T(" in source:
            return self._loosely(span)
        return Expressions(self, span, _GRAMMAR).value()

    def _loosely(self, span: Span) -> int:
        """Return a value made of all names in the span, where more than names and operators stands."""
        text = html.unescape(self.text(span))
        names = dict.fromkeys(re.findall(r"(?<![\w.#@'\"])[a-zA-Z_]\w*(?![\w(])", text))
        values = [self.read(name, span) for name in names]
        return operation(self, "or", values, span) if values else self.body.load_constant("string", text)

    def _bind(self, kind: str, span: Span) -> None:
        """`th:each="user, status : ${users}"`, `th:with="a=${b}"`"""
        if kind == "each":
            names = re.match(r"\s*(\w+)", self.text(span))
            for value in self._values(span)[:1] if names else ():
                item = self.body.running(self.entity("next " + self.label(value), span))
                self.emit("iterate", item, value)
                self.bind(names[1], item, span, "loop")
            return
        for found in re.finditer(rb"(\w+)\s*=\s*[^,]*", self.source[span.start_byte : span.end_byte]):
            part = Span(span.start_byte + found.start(), span.start_byte + found.end())
            for value in self._values(part)[:1]:
                self.bind(found[1].decode(), value, part)

    def _fragment(self, span: Span) -> None:
        """`th:replace="~{parts/footer :: copy}"`; `~{::copy}` is a part of this page, which is read anyway."""
        name = _TEMPLATE.match(self.text(span))
        if name is not None and name[1] != "this":
            self.include(self.body.load_constant("string", name[1]), [], span)
        self._values(span)
