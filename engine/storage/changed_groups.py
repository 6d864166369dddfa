"""Groups listed once each, and the growing of arrays that are indexed by group."""

from __future__ import annotations

import numpy as np

FIRST_GROUPS = 64


class ChangedGroups:
    """Groups listed once each, until the list is taken."""

    def __init__(self) -> None:
        self.dirty, self.listed, self.n = np.zeros(FIRST_GROUPS, np.bool_), np.empty(FIRST_GROUPS, np.int32), 0

    def reserve(self, n: int) -> None:
        if n > len(self.dirty):
            self.dirty, self.listed = grown(self.dirty, n), grown(self.listed, n)

    def take(self) -> np.ndarray:
        """Return the groups listed and list none."""
        groups, self.n = self.listed[: self.n].copy(), 0
        self.dirty[groups] = False
        return groups

    def list_all(self, n: int) -> None:
        self.dirty[:n], self.listed[:n], self.n = True, np.arange(n), n

    def part(self, chosen: np.ndarray) -> ChangedGroups:
        """Return the list of those of the chosen groups that are listed, numbered by position."""
        part = ChangedGroups()
        part.reserve(len(chosen))
        listed = np.flatnonzero(self.dirty[chosen])
        part.n = len(listed)
        part.dirty[listed], part.listed[: part.n] = True, listed
        return part


def grown(array: np.ndarray, n: int) -> np.ndarray:
    """Return a copy with room for at least n entries; what is new is zero for booleans, undefined else."""
    if n <= len(array):
        return array
    bigger = (np.zeros if array.dtype == np.bool_ else np.empty)(max(n, 2 * len(array)), array.dtype)
    bigger[: len(array)] = array
    return bigger
