"""A text that is put together of pieces of a file and of words that stand nowhere in it."""

import numpy as np

from facts.source_text import SourceText


class PiecedText(SourceText):
    """A file's text of which parsers read pieces, in any order: `utf8` is what they read, `page` the file's own text.

    What is read in a piece stands in the file where the piece does; words between pieces stand where they are said to.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.page = self.utf8
        self._pieces: list[bytes] = []
        self._starts_read: list[int] = []
        self._starts_in_page: list[int] = []
        self._lengths: list[int] = []
        self._n_read = 0

    def piece(self, start: int, end: int, instead: bytes | None = None) -> None:
        """Add what stands in the file from `start` to `end`, or a text of the same length."""
        self._add(self.page[start:end] if instead is None else instead, start, end - start)

    def words(self, text: bytes, at: int) -> None:
        """Add words; they stand at a place of the file, where the last piece ended or the next one begins."""
        self._add(text, at, 0)

    def _add(self, text: bytes, at: int, length: int) -> None:
        self._pieces.append(text)
        self._starts_read.append(self._n_read)
        self._starts_in_page.append(at)
        self._lengths.append(length)
        self._n_read += len(text)

    def assemble(self) -> None:
        """Let `utf8` be what was added: one piece at least, perhaps an empty one."""
        self.words(b"\n", len(self.page))
        self.utf8 = b"".join(self._pieces)
        self._read = np.array(self._starts_read, np.int64)
        self._in_file = np.array(self._starts_in_page, np.int64)
        self._length = np.array(self._lengths, np.int64)

    def positions(self, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the 1-based lines and columns in the file of offsets in `utf8`."""
        return super().positions(self._in_page(np.asarray(offsets, np.int64)))

    def line_of(self, offset: int) -> int:
        """Return the 1-based line in the file of an offset in `utf8`."""
        return super().line_of(int(self._in_page(np.array([offset], np.int64))[0]))

    def _in_page(self, offsets: np.ndarray) -> np.ndarray:
        offsets = np.maximum(offsets, 0)
        index = np.searchsorted(self._read, offsets, side="right") - 1
        return self._in_file[index] + np.minimum(offsets - self._read[index], self._length[index])
