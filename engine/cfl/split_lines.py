"""Lines of words between tabs or spaces, as columns: numbers, or the ids of distinct texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.io.facts_error import FactsError

SPACE, NEWLINE, HASH, ZERO, MINUS = 32, 10, ord("#"), ord("0"), ord("-")
MOST_DIGITS = 18
FACTOR = np.uint64(0x100000001B3)


@dataclass(frozen=True)
class Words:
    """Words of a text, by where they begin in it and how long they are."""

    text: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def __getitem__(self, chosen: np.ndarray) -> Words:
        return Words(self.text, self.starts[chosen], self.lengths[chosen])

    def __len__(self) -> int:
        return len(self.starts)

    def characters(self, at: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which words have a character at a position, and these characters."""
        reach = np.flatnonzero(self.lengths > at)
        return reach, self.text[self.starts[reach] + at]

    def word(self, at: int) -> str:
        begin = int(self.starts[at])
        return self.text[begin : begin + int(self.lengths[at])].tobytes().decode("utf-8", "surrogateescape")

    def equals(self, other: Words) -> bool:
        """Return True if all words are those of another list, one by one."""
        if not np.array_equal(self.lengths, other.lengths):
            return False
        longest = int(self.lengths.max(initial=0))
        return all(np.array_equal(self.characters(at)[1], other.characters(at)[1]) for at in range(longest))

    def numbers(self) -> np.ndarray | None:
        """Return the words as integers, or None if one is no decimal number of at most 18 digits."""
        values = np.zeros(len(self), np.int64)
        signs = self.text[self.starts] == MINUS
        longest = int((self.lengths - signs).max(initial=1))
        if longest > MOST_DIGITS or (self.lengths - signs).min(initial=1) < 1:
            return None
        digits = Words(self.text, self.starts + signs, self.lengths - signs)
        for at in range(longest):
            reach, characters = digits.characters(at)
            figures = characters.astype(np.int64) - ZERO
            if len(figures) and (figures.min() < 0 or figures.max() > 9):
                return None
            values[reach] = values[reach] * 10 + figures
        return np.where(signs, -values, values)

    def distinct(self) -> tuple[list[str], np.ndarray]:
        """Return the distinct words in alphabetical order, and for each word its position among them."""
        hashes = self.lengths.astype(np.uint64)
        for at in range(int(self.lengths.max(initial=0))):
            reach, characters = self.characters(at)
            hashes[reach] = (hashes[reach] ^ characters) * FACTOR
        _, first, positions = np.unique(hashes, return_index=True, return_inverse=True)
        if not self.equals(self[first[positions]]):  # Different words of one hash: so rare that it may take time.
            every = [self.word(at) for at in range(len(self))]
            texts = sorted(set(every))
            return texts, np.array(list(map({text: at for at, text in enumerate(texts)}.get, every)), np.int64)
        texts = [self.word(at) for at in first.tolist()]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        ranks = np.empty(len(texts), np.int64)
        ranks[order] = np.arange(len(texts))
        return [texts[at] for at in order], ranks[positions]


@dataclass(frozen=True)
class Lines:
    """The lines of a text that are neither empty nor comments: their numbers, and the first of their words."""

    words: Words
    numbers: np.ndarray
    first: np.ndarray
    n_words: np.ndarray

    def column(self, at: int, chosen: np.ndarray | slice = slice(None)) -> Words:
        """Return the word at a position of each of the chosen lines."""
        return self.words[self.first[chosen] + at]


def split(data: bytes, path: Path | str) -> Lines:
    """Split a file into lines of words."""
    text = np.frombuffer(data, np.uint8)
    is_word = text > SPACE
    before, after = np.append(False, is_word[:-1]), np.append(is_word[1:], False)
    starts = np.flatnonzero(is_word & ~before)
    lengths = np.flatnonzero(is_word & ~after) - starts + 1
    ends = np.append(np.flatnonzero(text == NEWLINE), len(text))
    last = np.searchsorted(starts, ends)
    first = np.append(0, last[:-1])
    n_words = last - first
    kept = n_words > 0
    kept[kept] = text[starts[first[kept]]] != HASH
    if b"\0" in data:
        raise FactsError(path, 0, "not a text file: it contains null bytes")
    return Lines(Words(text, starts, lengths), np.flatnonzero(kept) + 1, first[kept], n_words[kept])
