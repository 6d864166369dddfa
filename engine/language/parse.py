"""Parsing: source text to a list of items, with every syntax error it holds."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from types import SimpleNamespace

from lark import Lark, Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from engine.language.build_items import Builder
from engine.language.diagnostics import Report
from engine.language.surface_syntax import Item
from engine.language.syntax import Span
from engine.language.syntax_hints import syntax_hint

MAX_SYNTAX_ERRORS = 10

# What a user calls the terminals that have no text of their own.
TERMINAL_NAMES = {
    "IDENT": "a name",
    "NUMBER": "a number",
    "UNSIGNED": "a number",
    "FLOAT": "a number",
    "ADDRESS": "a number",
    "STRING": "a string",
    "AGGREGATE": "an aggregate",
    "FUNCTOR_NAME": "a functor",
    "PREDICATE": "a constraint",
    "QUALIFIER": "a qualifier",
    "_END": "'.'",
    "$END": "the end of the source",
}
# What is expected where many terminals are, by one that only stands there.
GROUPS = (
    ("BANG", "expected a literal: an atom, a comparison, or '!' before one"),
    ("STRING", "expected a term: a variable, a constant or a functor"),
    ("PLUS", "expected an operator, a comparison, or the end of the literal"),
    ("QUALIFIER", "expected a qualifier such as 'inline', or the next declaration or clause"),
    ("_DECL", "expected a declaration, a directive or a clause"),
)
LAYOUT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
# A clause ends at a dot that no name or digit follows; a directive begins with a dot at the start of a line, and ends
# at the last line that is indented.
BOUNDARY = re.compile(r"\.(?=\s|$)|\n(?=[ \t]*\.[a-z])")
DIRECTIVE_END = re.compile(r"\n(?=\S)")

OPERATOR = re.compile(r":-|<:|<=|>=|!=|->")

_lock = threading.Lock()


@cache
def _grammar() -> tuple[Lark, Builder]:
    """Return the parser and the builder embedded in it (built once a process, in 0.1 s)."""
    builder = Builder()
    # Lark calls the method that has a rule's name with the list of the rule's children.
    names = [name for name in dir(builder) if callable(getattr(builder, name)) and not name.startswith("_")]
    callbacks = SimpleNamespace(**{name: _spread(getattr(builder, name)) for name in names})
    text = files("engine.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    starts = ["start", "question"]
    lark = Lark(text, start=starts, parser="lalr", lexer="contextual", transformer=callbacks, maybe_placeholders=True)
    return lark, builder


def _spread(method: Callable) -> Callable:
    return lambda children: method(*children)


def parse(name: str, text: str, report: Report, start: str = "start") -> list[Item]:
    """Return the items of one source in order. Syntax errors are reported, and the items around them still returned.

    After an error the item that holds it is blanked out and the text is read again, up to MAX_SYNTAX_ERRORS times.
    With the `start` "question" the text is the body of a rule, and the first error ends it.
    """
    lark, builder = _grammar()
    for _ in range(MAX_SYNTAX_ERRORS):
        attempt = Report({})
        try:
            with _lock:
                builder.source, builder.report = name, attempt
                # The builder, which Lark calls as it parses, returns the items.
                items: list[Item] = lark.parse(text, start)  # type: ignore[assignment]  # Lark says it returns a tree.
            report.merge(attempt)
            return items
        except UnexpectedInput as error:
            offset = _report_syntax_error(error, name, text, report)
            if start == "question":
                break
            text = _blank_item(text, offset)
    return []


def _report_syntax_error(error: UnexpectedInput, name: str, text: str, report: Report) -> int:
    """Report one syntax error and return the offset it stands at."""
    if isinstance(error, UnexpectedToken):
        token = error.token
        found, expected = str(token), error.accepts or error.expected
    else:
        assert isinstance(error, UnexpectedCharacters) and error.pos_in_stream is not None
        token = Token("", text[error.pos_in_stream], error.pos_in_stream, error.line, error.column)
        found, expected = str(token), error.allowed or set()
    if token.type == "$END":
        return _report_end(name, text, expected, report)
    compound = OPERATOR.match(text, token.start_pos)
    found = compound[0] if compound else found
    span = Span(name, token.line, token.column, token.line, token.column + max(1, len(found.split("\n")[0])))
    start = token.start_pos
    if text.startswith("/*", start):
        report.error("E002", "comment is not closed", span, "close it with '*/'")
        return len(text)
    if found == '"':
        report.error("E002", "string is not closed", span, "close it with '\"'")
        return start
    report.error("E001", f"unexpected '{found}'", span, syntax_hint(text, start) or _expected_help(expected))
    return start


def _report_end(name: str, text: str, expected: set[str], report: Report) -> int:
    """Report that the source ends too early: at the end of its last line with text."""
    kept = text.rstrip()
    line = kept.count("\n") + 1
    column = len(kept) - (kept.rfind("\n") + 1) + 1
    span = Span(name, line, column, line, column + 1)
    report.error("E001", "unexpected end of the source", span, _expected_help(expected))
    return len(kept)


def _expected_help(expected: set[str]) -> str:
    lark, _ = _grammar()
    texts = {terminal.name: terminal.pattern for terminal in lark.terminals}
    names = {TERMINAL_NAMES.get(t) or f"'{texts[t].value}'" for t in expected if _has_name(t, texts)}
    if not 0 < len(names) <= 6:
        return next((help for terminal, help in GROUPS if terminal in expected), "")
    return "expected " + " or ".join(sorted(names))


def _has_name(terminal: str, texts: dict) -> bool:
    return terminal in TERMINAL_NAMES or (terminal in texts and texts[terminal].type == "str")


def _blank_item(text: str, start: int) -> str:
    """Blank out the item around the offset `start`, keeping its line breaks."""
    # Dots in strings and comments end nothing.
    skeleton = LAYOUT.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)
    begin = max((match.end() for match in BOUNDARY.finditer(skeleton, 0, start)), default=0)
    closing = DIRECTIVE_END if skeleton[begin:].lstrip().startswith(".") else BOUNDARY
    end = next((match.end() for match in closing.finditer(skeleton, start)), len(text))
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]
