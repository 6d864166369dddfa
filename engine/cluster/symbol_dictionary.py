"""The symbol table of a group: each member holds the texts whose hash is its own.

Ids are dense: first the constants of the program, which every member knows, then the texts of the first member, of the
second, and so on. Programs that look into texts, or make new ones, need the whole table at every member (`Symbols`);
for others a text crosses the network when facts are read and when results are written, and never in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas
import pyarrow
import pyarrow.compute

from engine.cluster.communicator import Communicator, all_gather
from engine.symbols import Symbols

TEXT = pyarrow.large_string()


class Dictionary:
    """Made by all members together from their own texts, which may repeat."""

    def __init__(self, group: Communicator, constants: Sequence[str], texts: Sequence[pyarrow.Array]) -> None:
        self.group, self.constants = group, pyarrow.array(constants, TEXT)
        known = pyarrow.chunked_array([text.cast(TEXT) for text in texts], TEXT).unique()
        known = known.filter(pyarrow.compute.invert(pyarrow.compute.is_in(known, self.constants)))
        owners = owner_of(known, group.size)
        mine = group.exchange([known.filter(pyarrow.array(owners == i)) for i in range(group.size)])
        self.owned = pyarrow.chunked_array(mine, TEXT).unique()
        counts = all_gather(group, len(self.owned))
        self.first = len(constants) + np.cumsum([0, *counts])
        found = group.exchange([pyarrow.compute.index_in(part, self.owned) for part in mine])
        ids = np.empty(len(known), np.int64)
        for member, positions in enumerate(found):
            ids[owners == member] = positions.to_numpy() + self.first[member]
        self.known = pyarrow.chunked_array([self.constants, known], TEXT).combine_chunks()
        self.ids = np.concatenate([np.arange(len(constants)), ids])

    def saved(self) -> dict[str, object]:
        """All but the group: whoever takes it up again is in another one."""
        return {name: value for name, value in vars(self).items() if name != "group"}

    @classmethod
    def restored(cls, saved: Mapping[str, object], group: Communicator) -> Dictionary:
        """Return the dictionary that was saved, for a group of as many members."""
        dictionary = cls.__new__(cls)
        dictionary.group = group
        for name in ("constants", "owned", "first", "known", "ids"):
            setattr(dictionary, name, saved[name])
        return dictionary

    def __len__(self) -> int:
        return int(self.first[-1])

    def encode(self, texts: pyarrow.Array) -> np.ndarray:
        """Return the ids of texts that this member has brought in."""
        return self.ids[pyarrow.compute.index_in(texts.cast(TEXT), self.known).to_numpy(zero_copy_only=False)]

    def decode(self, ids: np.ndarray) -> pyarrow.Array:
        """Return the texts of any ids. All members call it together."""
        distinct, places = np.unique(ids, return_inverse=True)
        owners = np.searchsorted(self.first, distinct, side="right") - 1
        asked = self.group.exchange([distinct[owners == i] for i in range(self.group.size)])
        here = self.first[self.group.rank]
        answers = self.group.exchange([self.owned.take(pyarrow.array(some - here)) for some in asked])
        constant = self.constants.take(pyarrow.array(distinct[owners < 0]))
        texts = pyarrow.chunked_array([constant, *answers], TEXT).combine_chunks()
        return texts.take(pyarrow.array(places))

    def symbols(self) -> Symbols:
        """Return the whole table. All members call it together."""
        parts = all_gather(self.group, self.owned)
        return Symbols(text for part in (self.constants, *parts) for text in part.to_pylist())


def owner_of(texts: pyarrow.Array, size: int) -> np.ndarray:
    """The members that texts belong to."""
    values = np.asarray(texts.to_pandas(), object)
    return (pandas.util.hash_array(values, categorize=False) % size).astype(np.int64)
