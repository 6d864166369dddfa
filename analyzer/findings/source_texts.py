"""The texts of scanned files: lines for frames and messages, hashes for fingerprints."""

from __future__ import annotations

from analyzer.findings.fingerprint import line_hashes
from analyzer.report import Place
from analyzer.sources.trees import Tree
from facts.source_text import SourceText


class Texts:
    """The texts of files, read once each. An unreadable file has no lines: its findings are shown without a frame.

    Lines and hashes of `earlier` texts are taken over where the tree has the very same bytes, as frozen trees do.
    """

    def __init__(self, tree: Tree, earlier: Texts | None = None) -> None:
        self.tree, self._earlier = tree, earlier
        if earlier:
            earlier._earlier = None
        self._data: dict[str, bytes] = {}
        self._lines: dict[str, list[str]] = {}
        self._hashes: dict[str, list[str]] = {}

    def data(self, path: str) -> bytes:
        if path not in self._data:
            try:
                self._data[path] = self.tree.read(path)
            except OSError:
                self._data[path] = b""
            self._take_over(path)
        return self._data[path]

    def _take_over(self, path: str) -> None:
        earlier = self._earlier
        if earlier and earlier._data.get(path) is self._data[path]:
            for held, known in ((self._lines, earlier._lines), (self._hashes, earlier._hashes)):
                if path in known:
                    held[path] = known[path]

    def lines(self, path: str) -> list[str]:
        """Return the lines, without their ends, as the facts number them."""
        data = self.data(path)
        if path not in self._lines:
            text = SourceText(data).utf8.decode("utf-8")
            self._lines[path] = [line.removesuffix("\r") for line in text.split("\n")]
        return self._lines[path]

    def region(self, place: Place) -> str:
        """Return the text of a place on one line, without repeated spaces."""
        lines = self.lines(place.file)[place.line - 1 : place.end_line]
        if not lines:
            return ""
        end = place.end_column - 1 - (place.column - 1 if len(lines) == 1 else 0)
        lines[0] = lines[0][place.column - 1 :]
        lines[-1] = lines[-1][: max(0, end)]
        return " ".join(" ".join(lines).split())

    def line(self, path: str, number: int) -> str:
        lines = self.lines(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def line_hash(self, path: str, number: int) -> str:
        """Return GitHub's hash of a line, for the text as its uploader reads it: UTF-8 with replacement characters."""
        data = self.data(path)
        if path not in self._hashes:
            self._hashes[path] = line_hashes(data.decode("utf-8", "replace"))
        hashes = self._hashes[path]
        return hashes[min(number, len(hashes)) - 1]
