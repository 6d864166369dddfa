"""Expressions of template languages whose operators are those of C, Python or SQL, with filters behind a bar.

`a.b[0]|first(x)|join:", "`, `x if y else z`, `x ? y : z`, `f(a, name=b)`, `[a, b]`, `{"k": v}`: what Jinja, Django,
Nunjucks, Swig, EL and FreeMarker have in common. A parser by operator precedence (Pratt), which states facts as it
goes; linear in the text. Of an expression that is none of these, its names are read: it may be any of their values.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from facts.instructions import allocate, load_attribute, load_index, operation
from facts.template.page import Page, Span, Unreadable

MAX_DEPTH = 100
VALUE_END = re.compile(rb"(?>\\['\"]|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|\{[^{}]*\}|[^}])*(\})", re.DOTALL)
"""Matches what follows `${`, up to the brace that ends it: not one in a string or in braces of its own."""
_TOKEN = re.compile(
    rb"""(?P<space>(?:\s|\\\r?\n)+)
    |(?P<name>[A-Za-z_$@\x80-\xff][\w$@\x80-\xff]*)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<template>`[^`]*`)
    |(?P<sign>\|\||&&|===|!==|==|!=|<=|>=|<>|\*\*|//|\?\?|\?:|\?\.|\.\.|->|=>|[-+*/%~<>=!?:.,|(){}\[\]&;])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_BINARY = {
    "?:": 2, "??": 2, "or": 2, "||": 2, "and": 3, "&&": 3, "in": 5, "is": 5, "==": 5, "!=": 5, "===": 5, "!==": 5,
    "<": 5, ">": 5, "<=": 5, ">=": 5, "<>": 5, "eq": 5, "ne": 5, "lt": 5, "gt": 5, "le": 5, "ge": 5, "gte": 5, "lte": 5,
    "matches": 5, "..": 6, "~": 7, "+": 7, "-": 7, "*": 8, "/": 8, "//": 8, "%": 8, "div": 8, "mod": 8, "**": 9,
}  # fmt: skip
_NAMES = {"&&": "and", "||": "or", "??": "or", "?:": "or", "===": "==", "!==": "!=", "eq": "==", "ne": "!=", "<>": "!="}
_NAMES |= {
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "lte": "<=",
    "gte": ">=",
    "is": "==",
    "matches": "==",
    "~": "+",
}
_INSERTED = re.compile(rb"\$\{([^{}]*)\}")
_PREFIX = {"not": 4, "!": 9, "-": 9, "+": 9, "empty": 4, "*": 1, "**": 1}
_CONSTANTS = {
    "true": ("boolean", "true"), "True": ("boolean", "true"), "false": ("boolean", "false"),
    "False": ("boolean", "false"), "none": ("none", "None"), "None": ("none", "None"), "null": ("none", "None"),
    "undefined": ("none", "None"), "nil": ("none", "None"),
}  # fmt: skip

_WORDS = frozenset({*_CONSTANTS, "if", "else", "and", "or", "not", "in", "is", "for", "lambda", "new", "typeof"})


@dataclass(frozen=True)
class Grammar:
    """The parts of expressions that one language has and others have not.

    `words` are operators that are written as words. `postfix` reads what stands behind a value and is special; it
    returns the new value, or None if nothing stands there. `plus` is the operator that `+` is: "add" adds numbers only.
    """

    words: frozenset[str] = frozenset({"or", "and", "in", "is", "if"})
    postfix: Callable[["Expressions", int, int], int | None] | None = None
    bar_is_filter: bool = True
    plus: str = "+"


@dataclass
class Expressions:
    """A parser of the expressions in one span, from its beginning on. `applied` are the filters of the last value."""

    page: Page
    span: Span
    grammar: Grammar = field(default_factory=Grammar)

    def __post_init__(self) -> None:
        self.tokens = list(tokens(self.page.source, self.span))
        self.at = 0
        self.depth = 0
        self.applied: list[str] = []

    # ---- Tokens

    def peek(self, ahead: int = 0) -> str:
        """Return the text of the token that follows, "" at the end. A string stands with its quotes."""
        index = self.at + ahead
        return self.tokens[index][1] if index < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        """Return the kind of the token that follows, "" at the end."""
        index = self.at + ahead
        return self.tokens[index][0] if index < len(self.tokens) else ""

    def take(self, *texts: str) -> bool:
        """Go on behind the token if it is one of these."""
        if self.at < len(self.tokens) and self.tokens[self.at][1] in texts and self.kind() != "string":
            self.at += 1
            return True
        return False

    def want(self, text: str) -> None:
        """Go on behind this token. Raises Unreadable if another one stands there."""
        if not self.take(text):
            raise Unreadable

    def word(self) -> str:
        """Return the name that stands here, and go on behind it. Raises Unreadable if there is none."""
        if self.kind() != "name":
            raise Unreadable
        self.at += 1
        return self.tokens[self.at - 1][1]

    def here(self) -> int:
        """Return where the next token begins."""
        return self.tokens[self.at][2] if self.at < len(self.tokens) else self.span.end_byte

    def since(self, start: int) -> Span:
        """Return the span from a place up to the last token."""
        return Span(start, max(start, self.tokens[self.at - 1][3]) if self.at else self.span.end_byte)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.tokens)

    # ---- Values

    def whole(self) -> int:
        """Evaluate all that the span holds. Raises Unreadable if that has no names and is no expression."""
        value = self.value()
        self.take(";")
        if self.ended:
            return value
        self.at = 0
        return self._any_of_names()

    def value(self, level: int = 0) -> int:
        """Evaluate an expression of operators that bind at least as tightly as this.

        Of one that is written otherwise, and is no part of another, all to the end is taken for some of the values that
        it names. Raises Unreadable if it names none.
        """
        if self.depth:
            return self._operators(level)
        start = self.at
        try:
            return self._operators(level)
        except Unreadable:
            self.at, self.depth = start, 0
            return self._any_of_names()

    def _any_of_names(self) -> int:
        """Return one of the values that are named up to the end: `a.b` is one, strings are none."""
        start, values, self.applied = self.here(), [], []
        while not self.ended:
            if self.take("|"):
                self.applied += [self.word()] if self.kind() == "name" else []
            elif self.kind() != "name" or self.peek() in _WORDS:
                self.at += 1
            else:
                values.append(self._path())
        if not values:
            raise Unreadable
        return self._either(values, start)

    def _path(self) -> int:
        """`a.b.c`"""
        start, name = self.here(), self.word()
        value = self.page.read(name, self.since(start))
        while self.peek() in (".", "?.") and self.kind(1) == "name":
            self.at += 1
            value = load_attribute(self.page, value, self.word(), self.since(start))
        return value

    def _operators(self, level: int) -> int:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable
        start = self.here()
        value = self._prefixed(start)
        while (found := self._following(value, level, start)) is not None:
            value = found
        self.depth -= 1
        return value

    def _following(self, value: int, level: int, start: int) -> int | None:
        """Return the value with an operator that follows, None if none does."""
        text = self.peek() if self.kind() in ("sign", "name") else ""
        if text == "not" and self.peek(1) == "in":
            self.at += 1
            text = "in"
        if self.kind() == "name" and text not in self.grammar.words:
            return None
        binds = _BINARY.get(text)
        if binds is not None and binds >= level:
            self.at += 1
            if text == "is":
                return self._test(value, start)
            return self._binary(text, value, self.value(binds + 1), start)
        if level <= 1 and text == "?":
            self.at += 1
            then = self.value(1)
            self.want(":")
            return self._either([then, self.value(1)], start)
        if level <= 1 and text == "if":
            self.at += 1
            self.value(2)
            return self._either([value, self.value(1)] if self.take("else") else [value], start)
        return None

    def _binary(self, text: str, left: int, right: int, start: int) -> int:
        name = self.grammar.plus if text == "+" else _NAMES.get(text, text)
        return operation(self.page, name, [left, right], self.since(start))

    def _either(self, values: list[int], start: int) -> int:
        """Return one of several values."""
        return values[0] if len(values) == 1 else operation(self.page, "or", values, self.since(start))

    def _test(self, value: int, start: int) -> int:
        """`x is defined`, `x is divisibleby 3`"""
        self.take("not")
        self.word()
        if self.peek() == "(":
            self.arguments()
        elif self.kind() in ("number", "string"):
            self.at += 1
        return operation(self.page, "not", [value], self.since(start))

    def _prefixed(self, start: int) -> int:
        text = self.peek()
        if text in _PREFIX and self.kind() != "string" and not (self.kind() == "name" and self._stands_alone()):
            self.at += 1
            operator = "not" if text in ("not", "!", "empty") else text
            value = self.value(_PREFIX[text])
            return value if text in "**" else operation(self.page, operator, [value], self.since(start))
        return self._with_suffixes(self._atom(), start)

    def _stands_alone(self) -> bool:
        """Return True if no operand follows the word that stands here."""
        return self.kind(1) in ("", "sign") and self.peek(1) not in ("(", "[", "!", "-")

    def _atom(self) -> int:
        kind, text, start, end = self.tokens[self.at] if not self.ended else ("", "", 0, 0)
        self.at += 1
        if kind == "name":
            if text == "$" and self.peek() in ("!", "{"):
                return self._formal()
            if text in _CONSTANTS:
                return self.page.body.load_constant(*_CONSTANTS[text])
            return self.page.read(text, Span(start, end))
        if kind == "number":
            return self.page.body.load_constant("float" if "." in text else "integer", text)
        if kind == "string":
            return self.page.body.load_constant("string", unquoted(text))
        if kind == "template":
            return self._interpolated(start, end)
        if text == "(":
            return self._group(start)
        if text in "[{" and text:
            return self._container(text, start)
        raise Unreadable

    def _formal(self) -> int:
        """`${x}`, `$!{x}`, `$!x` in an expression of Velocity: what stands in the braces."""
        self.take("!")
        if not self.take("{"):
            return self._atom()
        value = self.value()
        self.want("}")
        return value

    def _interpolated(self, start: int, end: int) -> int:
        """`` `text ${x}` ``: a text with what stands in its braces."""
        inserted = (Span(*found.span(1)) for found in _INSERTED.finditer(self.page.source, start, end))
        values = [Expressions(self.page, span, self.grammar).value() for span in inserted]
        if not values:
            return self.page.body.load_constant("string", self.page.text(Span(start + 1, end - 1)))
        text = self.page.body.load_constant("string", "")
        return operation(self.page, "+", [text, *values], self.since(start))

    def _group(self, start: int) -> int:
        if self.take(")"):
            return self.display([], start)
        values = [self.value()]
        while self.take(","):
            if self.peek() != ")":
                values.append(self.value())
        self.want(")")
        return values[0] if len(values) == 1 else self.display(values, start)

    def display(self, values: list[int], start: int) -> int:
        """Return a new list of values."""
        container = self.page.entity("list", self.since(start))
        for position, value in enumerate(values):
            self.page.emit("position_item", container, position, value)
        return allocate(self.page, container, "list")

    def _container(self, bracket: str, start: int) -> int:
        if bracket == "[":
            values = []
            while not self.take("]"):
                values.append(self.value())
                if not self.take(","):
                    self.want("]")
                    break
            return self.display(values, start)
        pairs = []
        while not self.take("}"):
            pairs.append(self._pair())
            if not self.take(","):
                self.want("}")
                break
        return self.mapping(pairs, start)

    def mapping(self, pairs: list[tuple[int, int]], start: int) -> int:
        """Return a new mapping of keys to values."""
        container = self.page.entity("dict", self.since(start))
        for key, value in pairs:
            self.page.emit("item", container, key, value)
        return allocate(self.page, container, "dict")

    def _pair(self) -> tuple[int, int]:
        if self.kind() == "name" and self.peek(1) in (":", ",", "}"):
            start, name = self.here(), self.word()
            key = self.page.body.load_constant("string", name)
            return key, self.value() if self.take(":") else self.page.read(name, self.since(start))
        key = self.value()
        self.want(":")
        return key, self.value()

    # ---- What follows a value: attributes, elements, calls, filters

    def _with_suffixes(self, value: int, start: int) -> int:
        self.applied = []
        while (found := self._suffix(value, start)) is not None:
            value = found
        return value

    def _suffix(self, value: int, start: int) -> int | None:
        page = self.page
        if self.grammar.postfix is not None and (found := self.grammar.postfix(self, value, start)) is not None:
            return found
        if self.take(".", "?."):
            if self.kind() == "number":
                index = page.body.load_constant("integer", self.peek())
                self.at += 1
                return load_index(page, value, index, self.since(start))
            return load_attribute(page, value, self.word(), self.since(start))
        if self.take("["):
            return self._element(value, start)
        if self.peek() == "(" and self.kind() == "sign":
            return page.call(value, self.arguments(), self.since(start))
        if self.grammar.bar_is_filter and self.take("|"):
            return self._filter(value, start)
        return None

    def _element(self, value: int, start: int) -> int:
        """`x[i]`; a slice `x[a:b]` is an element, too."""
        index = self.page.body.load_constant("integer", "0") if self.peek() == ":" else self.value(2)
        while self.take(":"):
            if self.peek() not in (":", "]"):
                self.value(2)
        self.want("]")
        return load_index(self.page, value, index, self.since(start))

    def arguments(self) -> list[tuple[str, int]]:
        """Evaluate arguments in parentheses: a keyword, or the empty string, and a value."""
        self.want("(")
        found = []
        while not self.take(")"):
            found.append(self.argument())
            if not self.take(","):
                self.want(")")
                break
        return found

    def argument(self) -> tuple[str, int]:
        """Evaluate an argument, with its keyword or the empty string."""
        keyword = ""
        if self.kind() == "name" and self.peek(1) == "=":
            keyword = self.word()
            self.want("=")
        return keyword, self.value()

    def _filter(self, value: int, start: int) -> int:
        """`x|name`, `x|name(a, b)`, `x|name:a`"""
        name = self.word()
        while self.take("."):
            name += "." + self.word()
        arguments = []
        if self.peek() == "(":
            arguments = self.arguments()
        elif self.take(":"):
            arguments = [("", self._argument_of_filter())]
        applied = [*self.applied, name]
        result = self.page.filtered(name, [("", value), *arguments], self.since(start))
        self.applied = applied
        return result

    def _argument_of_filter(self) -> int:
        start = self.here()
        value = self._atom()
        while self.take("."):
            value = load_attribute(self.page, value, self.word(), self.since(start))
        return value


def tokens(source: bytes, span: Span) -> "list[tuple[str, str, int, int]]":
    """Return the tokens of a span: kind, text, beginning and end."""
    found, at = [], span.start_byte
    while at < span.end_byte:
        token = _TOKEN.match(source, at, span.end_byte)
        assert token is not None
        if token.lastgroup != "space":
            found.append((token.lastgroup or "", token[0].decode(errors="replace"), *token.span()))
        at = token.end()
    return found


def unquoted(text: str) -> str:
    """Return what a string literal stands for."""
    if "\\" not in text:
        return text[1:-1]
    try:
        return str(ast.literal_eval(text.replace("\n", "\\n")))
    except (SyntaxError, ValueError):
        return text[1:-1]
