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

WIDTH = 3
"""Values with more objects than this are widened.

A wider one leaves values that outgrow the program again: on four repositories of 0.3 to 1.5 million lines 20 at first
and 4 then took 1.1 to 1.8 times the time, and widened more values in the end.
"""
GROWTH = (1, 1, 2, 4)
"""The limits of the evaluations, by the first one's: what two restarts do not bound may be as large by itself."""
ROWS_PER_ENTITY = 0.7
LEAST_ROWS = 300_000
BOUNDED, INTO = "points_to", "wide"


def bounds(mounted: facts.Mounted, copies: int = 1) -> engine.Widening:
    """Return the bound for a program of this size with up to this number of copies of each function."""
    return engine.Widening(BOUNDED, limits(mounted.entities.shape[1], copies), INTO, wide_values)


def bound(n_entities: int) -> Bound:
    """Return the bound for an incrementally maintained program of this number of entities."""
    from engine.incremental import Bound

    return Bound(BOUNDED, limits(n_entities), INTO, [wide_values] * len(GROWTH))


def limits(n_entities: int, copies: int = 1) -> tuple[int, ...]:
    """Return the maximum numbers of points-to rows, first to last time, for a program of this number of entities."""
    first = copies * max(LEAST_ROWS, int(ROWS_PER_ENTITY * n_entities))
    return tuple(first * growth for growth in GROWTH)


def wide_values(rows: np.ndarray) -> np.ndarray:
    """Return nil and the values with more objects than WIDTH, [1, n]; where there are none, those with the most."""
    counts = np.bincount(rows[0])
    chosen = np.flatnonzero(counts > min(WIDTH, int(counts.max()) - 1))
    return np.union1d(chosen, [NIL]).astype(np.int32)[None, :]
