"""Source bytes to text: encodings, line ends, and where a byte of the parsed text stands for a reader."""

import codecs
import re

import numpy as np

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class SourceText:
    """A file's text as UTF-8, the form the parsers read, and its lines.

    A byte order mark is dropped; an encoding is declared in a comment of the first two lines (PEP 263) or is UTF-8, and
    what cannot be decoded so is read as Latin-1, which always succeeds. Lone carriage returns end lines as in editors;
    null bytes become spaces, and their lines are `null_lines`.
    """

    def __init__(self, data: bytes) -> None:
        text = _utf8(data)
        if b"\r" in text:
            text = re.sub(rb"\r(?!\n)", b"\n", text)
        self.null_lines: list[int] = []
        if b"\0" in text:
            self.null_lines = [number for number, line in enumerate(text.split(b"\n"), 1) if b"\0" in line]
            text = text.replace(b"\0", b" ")
        self.utf8 = text
        self._before, self._n_bytes = 0, len(text)
        octets = np.frombuffer(text, np.uint8)
        self._starts = np.concatenate(([0], np.flatnonzero(octets == 10) + 1))
        # Characters before each byte; only needed where a character takes several bytes.
        self._characters = None if text.isascii() else np.concatenate(([0], np.cumsum((octets & 0xC0) != 0x80)))

    def put_before(self, before: bytes, utf8: bytes) -> None:
        """Read `utf8` instead: `before`, which stands nowhere, a text as long as this one, and more behind."""
        self._before = len(before)
        self.utf8 = utf8

    @property
    def n_lines(self) -> int:
        """Lines of the text; what follows the last line end counts if it is not empty."""
        return len(self._starts) - int(self._starts[-1] == self._n_bytes)

    def positions(self, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the 1-based lines and columns of byte offsets; columns count Unicode code points."""
        offsets = np.clip(offsets - self._before, 0, self._n_bytes)
        lines = np.searchsorted(self._starts, offsets, side="right")
        starts = self._starts[lines - 1]
        if self._characters is None:
            return lines, offsets - starts + 1
        return lines, self._characters[offsets] - self._characters[starts] + 1

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of a byte offset."""
        return int(np.searchsorted(self._starts, max(offset - self._before, 0), side="right"))


def _utf8(data: bytes) -> bytes:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _recode(data[len(mark) :], encoding)
    encoding = _declared(data)
    if encoding == "utf-8" and data.isascii():
        return data
    return _recode(data, encoding)


def _declared(data: bytes) -> str:
    """Return the encoding that a comment in the first two lines names."""
    for line in data.split(b"\n", 2)[:2]:
        if match := _COOKIE.match(line):
            return match[1].decode("ascii", "replace")
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"


def _recode(data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode("utf-8")
    except (LookupError, UnicodeError):
        return data.decode("latin-1").encode("utf-8")
