"""What the planner knows of the data: sizes, and fan-outs estimated from samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.storage.keys import HashedKeys
from engine.storage.relation import Relation

SAMPLE_ROWS = 4096


@dataclass
class Statistics:
    """Sizes of relations as they are now; `signatures` counts the atoms of the program by their constant columns."""

    relations: Mapping[str, Relation]
    signatures: Mapping[tuple[str, tuple[int, ...]], int]
    estimates: dict[tuple[str, tuple[int, ...], int], float] = field(default_factory=dict)

    def rows(self, relation: str) -> float:
        return self.relations[relation].n

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        """The mean number of rows per distinct value of the columns."""
        stored = self.relations[relation]
        if stored.n <= 1:
            return stored.n
        key = (relation, columns, stored.magnitude)
        if key not in self.estimates:
            self.estimates[key] = stored.n / distinct_values(stored, columns)
        return self.estimates[key]

    def shared(self, relation: str, columns: tuple[int, ...]) -> bool:
        """Whether an arrangement by these columns exists or serves several atoms."""
        return columns in self.relations[relation].arrangements or self.signatures.get((relation, columns), 0) > 2


def distinct_values(relation: Relation, columns: tuple[int, ...]) -> float:
    """Estimate the number of distinct values of some columns from a sample (Charikar et al., 2000: GEE)."""
    found = relation.arrangements.get(columns)
    if found is not None:
        return max(1, np.count_nonzero(found.lengths))
    step = max(1, relation.n // SAMPLE_ROWS)
    pieces = [b.rows[list(columns), b.lo : b.hi : step] for b in relation.blocks()]
    sample = np.concatenate(pieces, axis=1)
    n = sample.shape[1]
    counts = np.bincount(HashedKeys(len(columns), relation.dtype).intern(sample, 0, n, np.arange(len(columns))))
    once = np.count_nonzero(counts == 1)
    return max(1.0, np.sqrt(relation.n / n) * once + (len(counts) - once))
