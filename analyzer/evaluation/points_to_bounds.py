"""Bounds on points-to analysis: values too wide to follow.

In some programs a few values may be any object at all (what a symbolic algebra system's `sympify` returns, say). What
flows through them is most of the cost and says nothing. When `points_to` outgrows the program, its recursion starts
again without the flows into the widest values (`wide` in `rules/lib/points_to.dl`), and with few into hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import engine
import facts
from facts.mount import NIL

if TYPE_CHECKING:
    from engine.incremental import Bound

WIDTHS = (20, 4, 4, 4, 4)
"""Values with more objects than this are widened, first to last time; a call of 20 targets tells a reader little.

What has more than 20 objects feeds most of what has more than 4: the second time, few are left that have more by
themselves. Smaller steps cost a restart each, and widen more values in the end.
"""
ROWS_PER_ENTITY = 0.7
LEAST_ROWS = 300_000
BOUNDED, INTO = "points_to", "wide"


def bounds(mounted: facts.Mounted, copies: int = 1) -> engine.Widening:
    """Return the bound for a program of this size with up to this number of copies of each function."""
    widths = iter(WIDTHS)

    def choose(rows: np.ndarray) -> np.ndarray | None:
        width = next(widths, None)
        return None if width is None else wide_values(np.bincount(rows[0]), width)

    return engine.Widening(BOUNDED, copies * max_rows(mounted.entities.shape[1]), INTO, choose)


def bound(n_entities: int) -> Bound:
    """Return the bound for an incrementally maintained program of this number of entities."""
    from engine.incremental import Bound

    choices = [lambda rows, width=width: wide_values(np.bincount(rows[0]), width) for width in WIDTHS]
    return Bound(BOUNDED, max_rows(n_entities), INTO, choices)


def max_rows(n_entities: int) -> int:
    """Return the maximum number of points-to rows for a program of this number of entities."""
    return max(LEAST_ROWS, int(ROWS_PER_ENTITY * n_entities))


def wide_values(counts: np.ndarray, width: int) -> np.ndarray:
    """Return nil and the values with more than `width` objects, [1, n]; where there are none, those with the most."""
    chosen = np.flatnonzero(counts > min(width, int(counts.max()) - 1))
    return np.union1d(chosen, [NIL]).astype(np.int32)[None, :]
