"""Takes what template engines put into a script out of it, without moving anything.

A name, `____`, stands for what is printed: nothing binds it, and it may be part of another name. A string that holds
it becomes a template literal, `a${____}`, as its value is unknown. A choice of two expressions in a line is a
conditional expression. What an engine does besides is blanked out.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple


class Form(NamedTuple):
    """The engine takes the code between two signs, and prints its value, but for code that the pattern matches."""

    opening: bytes
    closing: bytes
    silent: re.Pattern[bytes] | None = None


_ALL = re.compile(rb"")
_OF_JSP = (Form(b"<%--", b"--%>", _ALL), Form(b"<%", b"%>", re.compile(rb"(?![=-])")))
_DOLLAR = Form(b"${", b"}")
_FORMS: dict[str, tuple[Form, ...]] = {
    "jinja": (Form(b"{{", b"}}"), Form(b"{%", b"%}", _ALL), Form(b"{#", b"#}", _ALL)),
    "go": (
        Form(b"{{[", b"]}}"),
        Form(
            b"{{",
            b"}}",
            re.compile(rb"-?\s*(?:if|else|end|range|with|define|block|template|break|continue|/\*)\b|-?\s*/"),
        ),
    ),
    "handlebars": (Form(b"{{{", b"}}}"), Form(b"{{", b"}}", re.compile(rb"~?(?:[#/^!>*]|else\b)"))),
    "freemarker": (
        _DOLLAR,
        Form(b"<#--", b"-->", _ALL),
        Form(b"<#", b">", _ALL),
        Form(b"</#", b">", _ALL),
        Form(b"<@", b">", _ALL),
        Form(b"</@", b">", _ALL),
    ),
    "velocity": (Form(b"${", b"}"), Form(b"$!{", b"}"), Form(b"#*", b"*#", _ALL)),
    "mako": (_DOLLAR, Form(b"<%", b"%>", _ALL), Form(b"</%", b">", _ALL)),
    "thymeleaf": (Form(b"[[", b"]]"), Form(b"[(", b")]"), Form(b"[#", b"]", _ALL), Form(b"[/", b"]", _ALL)),
    "jsp": (*_OF_JSP, _DOLLAR),
    "ejs": _OF_JSP,
}
_IN_PARENTHESES = rb"\s*\((?:[^()\n]|\([^()\n]*\))*\)"
_OF_TAGS = rb"(?:\"[^\"\n]*\"|'[^'\n]*'|[^>\"'\n])*>"
_LINES = {
    "mako": re.compile(rb"(?m)^[ \t]*(?:%|##).*$"),
    "velocity": re.compile(
        rb"(?m)^[ \t]*##.*$|#(?:set|if|elseif|foreach|parse|include)" + _IN_PARENTHESES + rb"|#(?:else|end)\b"
    ),
    "jsp": re.compile(rb"</?(?:jsp|c|fmt|fn|s|spring|form|sec|bean|logic|html|tiles):[\w.-]+" + _OF_TAGS),
}
"""Code of an engine in lines or words of its own, and tags of libraries."""


def _choice(opening: bytes, rest: bytes, other: bytes, end: bytes) -> re.Pattern[bytes]:
    """Return the pattern of a choice of two in a line that holds no other one, and no end of a statement."""
    part = rb"((?:(?!" + opening + rb")[^\n;]){1,200}?)"
    return re.compile(rb"(" + opening + rest + rb")" + part + rb"(" + other + rb")" + part + rb"(" + end + rb")")


_CHOICES = {
    "jinja": _choice(rb"\{%-?\s*if\b", rb"[^\n%]{1,200}%\}", rb"\{%-?\s*else\s*-?%\}", rb"\{%-?\s*endif\s*-?%\}"),
    "go": _choice(rb"\{\{-?\s*if\b", rb"[^\n}]{1,200}\}\}", rb"\{\{-?\s*else\s*-?\}\}", rb"\{\{-?\s*end\s*-?\}\}"),
    "handlebars": _choice(rb"\{\{~?#if\b", rb"[^\n}]{1,200}\}\}", rb"\{\{~?\s*else\s*~?\}\}", rb"\{\{~?/if\s*~?\}\}"),
    "freemarker": _choice(rb"<#if\b", rb"[^\n>]{1,200}>", rb"<#else>", rb"</#if>"),
}
"""`a = {% if b %}1{% else %}2{% endif %}`"""
_STRING = re.compile(
    rb"\\.|//[^\n]*|`(?:[^`\\]|\\.)*+`|(\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')(\s*:)?", re.DOTALL
)
_THYMELEAF_ONLY = re.compile(rb"\[[\[(][$#@*~]\{")


def without_engine(script: bytes, syntax: str) -> bytes:
    """Return a script of the same length without what the engine of this syntax puts in."""
    lines, choices = _LINES.get(syntax), _CHOICES.get(syntax)
    if lines is not None:
        script = lines.sub(lambda found: _blank(found[0]), script)
    printed = []
    if choices is not None:
        printed = [(found.start() + 1, found.end(1) - 1) for found in choices.finditer(script)]
        script = choices.sub(_conditional, script)
    result = bytearray(script)
    for start, end, prints in _places(script, _FORMS.get(syntax, ())):
        if (
            syntax == "thymeleaf"
            and script[start + 1 : start + 2] in b"[("
            and not _THYMELEAF_ONLY.match(script, start)
        ):
            continue
        result[start:end] = b"_" * (end - start) if prints else _blank(script[start:end])
        printed += [(start, end)] if prints else []
    if printed:
        _open_strings(result, sorted(printed))
    return bytes(result)


def _conditional(choice: re.Match[bytes]) -> bytes:
    """Return a conditional expression of the same length: of a condition that is unknown, as what is printed is."""
    begin, first, other, second, end = choice.groups()
    return b"(" + b"_" * (len(begin) - 2) + b"?" + first + b":".ljust(len(other)) + second + b")".ljust(len(end))


def _open_strings(code: bytearray, printed: list[tuple[int, int]]) -> None:
    """Let strings in which something is printed be template literals; a name, where one may stand before a colon."""
    waiting = deque(printed)
    for found in _STRING.finditer(bytes(code)):
        start, end = found.span(1) if found[1] is not None else (found.end(), found.end())
        while waiting and waiting[0][0] < start:
            waiting.popleft()
        inside = []
        while waiting and waiting[0][1] < end:
            inside.append(waiting.popleft())
        if not inside:
            continue
        if found[2] is not None or b"`" in found[1] or b"${" in found[1]:
            code[start:end] = b"_" * (end - start)
            continue
        code[start] = code[end - 1] = ord("`")
        for first, last in inside:
            code[first:last] = b"${" + b"_" * (last - first - 3) + b"}"


def _places(script: bytes, forms: tuple[Form, ...]) -> Iterator[tuple[int, int, bool]]:
    """Yield where the engine's code starts and ends, and whether it prints. A sign without its other one is text."""
    if not forms:
        return
    openings = re.compile(b"|".join(re.escape(form.opening) for form in forms))
    by_opening = {form.opening: form for form in forms}
    unclosed: set[bytes] = set()
    at = 0
    while (found := openings.search(script, at)) is not None:
        form, at = by_opening[found[0]], found.end()
        end = -1 if form.closing in unclosed else script.find(form.closing, at)
        if end < 0:
            unclosed.add(form.closing)
            continue
        printed = form.silent is None or form.silent.match(script, at) is None
        at = end + len(form.closing)
        yield found.start(), at, printed


def _blank(text: bytes) -> bytes:
    return re.sub(rb"\S", b" ", text)
