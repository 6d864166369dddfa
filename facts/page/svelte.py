"""Components of Svelte: scripts, and markup with expressions and blocks in braces.

Source: the documentation of Svelte 5 and 4, chapters on template syntax and `<script>`.
"""

import re

from facts.file_facts import FileFacts
from facts.page.component import View
from facts.page.markup import Attribute, Tag

_NEXT = re.compile(rb"\{|<!--|</?[a-zA-Z]")
_EACH = re.compile(rb"\s*(.*)\s+as\s+(.*?)\s*(?:,\s*([\w$]+)\s*)?(?:\([^()]*\)\s*)?", re.DOTALL)
_THEN = re.compile(rb"\s*(.*?)\s+(?:then|catch)(?:\s+(.*))?", re.DOTALL)
_PROPERTY = re.compile(rb"\bexport\s+let\s+([A-Za-z_$][\w$]*)")
_HEAD = re.compile(rb"\{\s*([#:/@]?)([a-z]*(?:\s+if\b)?)")
_COMPONENT = re.compile(rb"[A-Z][\w$]*(?:\.[\w$]+)*|[a-z][\w$]*(?:\.[\w$]+)+")
"""Tags that are names of the script, or of the markup: `<Card/>`, `<item.icon/>`."""
_BLOCK = b"{"


def extract(data: bytes) -> FileFacts:
    """Return the facts of a component."""
    view, at = View(data, braces=True), 0
    while (found := _NEXT.search(view.page, at)) is not None:
        start = found.start()
        if found[0] == b"{":
            end = view.markup.after_brace(start)
            _braces(view, start, end)
        elif found[0] == b"<!--":
            end = view.markup.after_comment(start)
        else:
            tag = view.markup.tag(start)
            end = tag.after
            if tag.name == b"script" and not tag.closes:
                _script(view, tag)
                at = end
                continue
            _element(view, tag)
        view.shown(start, end)
        at = end
    return view.facts(lambda name: False)


def _script(view: View, tag: Tag) -> None:
    """Add a script; what it exports by `let` is what whoever uses the component gives it. `$name` reads a store."""
    view.script(tag)
    for found in _PROPERTY.finditer(view.page, tag.end, tag.after):
        view.words(found[1] + b" = given$;\n", found.start(1))
    for found in re.finditer(rb"\$[A-Za-z_][\w$]*", view.page[tag.end : tag.after]):
        view.shown(tag.end + found.start(), tag.end + found.end())


def _braces(view: View, start: int, end: int) -> None:
    """Do what stands in braces: an expression, or the begin, middle or end of a block."""
    head = _HEAD.match(view.page, start, end)
    assert head is not None
    sign, word = head[1], head[2].split(b" ")[0]
    inside = (head.end(2), max(end - 1, head.end(2)))
    if sign == b"#":
        view.begins(_BLOCK, _begin(view, word, inside))
    elif sign == b":":
        _go_on(view, word, inside, start)
    elif sign == b"/":
        view.ends(_BLOCK, start)
    elif sign == b"@":
        if word == b"html":
            view.shows_as(b"innerHTML", inside)
        elif word == b"const":
            view.code(b"const ", inside, b";\n")
        elif word != b"debug":
            view.shows(inside)
    else:
        view.shows((start + 1, max(end - 1, start + 1)))


def _begin(view: View, word: bytes, inside: tuple[int, int]) -> bytes:
    """Begin a block; return what ends it."""
    if word == b"each" and (found := _EACH.fullmatch(view.page, *inside)):
        closers = view.loop(found.span(2), found.span(1))
        return (view.given(found.span(3)) if found[3] else b"") + closers
    if word == b"await" and (found := _THEN.fullmatch(view.page, *inside)):
        view.shows(found.span(1))
        return view.given(found.span(2)) if found[2] else b""
    if word == b"snippet":
        return b"}\n" if view.code(b"function ", inside, b"{\n") else b""
    view.shows(inside)
    view.words(b"{", inside[1])
    return b"}\n"


def _go_on(view: View, word: bytes, inside: tuple[int, int], start: int) -> None:
    """`{:else}`, `{:else if c}`, `{:then value}`: end one branch of the innermost block, and begin another."""
    if not any(name == _BLOCK for name, _ in view.open_tags[-200:]):
        return
    view.ends(_BLOCK, start)
    closers = b""
    if word in (b"then", b"catch") and view.page[slice(*inside)].strip():
        closers = view.given(inside)
    elif word == b"else":
        view.shows(inside)
    view.begins(_BLOCK, closers)


def _element(view: View, tag: Tag) -> None:
    """Evaluate the attributes of an element, in the scope of what it binds."""
    if tag.closes:
        return view.ends(tag.name, tag.start)
    if _COMPONENT.fullmatch(tag.name):
        view.shows((tag.start + 1, tag.start + 1 + len(tag.name)))
    closers = b""
    for attribute in tag.attributes:
        if attribute.name.startswith(b"let:"):
            name = (attribute.start - len(attribute.name) + 4, attribute.start)
            closers = view.given(name if attribute.start == attribute.end else _inside(view, attribute)) + closers
        else:
            _attribute(view, tag, attribute)
    if tag.is_whole:
        view.words(closers, tag.end)
    else:
        view.begins(tag.name, closers)


def _attribute(view: View, tag: Tag, attribute: Attribute) -> None:
    name, start, end = attribute
    if name.startswith(b"bind:"):
        if start == end:
            return view.binds((start - len(name) + 5, start))
        view.binds(_inside(view, attribute))
    elif name == b"{":
        first = start + 1
        if view.page[first:end].lstrip().startswith(b"..."):
            first = view.page.index(b"...", first) + 3
        if not view.page[first:end].lstrip().startswith((b"@", b"#", b"/")):
            view.shows((first, max(end - 1, first)))
    elif view.page[start : start + 1] == b"{" and view.markup.after_brace(start) == end:
        view.attribute(tag, name, _inside(view, attribute))
    else:
        at = start
        while (at := view.page.find(b"{", at, end)) >= 0:
            stop = min(view.markup.after_brace(at), end)
            view.shows((at + 1, max(stop - 1, at + 1)))
            at = stop


def _inside(view: View, attribute: Attribute) -> tuple[int, int]:
    """Return what stands in the braces of a value."""
    start, end = attribute.start, attribute.end
    return (start + 1, end - 1) if view.page[start : start + 1] == b"{" and end - start >= 2 else (start, end)
