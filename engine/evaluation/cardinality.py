"""The planner's statistics of the data: sizes, and fan-outs estimated from samples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from engine.database import Columns
from engine.evaluation.join_sampling import Sample
from engine.plan.rule import Match
from engine.storage.equivalence_union_find import Equivalence
from engine.storage.key_tables import HashedKeys
from engine.storage.relation import Relation

SAMPLE_ROWS = 2048
FAR_APART = 16
"""Values are counted one by one if they lie in a range of at most so many times as many."""
SMALL = 64
"""Up to this size a guess is good enough: every column selects as well as any other."""


@dataclass
class Statistics:
    """Sizes of relations as they are now. `signatures` counts the atoms of the program by their constant columns."""

    relations: Mapping[str, Relation]
    signatures: Mapping[tuple[str, tuple[int, ...]], int]
    min_sampled: int
    estimates: dict[tuple[str, tuple[int, ...], int], float] = field(default_factory=dict)
    values: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def forget(self, relations: Collection[str]) -> None:
        """Forget what is known of relations."""
        for known in (self.estimates, self.values):
            for key in [key for key in known if key[0] in relations]:
                del known[key]

    def rows(self, relation: str) -> float:
        return self.relations[relation].n

    def fan_out(self, relation: str, columns: tuple[int, ...]) -> float:
        """Return the average number of rows that agree with a row on the columns, itself included."""
        stored = self.relations[relation]
        if stored.n <= SMALL:
            return stored.n ** (1 - len(columns) / stored.arity)
        key = (relation, columns, stored.magnitude)
        if key not in self.estimates:
            self.estimates[key] = estimate_fan_out(stored, columns)
        return self.estimates[key]

    def distinct(self, relation: str, column: int) -> float:
        """At most so many values stand in a column: exactly so many where they lie close together."""
        stored = self.relations[relation]
        if isinstance(stored, Equivalence):
            return stored.n
        key = (relation, column, stored.n)
        if key not in self.values:
            self.values[key] = count_values([rows[column, lo:hi] for rows, lo, hi in stored.blocks()])
        return self.values[key]

    def sample(self, first: Match, is_delta: bool) -> Sample | None:
        """A sample of the bindings of a first atom; none where nothing can be sampled."""
        stored = self.relations[first.relation]
        if not (stored.n_delta if is_delta else stored.n) or isinstance(stored, Equivalence):
            return None
        return Sample(self.relations, first, stored.delta if is_delta else stored.blocks(), self.min_sampled)

    def shared(self, relation: str, columns: tuple[int, ...]) -> bool:
        """Return True if an arrangement by these columns exists or serves several atoms."""
        stored = self.relations[relation]
        if isinstance(stored, Equivalence):
            return True
        return columns in stored.arrangements or self.signatures.get((relation, columns), 0) > 2


def estimate_fan_out(relation: Relation, columns: tuple[int, ...]) -> float:
    """Estimate the fan-out from the pairs in a sample that agree.

    This weighs a key by its number of rows: a popular key counts as often as it is likely to be asked for. It is what
    makes a join order safe under skew, where the mean over distinct keys is not.
    """
    if isinstance(relation, Equivalence):
        return relation.fan_out(len(columns))
    rows = sample(relation, columns)
    n = rows.shape[1]
    return 1.0 + (relation.n - 1) * agreeing_pairs(rows) / max(1, n * (n - 1))


def agreeing_pairs(rows: Columns) -> int:
    """The number of ordered pairs of different rows that agree."""
    n = rows.shape[1]
    if len(rows) == 1:
        values = np.sort(rows[0])
    elif len(rows) == 2 and rows.dtype == np.int32:
        values = np.sort(np.ascontiguousarray(rows.T).view(np.int64)[:, 0])
    else:
        values = np.sort(HashedKeys(len(rows), rows.dtype).intern(rows, 0, n, np.arange(len(rows))))
    ends = np.flatnonzero(values[1:] != values[:-1]) + 1
    lengths = np.diff(np.concatenate(([0], ends, [n])))
    return int((lengths * (lengths - 1)).sum())


def count_values(pieces: Sequence[np.ndarray]) -> float:
    """The number of distinct values, or of all, if they are far apart."""
    n = sum(map(len, pieces))
    if not n:
        return 0.0
    least = min(int(piece.min()) for piece in pieces)
    size = max(int(piece.max()) for piece in pieces) - least + 1
    if size > FAR_APART * n:
        return float(n)
    present = np.zeros(size, np.bool_)
    for piece in pieces:
        present[piece - least] = True
    return float(np.count_nonzero(present))


def sample(relation: Relation, columns: tuple[int, ...]) -> Columns:
    """Some columns of rows chosen at random, the same ones for the same size."""
    chosen, wanted = chosen_rows(relation.n), np.array(columns, np.int64)
    pieces, begin = [], 0
    for rows, lo, hi in relation.blocks():
        first, last = np.searchsorted(chosen, (begin, begin + hi - lo))
        pieces.append(rows[wanted[:, None], chosen[first:last] + (lo - begin)])
        begin += hi - lo
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


@lru_cache(maxsize=64)
def chosen_rows(n: int) -> np.ndarray:
    """The positions, in order, of some of n rows."""
    if n <= SAMPLE_ROWS:
        return np.arange(n)
    # Numbers of a SplitMix64 generator. To import NumPy's takes longer than a small evaluation's samples.
    drawn = np.arange(1, SAMPLE_ROWS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    drawn = (drawn ^ (drawn >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    drawn = (drawn ^ (drawn >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn ^= drawn >> np.uint64(31)
    chosen = np.sort((drawn % np.uint64(n)).astype(np.int64))
    return chosen[np.diff(chosen, prepend=-1) > 0]
