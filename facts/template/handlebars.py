"""Templates of Handlebars and Mustache: `{{escaped}}`, `{{{raw}}}`, `{{#section}}…{{/section}}`, `{{> partial}}`.

A name stands for a property of the value at hand: of what the template is given, or of the element in a section; of a
Mustache section, or of what stands around. Source: https://handlebarsjs.com/guide, mustache(5).
"""

import re

from facts.file_facts import FileFacts
from facts.instructions import load_attribute, operation
from facts.source_text import SourceText
from facts.template.expressions import unquoted
from facts.template.page import ESCAPED, RAW, Page, Span, Unreadable

_OPENING = re.compile(rb"\{\{\{|\{\{!--|\{\{")
_ENDS = {b"{{{": re.compile(rb"\}\}\}"), b"{{!--": re.compile(rb"--~?\}\}"), b"{{": re.compile(rb"\}\}")}
_WORD = re.compile(
    rb"""\s+|(?P<keyword>[\w-]+)=|(?P<string>"[^"]*"|'[^']*')|(?P<number>-?\d+(?:\.\d+)?)(?![\w.])|(?P<open>\()
    |(?P<close>\))|as\s*\|(?P<names>[^|]*)\||(?P<path>(?:\.\./)*(?:[\w$@-]+|\[[^\]]*\]|\.)(?:[./](?:[\w$@-]+|\[[^\]]*\]))*|\.\.)""",
    re.VERBOSE,
)
_PART = re.compile(r"[^./\[\]]+")
_CONSTANTS = {"true": "boolean", "false": "boolean", "null": "none", "undefined": "none"}
MAX_DEPTH = 50


def extract(data: bytes) -> FileFacts:
    """Return the facts of a template."""
    return Handlebars(SourceText(data), "handlebars").extract()


class Handlebars(Page):
    """A template; `contexts` are the values at hand, innermost last. A Mustache section has several."""

    def __init__(self, text: SourceText, language: str) -> None:
        super().__init__(text, language)
        self.how = [ESCAPED]
        self.contexts: list[tuple[int, ...]] = []
        self._sections: list[str] = []

    def extract(self) -> FileFacts:
        """Return the facts of the template."""
        return self.read_tags(_OPENING, self._read)

    def _read(self, mark: re.Match[bytes]) -> int:
        end = _ENDS[mark[0]].search(self.source, mark.end())
        if end is None:
            return -1
        self.tag_end = end.end()
        start, sign = mark.end(), self.source[mark.end() : mark.end() + 2].lstrip(b"~")[:1]
        if mark[0] == b"{{!--" or sign == b"!":
            return end.end()
        if sign in (b"#", b"/", b"^", b">", b"&", b"="):
            start = self.source.index(sign, start) + 1
        words = Words(self, Span(start, end.start()))
        if mark[0] == b"{{{" or sign == b"&":
            self.prints(words.command(), Span(mark.start(), end.end()), RAW)
        elif sign in (b"#", b"^", b"/", b">"):
            {b"#": self._begin, b"^": self._invert, b"/": self._end, b">": self._partial}[sign](words)
        elif words.texts[:1] == ["else"]:
            self.turn()
        elif sign != b"=" and words.texts:
            self.prints(words.command(), Span(mark.start(), end.end()))
        return end.end()

    def _begin(self, words: "Words") -> None:
        """`{{#if x}}`, `{{#each xs as |x i|}}`, `{{#with x}}`, `{{#section}}`"""
        name = words.texts[0] if words.texts else ""
        self._sections.append(name)
        if name in ("if", "unless"):
            words.at = 1
            self.begin_if("section", words.operand())
            return self.contexts.append(self.contexts[-1] if self.contexts else ())
        if name == "with":
            words.at = 1
            value = words.operand()
            self.begin_scope("section")
            for alias in words.names()[:1]:
                self.bind(alias, value, words.span)
            return self.contexts.append((value,))
        if name == "each" or len(words.texts) == 1:
            words.at = int(name == "each")
            value, names = words.operand(), words.names()[:1] or ["this"]
            self.begin_for("section", value, names, words.span)
            item = self.read(names[0], words.span)
            return self.contexts.append((item,) if name == "each" else (item, value))
        words.command()
        self.begin_scope("section")
        self.contexts.append(self.contexts[-1] if self.contexts else ())

    def _invert(self, words: "Words") -> None:
        """`{{^section}}`, `{{^}}`"""
        if not words.texts:
            self.turn()
            return
        self._sections.append(words.texts[0])
        self.begin_scope("section")
        self.contexts.append(self.contexts[-1] if self.contexts else ())

    def _end(self, words: "Words") -> None:
        if self._sections:
            self._sections.pop()
            self.contexts.pop()
            self.end("section")

    def _partial(self, words: "Words") -> None:
        """`{{> name context key=value}}`"""
        if not words.texts:
            raise Unreadable
        template = self.body.load_constant("string", words.texts[0].strip("\"'"))
        words.at = 1
        self.include(template, words.arguments(), words.span)

    def named(self, path: str, span: Span) -> int:
        """Return what a path stands for: `a.b`, `this.a`, `../a`, `@index`."""
        outer, parts = path.count("../"), _PART.findall(path.replace("../", ""))
        contexts = self.contexts[-1 - outer] if outer < len(self.contexts) else ()
        if parts and parts[0] in ("this", "@root"):
            contexts, parts = (() if parts[0] == "@root" else contexts), parts[1:]
        elif parts and (self._meanings.get(parts[0]) or not contexts):
            return self._along(self.read(parts[0], span), parts[1:], span)
        if not contexts:
            return self._along(self.body.load_once("this", "this", "load_name", 0, "this"), parts, span)
        values = [self._along(value, parts, span) for value in contexts]
        if len(values) > 1 and parts:
            values.append(
                self._along(self.body.load_once(parts[0], parts[0], "load_name", 0, parts[0]), parts[1:], span)
            )
        return values[0] if len(values) == 1 else operation(self, "or", values, span)

    def _along(self, value: int, parts: list[str], span: Span) -> int:
        for part in parts:
            value = load_attribute(self, value, part, span)
        return value


