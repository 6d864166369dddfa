"""Accumulators: the values of one aggregated column, for each group the best so far or the sum of what contributes.

Groups are numbers from 0. `add` takes contributions and lists the groups whose value changes; `shown` holds the values
that readers see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.database import Columns
from engine.storage.changed_groups import FIRST_GROUPS, ChangedGroups, grown

NATIVE = {"float": np.float64, "unsigned": np.uint64}
Order = Callable[[Columns], np.ndarray]
"""Gives the positions of rows in the order of their values."""


@dataclass(frozen=True)
class AggregatedColumn:
    """A column of aggregates: of a contribution, `column` holds its value, `keys` its contributor.

    The first key is 1 for plain values if `tagged`. `kind` is that of the aggregate, `of` that of its values, in
    columns of `dtype`; floats are added in the `order` of their contributors, or without one in increasing order.
    """

    relation: str
    column: int
    kind: str
    of: str
    dtype: np.dtype
    bits: int
    keys: tuple[int, ...] = ()
    tagged: bool = False
    order: Order | None = None

    @property
    def native(self) -> np.dtype:
        """The type under which values compare as the numbers that they stand for."""
        return np.dtype(NATIVE.get(self.of, self.dtype) if self.dtype == np.int64 else self.dtype)


class Accumulator:
    """The values of groups in one aggregated column."""

    def __init__(self, spec: AggregatedColumn) -> None:
        self.spec = spec
        self.shown = np.empty(FIRST_GROUPS, spec.native)
        self.best = np.empty(FIRST_GROUPS, spec.native)

    @property
    def n_contributors(self) -> int:
        """The number of contributors that it tells apart."""
        return 0

    @property
    def working_set(self) -> int:
        """The bytes that adding goes through in no order."""
        return 0

    def arrays(self) -> list[np.ndarray]:
        """The arrays it holds, but for tables."""
        return [self.shown, self.best]

    def finish(self) -> None:
        """Free what only adding needs."""

    def reserve(self, n: int) -> None:
        """Make room for n groups."""
        if n > len(self.shown):
            self.shown = grown(self.shown, n)

    def add(
        self, rows: Columns, lo: int, hi: int, take: np.ndarray, groups: np.ndarray, known: int, to: ChangedGroups
    ) -> None:
        """Take the contributions `rows[take, lo:hi]` to `groups`, of which `known` were there before."""
        raise NotImplementedError

    def current(self, groups: np.ndarray) -> np.ndarray:
        """The present values of groups."""
        raise NotImplementedError

    def parts(self, chosen: Sequence[np.ndarray]) -> list[Accumulator]:
        """Return an accumulator for each array of chosen groups, which are numbered anew by their position in it."""
        raise NotImplementedError

    def values(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        return rows[take[self.spec.column], lo:hi].view(self.spec.native)

    def empty_part(self, chosen: np.ndarray) -> Accumulator:
        part = type(self)(self.spec)
        part.reserve(len(chosen))
        part.shown[: len(chosen)] = self.shown[chosen]
        return part
