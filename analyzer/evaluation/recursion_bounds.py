"""Bounds on recursions: values too wide to follow, paths too many to tell apart.

In some programs a few values may be any object at all (what a symbolic algebra system's `sympify` returns, say). What
flows through them is most of the cost and says nothing. Where structures are copied to each other, what objects hold
grows first. When `points_to` of values with several objects and `holds` together outgrow the program, their recursion
starts again without the flows into these values (`wide` in `rules/lib/points_to.dl`), and with few into hubs.

In others all objects refer to each other, so what one of them holds is found under thousands of paths. When `tainted`
outgrows the program, its recursion starts again with paths of one key (`short_paths` in `rules/lib/taint.dl`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import engine
import facts
from facts.mount import NIL

if TYPE_CHECKING:
    from engine.incremental import Bound

WIDTH = 3
"""Values with more objects than this are widened.

A wider one leaves values that outgrow the program again: on four repositories of 0.3 to 1.5 million lines 20 at first
and 4 then took 1.1 to 1.8 times the time, and on three of them widened more values in the end.
"""
BOUNDED, INTO = "points_to", "wide"


@dataclass(frozen=True)
class RecursionBound:
    """A bound on a relation, which may have `rows_per_entity`, and `least_rows` in the smallest program.

    Rows of the relations `counted` count as rows of it; of its own those of values with more than `width` rows, or all.
    `choose` gives the rows of `into` each time that the relation outgrows its limit. Evaluation i may have `growth[i]`
    times as many rows as the first one.
    """

    relation: str
    into: str
    rows_per_entity: float
    least_rows: int
    choose: Callable[[np.ndarray], np.ndarray]
    growth: Sequence[int] = (1,)
    counted: Collection[str] = ()
    width: int = 0

    def limits(self, n_entities: int, copies: int = 1) -> tuple[int, ...]:
        """Return the maximum numbers of rows, first to last time, for a program of this number of entities."""
        first = copies * max(self.least_rows, int(self.rows_per_entity * n_entities))
        return tuple(first * growth for growth in self.growth)


def wide_values(rows: np.ndarray) -> np.ndarray:
    """Return nil and the values with more objects than WIDTH, [1, n]; where there are none, those with the most."""
    counts = np.bincount(rows[0])
    chosen = np.flatnonzero(counts > min(WIDTH, int(counts.max()) - 1))
    return np.union1d(chosen, [NIL]).astype(np.int32)[None, :]


# What two restarts do not bound may be as large by itself: the limit grows, so that not all restarts are for nothing.
# Values with few objects are as many as the program is large, and cost what they must: they do not count. Of ordinary
# programs of 20 to 140 thousand lines up to 0.26 million rows count. A lower limit finds fewer of the values that are
# to be widened, and needs another restart; a higher one drops more rows.
POINTS_TO = RecursionBound(BOUNDED, INTO, 0.3, 300_000, wide_values, (1, 1, 2, 4), ("holds",), WIDTH)
# Where fewer values are widened, more is tainted: 1.5 rows for each entity of redis.
TAINT = RecursionBound("tainted", "short_paths", 2.0, 500_000, engine.Always(np.array([[1]], np.int32)))
RECURSIONS = (POINTS_TO, TAINT)
CHOSEN = frozenset(recursion.into for recursion in RECURSIONS)
"""The relations that get rows when a recursion outgrows its bound."""


def widenings(mounted: facts.Mounted, copies: int = 1) -> list[engine.Widening]:
    """Return the bounds for a program of this size with up to this number of copies of each function."""
    n_entities = mounted.entities.shape[1]
    return [
        engine.Widening(x.relation, x.limits(n_entities, copies), x.into, x.choose, x.counted, x.width)
        for x in RECURSIONS
    ]


def bounds() -> list[Bound]:
    """Return the bounds for an incrementally maintained program without entities."""
    from engine.incremental import Bound

    return [Bound(x.relation, x.limits(0), x.into, [x.choose] * len(x.growth), x.counted, x.width) for x in RECURSIONS]


def set_sizes(bounds: Sequence[Bound], n_entities: int) -> None:
    """Let the bounds be for a program of this number of entities."""
    for bound, recursion in zip(bounds, RECURSIONS, strict=True):
        bound.max_rows = recursion.limits(n_entities)
