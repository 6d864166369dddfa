"""The symbol table: texts to dense ids and back."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import numpy as np


class Symbols:
    """An append-only table of distinct texts; the id of a text is its position. Safe to share between threads.

    `n_characters` counts those of the texts that were interned, not of those that it was made with.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Hold `texts`, which must be distinct, under the ids 0, 1, …"""
        self._texts: list[str] = list(texts)
        self._ids: dict[str, int] | None = None
        self.n_characters = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def intern(self, texts: Iterable[str]) -> np.ndarray:
        """Return the int32 ids of `texts`, adding those that are new in order of appearance."""
        with self._lock:
            ids, table = self._index(), self._texts
            found = []
            for text in texts:
                at = ids.get(text)
                if at is None:
                    at = ids[text] = len(table)
                    table.append(text)
                    self.n_characters += len(text)
                found.append(at)
        return np.array(found, np.int32)

    def _index(self) -> dict[str, int]:
        """The ids by text, built on first use: a table that is only read needs none."""
        if self._ids is None:
            self._ids = {text: at for at, text in enumerate(self._texts)}
            if len(self._ids) != len(self._texts):
                raise ValueError("the texts of a symbol table must be distinct")
        return self._ids

    def texts(self, ids: Iterable[int]) -> list[str]:
        """Return the texts of `ids`. Raises IndexError for an id that was never given out."""
        table = self._texts
        if isinstance(ids, range) and ids.step == 1 and 0 <= ids.start <= ids.stop <= len(table):
            return table[ids.start : ids.stop]
        listed = ids.tolist() if isinstance(ids, np.ndarray) else ids
        return [table[i] for i in listed]
