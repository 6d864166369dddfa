"""Snapshots: relations as they were at a version, read like a `Relation` by any number of programs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from engine.database import Columns
from engine.storage.arrangement import Arrangement, Block
from engine.storage.relation import RAGGED, Relation
from engine.storage.spine import Layers


class Snapshot:
    """A relation that does not change any more, with no delta."""

    def __init__(self, name: str, arity: int, dtype: np.dtype, n: int, bits: int) -> None:
        self.name, self.arity, self.dtype, self.n, self.bits = name, arity, dtype, n, bits
        self.group = tuple(range(arity))
        self.magnitude = (n.bit_length() + 2) // 3
        self.delta: list[Block] = []
        self.n_delta = 0


class Stored(Snapshot):
    """A relation that has not changed since an evaluation made it."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation.name, relation.arity, relation.dtype, relation.n, relation.bits)
        self._relation = relation
        self.arrangements: dict[tuple[int, ...], Arrangement] = relation.arrangements
        self.blocks, self.columns, self.find = relation.blocks, relation.columns, relation.find

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Arrangement:
        """Return the arrangement by the columns `key`, built by the first program that asks for it.

        Readers keep the object they were given: what another one needs beyond it is added to a copy.
        """
        key = tuple(key)
        with self._relation.arranging:
            found = self.arrangements.get(key)
            if found is None:
                found = self._relation.arrangement(key, payload=payload, old=False)
            elif payload and found.arena is None:
                found = copy(found)
                found.build_arena(self.blocks())
                self.arrangements[key] = found
        return found


class Versioned(Snapshot):
    """A relation as of one of its versions. `layers(key)` gives its arrangements, `layers(None)` any of them."""

    def __init__(
        self, name: str, arity: int, dtype: np.dtype, n: int, layers: Callable[[tuple[int, ...] | None], Layers]
    ) -> None:
        super().__init__(name, arity, dtype, n, RAGGED)
        self._layers = layers
        self.arrangements: dict[tuple[int, ...], Layers] = {}

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Layers:
        """Return the arrangement by the columns `key`, built by the first program that asks for it."""
        key = tuple(key)
        if key not in self.arrangements:
            self.arrangements[key] = self._layers(key)
        return self.arrangements[key]

    def blocks(self) -> list[Block]:
        """All rows."""
        found = self._layers(None)
        return [Block(rows, 0, n) for batch in found.batches for rows, n in [batch.visible(found.version)] if n]

    def columns(self) -> Columns:
        """All rows as one array [arity, n]."""
        return np.concatenate(
            [np.empty((self.arity, 0), self.dtype), *(b.rows[:, : b.hi] for b in self.blocks())], axis=1
        )
