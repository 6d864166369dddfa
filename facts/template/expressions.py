"""Expressions of template languages whose operators are those of C, Python or SQL, with filters behind a bar.

`a.b[0]|first(x)|join:", "`, `x if y else z`, `x ? y : z`, `f(a, name=b)`, `[a, b]`, `{"k": v}`: what Jinja, Django,
Nunjucks, Swig, EL and FreeMarker have in common. A parser by operator precedence (Pratt), which states facts as it
goes; linear in the text.
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
    rb"""(?P<space>\s+)
    |(?P<name>[A-Za-z_$@\x80-\xff][\w$@\x80-\xff]*)
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>\|\||&&|===|!==|==|!=|<=|>=|<>|\*\*|//|\?\?|\?:|\?\.|\.\.|->|=>|[-+*/%~<>=!?:.,|(){}\[\]&;])""",
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
_PREFIX = {"not": 4, "!": 9, "-": 9, "+": 9, "empty": 4, "*": 1, "**": 1}
_CONSTANTS = {
    "true": ("boolean", "true"), "True": ("boolean", "true"), "false": ("boolean", "false"),
    "False": ("boolean", "false"), "none": ("none", "None"), "None": ("none", "None"), "null": ("none", "None"),
    "undefined": ("none", "None"), "nil": ("none", "None"),
}  # fmt: skip


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

    def value(self, level: int = 0) -> int:
        """Evaluate an expression of operators that bind at least as tightly as this. Raises Unreadable."""
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
            if text in _CONSTANTS:
                return self.page.body.load_constant(*_CONSTANTS[text])
            return self.page.read(text, Span(start, end))
        if kind == "number":
            return self.page.body.load_constant("float" if "." in text else "integer", text)
        if kind == "string":
            return self.page.body.load_constant("string", unquoted(text))
        if text == "(":
            return self._group(start)
        if text in "[{" and text:
            return self._container(text, start)
        raise Unreadable

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
    """Return the tokens of a span: kind, text, beginning and end. Raises Unreadable for what is none."""
    found, at = [], span.start_byte
    while at < span.end_byte:
        token = _TOKEN.match(source, at, span.end_byte)
        if token is None:
            raise Unreadable
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
