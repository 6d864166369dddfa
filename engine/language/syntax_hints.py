"""Help for syntax errors that come from habits of other languages."""

from __future__ import annotations

import re

from engine.language.diagnostics import did_you_mean
from engine.language.signatures import OVERLOADS

AGGREGATE = r"\b(count|sum|min|max|mean)"
COMPARISON = r"(!=|<=|>=|=|<|>)"

HINTS = tuple(
    (re.compile(before + r"\s*\Z"), re.compile(at), help)
    for before, at, help in (
        ("", r"<-", "a rule is written 'head :- body.'"),
        ("", r"(and|AND)\b|&|∧", "write ',' for 'and'"),
        (r"\)|\w", r"(or|OR)\b|\||∨", "write ';' for 'or'"),
        (r"\b(not|NOT)", r"", "write '!' for 'not'"),
        (r"=", r"=", "write '=' for equality"),
        (r"<", r">", "write '!=' for inequality"),
        ("", r"'", "a text stands in double quotes"),
        (AGGREGATE, r"[({]", "an aggregate is written 'count : { … }' or 'sum x : { … }'"),
        (COMPARISON + r"[^,;.(]*", COMPARISON, "compare two terms at a time, and join comparisons by ','"),
        (r"\.decl\b[^\n]*\)", r"[.;]", "a declaration ends without a mark"),
        (r"\.decl\b[^\n:]*\w", r"[,)]", "write the type behind the attribute's name, as in 'x: number'"),
        ("", r"in\b", "write 'set(x)' for membership in a relation, 'x = range(a, b)' for a range"),
        (r"\.type\b[^\n]*=", r"\{", "a record type is written '[a: T, b: U]', a branch 'Name { a: T }'"),
        (r"\A|\n", r"[?-]", "name what is asked for by '.output', or ask by 'analyze run --query'"),
    )
)
CALL = re.compile(r"([A-Za-z]\w*)\s*\Z")
NEAR = 200
"""A habit shows within so many characters before the error."""


def syntax_hint(text: str, start: int) -> str:
    """Return help for a syntax error at `start`, or ""."""
    before = text[max(0, start - NEAR) : start]
    for pattern, at, help in HINTS:
        if at.match(text, start) and pattern.search(before):
            return help
    called = CALL.search(before) if text.startswith("(", start) else None
    if called is None:
        return ""
    help = f"there is no functor '{called[1]}': write the relation as an atom of its own"
    return did_you_mean(called[1], (name for name in OVERLOADS if name[0].isalpha()), help)
