"""Where in a page of HTML a template prints: in text, in an attribute, in a script."""

import re

TEXT, QUOTED, UNQUOTED, ADDRESS, SCRIPT = "text", "attribute", "unquoted attribute", "address", "script"
"""In text or a quoted attribute, escaping is enough. An unquoted attribute ends at a space. Whoever determines where an
address begins determines its scheme, `javascript:`, and in a script any expression is code.
"""

_ADDRESSES = frozenset({b"href", b"src", b"action", b"formaction", b"data", b"xlink:href"})
_SHOWN = frozenset({b"img", b"source", b"audio", b"video", b"track", b"input", b"link", b"image", b"use"})
"""Tags that load from an address something that runs nothing."""
_IN_TEXT = re.compile(rb"<!--|</?[a-zA-Z][\w:-]*")
_IN_TAG = re.compile(rb"(>)|=\s*([\"']?)|[^\s=>\"']+|[\"']")
_END_OF_VALUE = {b'"': re.compile(rb'"'), b"'": re.compile(rb"'"), b"": re.compile(rb"[\s>]")}
_END_OF_SCRIPT = re.compile(rb"</(?:script|style)\b", re.IGNORECASE)


class PagePlaces:
    """Reads a page from its beginning to its end: `text` takes each piece between what the template prints.

    Linear in the page: no piece is read twice.
    """

    def __init__(self) -> None:
        self._read = self._in_text
        self._tag = b""
        self._name = b""
        self._quote = b""
        self._begins = False

    @property
    def place(self) -> str:
        """Where what is printed next stands."""
        if self._read == self._in_script:
            return SCRIPT
        if self._read != self._in_value:
            return TEXT
        if self._name.startswith(b"on"):
            return SCRIPT
        if not self._quote:
            return UNQUOTED
        leads = self._begins and self._name in _ADDRESSES and self._tag not in _SHOWN
        return ADDRESS if leads else QUOTED

    def text(self, piece: bytes) -> None:
        """Go on behind a piece of the page's own text."""
        at = 0
        while at < len(piece):
            at = self._read(piece, at)

    def printed(self) -> None:
        """Go on behind something that the template prints."""
        self._begins = False

    def _in_text(self, piece: bytes, at: int) -> int:
        found = _IN_TEXT.search(piece, at)
        if found is None:
            return len(piece)
        self._tag, self._name = found[0][1:].lower(), b""
        self._read = self._in_comment if found[0] == b"<!--" else self._in_tag
        return found.end()

    def _in_comment(self, piece: bytes, at: int) -> int:
        end = piece.find(b"-->", at)
        if end < 0:
            return len(piece)
        self._read = self._in_text
        return end + 3

    def _in_tag(self, piece: bytes, at: int) -> int:
        found = _IN_TAG.search(piece, at)
        if found is None:
            return len(piece)
        if found[1]:
            self._read = self._in_script if self._tag in (b"script", b"style") else self._in_text
        elif found[2] is not None:
            self._read, self._quote, self._begins = self._in_value, found[2], True
        else:
            self._name = found[0].lower()
        return found.end()

    def _in_value(self, piece: bytes, at: int) -> int:
        found = _END_OF_VALUE[self._quote].search(piece, at)
        end = len(piece) if found is None else found.start()
        self._begins = self._begins and not piece[at:end].strip()
        if found is None:
            return len(piece)
        self._read, self._name = self._in_tag, b""
        return end + len(self._quote)

    def _in_script(self, piece: bytes, at: int) -> int:
        found = _END_OF_SCRIPT.search(piece, at)
        if found is None:
            return len(piece)
        self._read, self._tag = self._in_tag, found[0].lower()
        return found.end()
