"""Statements of MyBatis in files: what `${…}` puts into their text as it is.

A statement is a function of the name that is its id, and what it reads is what its method is called with. The fragments
that it includes are read where they are included, each once. The mapper's name is bound to `namespace`. Source: the
MyBatis 3 user guide, "Mapper XML Files" and "Dynamic SQL".
"""

import html
import re

from facts.file_facts import FileFacts
from facts.instructions import load_attribute, operation
from facts.source_text import SourceText
from facts.template.page import Page, Span

TEXT = "sql"
"""How a value is printed into the text of a statement."""
MOST_INCLUDED = 20
"""Fragments are included so many times the length of the file at most."""
MOST_PROPERTIES = 4096
"""The bytes after a tag in which the texts are looked for that it gives a fragment."""
_MARK = re.compile(rb"<!--|<(/?)([A-Za-z]\w*)((?:[^<>\"'/]|\"[^\"]*\"|'[^']*')*)(/?)>|\$\{([^{}]*)\}")
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_COMMENT_END = re.compile(rb"-->|\Z")
_FRAGMENT = re.compile(rb"<sql\b([^<>]*[^<>/])>")
_FRAGMENT_END = re.compile(rb"</sql\s*>")
_PROPERTY = re.compile(rb"<property\b([^<>]*)>")
_PATH = re.compile(r"\s*([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[\d+\])*)\s*(?:,[^(]*)?")
_NAME = re.compile(r"(?<![\w.@'\"])[A-Za-z_]\w*(?![\w(])")
_STATEMENTS = frozenset({"select", "insert", "update", "delete"})


def extract(data: bytes) -> FileFacts:
    """Return the facts of a mapper."""
    return Mapper(SourceText(data), "mybatis").extract()


class Mapper(Page):
    """A file of statements."""

    TELLS_PLACES = False

    def extract(self) -> FileFacts:
        """Return the facts of the mapper."""
        self._fragments = self._all_fragments()
        self._included: set[str] = set()
        self._left = MOST_INCLUDED * len(self.source)
        spans = [Span(0, len(self.source))]
        while spans:
            at, end = spans.pop()
            while (mark := _MARK.search(self.source, at, end)) is not None:
                at = mark.end() if mark[0] != b"<!--" else _COMMENT_END.search(self.source, mark.end()).end()
                if (fragment := self._read(mark)) is not None:
                    spans.append(Span(at, end))
                    at, end = fragment
        return self.finish()

    def _all_fragments(self) -> dict[str, Span]:
        """Return where the fragments stand, by their names."""
        found, at = {}, 0
        while (begin := _FRAGMENT.search(self.source, at)) and (end := _FRAGMENT_END.search(self.source, begin.end())):
            name = attributes(self.text(Span(*begin.span(1)))).get("id", "")
            found[name], at = Span(begin.end(), end.start()), end.end()
        return found

    def _read(self, mark: re.Match[bytes]) -> Span | None:
        """Read a tag or a part of a statement; return the fragment that is to be read there."""
        span = Span(*mark.span())
        if mark[5] is not None:
            if self.constructs:  # What stands outside of statements is read where it is included.
                self.prints(self._value(Span(*mark.span(5))), span, TEXT)
        elif mark[2] is not None and mark[1]:
            self._close(mark[2].decode())
        elif mark[2] is not None:
            given = attributes(self.text(Span(*mark.span(3))))
            if mark[2] == b"include":
                return self._fragment(given.get("refid", ""), span, is_empty=bool(mark[4]))
            self._begin(mark[2].decode(), given, span)
        return None

    def _begin(self, name: str, given: dict[str, str], span: Span) -> None:
        if name == "mapper":
            self.bind("namespace", self.body.load_constant("string", given.get("namespace", "")), span)
        elif name in _STATEMENTS and not self.constructs:
            self._included = set()
            self.begin_macro(name, given.get("id", ""), [], span)
        elif name == "bind" and self.constructs:
            self.bind(given.get("name", ""), self._names(given.get("value", ""), span), span)
        elif name == "foreach" and self.constructs:
            collection = self._names(given.get("collection", ""), span)
            names = [given[key] for key in ("index", "item") if given.get(key)] or ["item"]
            self.begin_for(name, collection, names, span, keyed=True)

    def _close(self, name: str) -> None:
        if name in _STATEMENTS or name == "foreach":
            self.end(name)

    def _fragment(self, name: str, span: Span, *, is_empty: bool) -> Span | None:
        """Return where a fragment stands, unless it is a part of the statement already.

        Names in it that the tag's own content gives texts, as `<property name="t" value="users"/>`, are bound to these.
        """
        name = name.rpartition(".")[2]
        found = self._fragments.get(name)
        if found is None or name in self._included or not self.constructs:
            return None
        self._included.add(name)
        self._left -= found.end_byte - found.start_byte
        if self._left < 0:
            self.facts.unparsed(*span)
            return None
        end = -1 if is_empty else self.source.find(b"</include", span.end_byte, span.end_byte + MOST_PROPERTIES)
        for each in _PROPERTY.finditer(self.source, span.end_byte, max(end, span.end_byte)):
            given = attributes(self.text(Span(*each.span(1))))
            value = self.body.load_constant("string", given.get("value", ""))
            self.bind(given.get("name", ""), value, Span(*each.span()))
        return found

    def _value(self, span: Span) -> int:
        """Return the value of `user.name`, or one made of all names in an expression."""
        text = self.text(span)
        path = _PATH.fullmatch(text)
        if path is None:
            return self._names(text, span)
        value = self.read(path[1], span)
        for name in re.findall(r"[A-Za-z_]\w*", path[2]):
            value = load_attribute(self, value, name, span)
        return value

    def _names(self, text: str, span: Span) -> int:
        """Return a value made of all names in an expression."""
        names = dict.fromkeys(_NAME.findall(html.unescape(text)))
        values = [self.read(name, span) for name in names]
        if len(values) > 1:
            return operation(self, "or", values, span)
        return values[0] if values else self.body.load_constant("string", text)


def attributes(text: str) -> dict[str, str]:
    """Return the attributes of a tag."""
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(text)}