class Words:
    """The words of a tag: paths, literals, `key=value`, commands in parentheses. `at` is the next one."""

    def __init__(self, page: Handlebars, span: Span) -> None:
        self.page, self.span, self.at, self.depth = page, span, 0, 0
        self._words: list[re.Match[bytes]] = []
        at = span.start_byte
        while at < span.end_byte and self._next(at):
            at = self._end

    def _next(self, at: int) -> bool:
        if self.page.source[at : at + 1] == b"~":
            self._end = at + 1
            return True
        word = _WORD.match(self.page.source, at, self.span.end_byte)
        if word is None:
            raise Unreadable
        if word.lastgroup:
            self._words.append(word)
        self._end = word.end()
        return True

    @property
    def texts(self) -> list[str]:
        return [word[0].decode(errors="replace") for word in self._words]

    def names(self) -> list[str]:
        """Return the names of block parameters: `as |item index|`."""
        return next((word["names"].decode().split() for word in self._words if word["names"] is not None), [])

    def command(self) -> int:
        """Evaluate a path, or a helper with its arguments."""
        if self.at >= len(self._words):
            raise Unreadable
        if len(self._words) == self.at + 1 or self._words[self.at + 1]["close"]:
            return self.operand()
        name = self._words[self.at][0].decode(errors="replace")
        self.at += 1
        return self.page.filtered(name, self.arguments(), self.span)

    def arguments(self) -> list[tuple[str, int]]:
        """Evaluate what follows: a keyword, or the empty string, and a value."""
        found = []
        while self.at < len(self._words) and not self._words[self.at]["close"]:
            word = self._words[self.at]
            if word["names"] is not None:
                self.at += 1
            elif word["keyword"]:
                self.at += 1
                found.append((word["keyword"].decode(), self.operand()))
            else:
                found.append(("", self.operand()))
        return found

    def operand(self) -> int:
        """Evaluate one word, or a command in parentheses."""
        if self.at >= len(self._words):
            raise Unreadable
        word = self._words[self.at]
        self.at += 1
        text, kind = word[0].decode(errors="replace"), word.lastgroup
        if kind == "open":
            return self._nested()
        if kind == "string":
            return self.page.body.load_constant("string", unquoted(text))
        if kind == "number":
            return self.page.body.load_constant("float" if "." in text else "integer", text)
        if kind != "path":
            raise Unreadable
        if text in _CONSTANTS:
            return self.page.body.load_constant(_CONSTANTS[text], text)
        return self.page.named(text, Span(*word.span()))

    def _nested(self) -> int:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        value = self.command()
        self.depth -= 1
        if self.at < len(self._words) and self._words[self.at]["close"]:
            self.at += 1
        return value
