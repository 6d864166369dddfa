"""The size of a recursion that has a limit: rows of one relation, those of wide values alone, and of others with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class RecursionSize:
    """How many rows of a growing relation count: those whose first column is in more than `width` rows, or all.

    To count takes time in proportion to the rows. As a new row makes at most `width` + 1 of them count, it is done
    only where so many may have come that a limit is passed.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.n_wide = self.n_seen = 0

    def passes(self, limit: int, n_rows: int, n_others: int, values: Callable[[], np.ndarray]) -> bool:
        """Return True if the rows that count are more than the limit, together with those of other relations.

        `values` gives the first column of the relation, which has `n_rows`.
        """
        if not self.width:
            return n_rows + n_others > limit
        if self.n_wide + (self.width + 1) * (n_rows - self.n_seen) + n_others > limit:
            self.n_wide, self.n_seen = n_wide(values(), self.width), n_rows
            return self.n_wide + n_others > limit
        return False


def n_wide(values: np.ndarray, width: int) -> int:
    """Return how many of the values are there more than `width` times."""
    counts = np.bincount(values)
    return int(counts[counts > width].sum())
