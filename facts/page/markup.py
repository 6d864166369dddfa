"""Tags, their attributes and what stands between them, in any text: linear in it, and nothing is an error."""

import re
from collections.abc import Iterator
from typing import NamedTuple

RAW_TEXT = frozenset({b"script", b"style"})
"""Elements whose content is text up to their end tag."""
_VOID = frozenset(
    {b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"source", b"track", b"wbr"}
)
_TAG = re.compile(rb"<!--|<(/?)([a-zA-Z][^\s/>]*)")
_NAME = re.compile(rb"[\s/]*([^\s>/][^\s=>/]*)?")
_EQUALS = re.compile(rb"\s*=\s*")
_BARE_VALUE = re.compile(rb"[^\s>]*")
_END = {name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE) for name in RAW_TEXT}
_ORDINARY = re.compile(
    rb"(?:[^<]++|<(?!!--|/?[a-zA-Z])|</?+(?!(?:script|style)[\s/>])[a-zA-Z][^\s/>]*+"
    rb"(?:[\s/]*+[^\s>/][^\s=>/]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\s>]*+))?+(?!\s*+=))*+[\s/]*+>)*+",
    re.IGNORECASE,
)
"""Text, and whole tags of elements whose content is no text alone."""
_IN_BRACES = re.compile(rb"[{}]|\\.|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`", re.DOTALL)


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

    @property
    def after(self) -> int:
        """Where the text goes on: behind the tag, or the text of its element."""
        return max(self.end, self.content_end)


class Markup:
    """A text with tags. With `braces`, attributes and their values may be expressions in braces."""

    def __init__(self, page: bytes, *, braces: bool = False) -> None:
        self.page = page
        self._braces = braces
        self._endless: set[bytes] = set()

    def tags(self) -> Iterator[Tag]:
        """Yield the tags, but for those in comments, scripts and styles."""
        at = 0
        while (found := _TAG.search(self.page, at)) is not None:
            if found[2] is None:
                at = self.after_comment(found.start())
                continue
            tag = self.tag(found.start())
            yield tag
            at = tag.after

    def scripts(self) -> Iterator[Tag]:
        """Yield the scripts among `tags`, without a look at the attributes of others."""
        at = self._after_ordinary(0)
        while at < len(self.page):
            if self.page.startswith(b"<!--", at):
                at = self.after_comment(at)
            else:
                tag = self.tag(at)
                if tag.name == b"script":
                    yield tag
                at = tag.after
            at = self._after_ordinary(at)

    def _after_ordinary(self, at: int) -> int:
        found = _ORDINARY.match(self.page, at)
        assert found is not None
        return found.end()

    def after_comment(self, start: int) -> int:
        """Return the place behind the comment that begins at a place."""
        end = self.page.find(b"-->", start + 4)
        return len(self.page) if end < 0 else end + 3

    def tag(self, start: int) -> Tag:
        """Return the tag that begins at a place."""
        found = _TAG.match(self.page, start)
        assert found is not None and found[2] is not None
        name = found[2].lower() if found[2].lower() in RAW_TEXT else found[2]
        attributes, end, is_whole = self._attributes(found.end())
        content_end = -1
        if name in RAW_TEXT and not found[1] and not is_whole and name not in self._endless:
            closing = _END[name].search(self.page, end)
            content_end = -1 if closing is None else closing.start()
            if closing is None:
                self._endless.add(name)
        whole = is_whole or name.lower() in _VOID
        return Tag(name, start, end, tuple(attributes), bool(found[1]), whole, content_end)

    def _attributes(self, at: int) -> tuple[list[Attribute], int, bool]:
        """Return the attributes from a place in a tag on, where the tag ends, and whether it ends in a slash."""
        result: list[Attribute] = []
        while True:
            found = _NAME.match(self.page, at)
            assert found is not None
            at = found.end()
            if found[1] is None:
                return result, min(at + 1, len(self.page)), self.page[at - 1 : at] == b"/"
            if self._braces and found[1].startswith(b"{"):
                at = self.after_brace(found.start(1))
                result.append(Attribute(b"{", found.start(1), at))
                continue
            equals = _EQUALS.match(self.page, at)
            if equals is None:
                result.append(Attribute(found[1], at, at))
                continue
            start, end, at = self._value(equals.end())
            result.append(Attribute(found[1], start, end))

    def _value(self, at: int) -> tuple[int, int, int]:
        """Return where the value of an attribute starts and ends, and where the tag goes on."""
        quote = self.page[at : at + 1]
        if quote in (b'"', b"'"):
            end = self.page.find(quote, at + 1)
            return (at + 1, end, end + 1) if end >= 0 else (at + 1, at + 1, len(self.page))
        if self._braces and quote == b"{":
            end = self.after_brace(at)
            return at, end, end
        value = _BARE_VALUE.match(self.page, at)
        assert value is not None
        return *value.span(), value.end()

    def after_brace(self, at: int) -> int:
        """Return the place behind the brace that closes the one at a place; the text's end if there is none."""
        depth = 0
        for found in _IN_BRACES.finditer(self.page, at):
            depth += (found[0] == b"{") - (found[0] == b"}")
            if depth == 0:
                return found.end()
        return len(self.page)
