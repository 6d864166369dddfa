"""What engines of templates put into a script: taken out, without moving anything.

A name, `____`, stands for what is printed: nothing binds it, and it may be part of another name. A string that holds
it becomes a template literal, `a${____}`, as its value is unknown. What an engine does besides is blanked out.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple


class Form(NamedTuple):
    """What stands between two signs is for the engine; it is printed, but for what the pattern matches."""

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
"""What an engine takes by lines or words, and tags of libraries."""
_OTHERWISE = {
    "jinja": re.compile(rb"\{%-?\s*el(?:se|if)\b[^\n]{0,200}?\{%-?\s*endif\s*-?%\}"),
    "go": re.compile(rb"\{\{-?\s*else\b[^\n]{0,200}?\{\{-?\s*end\s*-?\}\}"),
    "handlebars": re.compile(rb"\{\{~?\s*else\b[^\n]{0,200}?\{\{~?/(?:if|unless)\s*~?\}\}"),
    "freemarker": re.compile(rb"<#else(?:if)?\b[^\n]{0,200}?</#if>"),
}
"""The other choices of what stands in one line: `a = {% if b %}1{% else %}2{% endif %}` is one expression."""
_STRING = re.compile(
    rb"\\.|//[^\n]*|`(?:[^`\\]|\\.)*+`|(\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')(\s*:)?", re.DOTALL
)
_THYMELEAF_ONLY = re.compile(rb"\[[\[(][$#@*~]\{")


def without_engine(script: bytes, syntax: str) -> bytes:
    """Return a script of the same length without what the engine of this syntax puts in."""
    for words in (_LINES.get(syntax), _OTHERWISE.get(syntax)):
        if words is not None:
            script = words.sub(lambda found: _blank(found[0]), script)
    result, printed = bytearray(script), []
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
        _open_strings(result, printed)
    return bytes(result)


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
