"""Tags, their attributes and what stands between them, in any text: linear in it, and nothing is an error."""

import re
from collections.abc import Iterator
from typing import NamedTuple

RAW_TEXT = frozenset({b"script", b"style"})
"""Elements whose content is text up to their end tag."""
VOID = frozenset(
    {b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"source", b"track", b"wbr"}
)
_TAG = re.compile(rb"<!--|<(/?)([a-zA-Z][^\s/>]*)")
_NAME = re.compile(rb"[\s/]*([^\s=>/][^\s=>/]*|=[^\s=>/]*)?")
_EQUALS = re.compile(rb"\s*=\s*")
_BARE_VALUE = re.compile(rb"[^\s>]*")
_END = {name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE) for name in RAW_TEXT}


class Attribute(NamedTuple):
    """An attribute: its name, and where its value stands, without quotes; an empty one behind the name without one."""

    name: bytes
    start: int
    end: int


class Tag(NamedTuple):
    """A tag from `start` to `end`. `closes`: it is an end tag; `is_whole`: its element has no content.

    The content of a script or style goes from `end` to `content_end`; -1 if it has no end.
    """

    name: bytes
    start: int
    end: int
    attributes: tuple[Attribute, ...] = ()
    closes: bool = False
    is_whole: bool = False
    content_end: int = -1

    def attribute(self, name: bytes) -> Attribute | None:
        """Return the first attribute of this name, None if there is none."""
        return next((each for each in self.attributes if each.name.lower() == name), None)


def tags(page: bytes, start: int, end: int, braces: bool = False) -> Iterator[Tag]:
    """Yield the tags of a part of a page, but for those in comments, scripts and styles.

    With `braces`, values of attributes, and attributes, may be expressions in braces.
    """
    at, has_end = start, dict.fromkeys(RAW_TEXT, True)
    while (found := _TAG.search(page, at, end)) is not None:
        if found[2] is None:
            at = page.find(b"-->", found.end(), end)
            if at < 0:
                return
            at += 3
            continue
        name = found[2].lower() if found[2].lower() in RAW_TEXT else found[2]
        attributes, at, is_whole = _attributes(page, found.end(), end, braces)
        content_end = -1
        if name in RAW_TEXT and not found[1] and not is_whole and has_end[name]:
            closing = _END[name].search(page, at, end)
            has_end[name] = closing is not None
            content_end = -1 if closing is None else closing.start()
        whole = is_whole or name.lower() in VOID
        yield Tag(name, found.start(), at, tuple(attributes), bool(found[1]), whole, content_end)
        at = max(at, content_end)


def _attributes(page: bytes, at: int, end: int, braces: bool) -> tuple[list[Attribute], int, bool]:
    """Return the attributes from a place in a tag on, where the tag ends, and whether it ends in a slash."""
    result: list[Attribute] = []
    while True:
        found = _NAME.match(page, at, end)
        assert found is not None
        if found[1] is None:
            return result, min(found.end() + 1, end), page[found.end() - 1 : found.end()] == b"/"
        name, at = found[1], found.end()
        if braces and name.startswith(b"{"):
            at = closing_brace(page, found.start(1), end)
            result.append(Attribute(b"{", found.start(1), at))
            continue
        equals = _EQUALS.match(page, at, end)
        if equals is None:
            result.append(Attribute(name, at, at))
            continue
        at = equals.end()
        quote = page[at : at + 1]
        if quote in (b'"', b"'") and quote:
            stop = page.find(quote, at + 1, end)
            if stop < 0:
                return result, end, False
            result.append(Attribute(name, at + 1, stop))
            at = stop + 1
        elif braces and quote == b"{":
            stop = closing_brace(page, at, end)
            result.append(Attribute(name, at, stop))
            at = stop
        else:
            value = _BARE_VALUE.match(page, at, end)
            assert value is not None
            result.append(Attribute(name, *value.span()))
            at = value.end()


_IN_BRACES = re.compile(rb"[{}]|\\.|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`", re.DOTALL)


def closing_brace(page: bytes, at: int, end: int) -> int:
    """Return the place behind the brace that closes the one at a place; the next line's, or `end`, if there is none."""
    depth = 0
    for found in _IN_BRACES.finditer(page, at, end):
        depth += (found[0] == b"{") - (found[0] == b"}")
        if depth == 0:
            return found.end()
    return end
