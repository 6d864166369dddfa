"""Supports gained and lost, added up by tuple: memory for the tuples touched, however many there are."""

from __future__ import annotations

import numpy as np

from engine.kernels.iterations import FREE, enter_sums

FIRST_SLOTS = 64


class SupportSums:
    """Ids of tuples and a sum for each, `ids[:n]` and `sums[:n]`, in order of arrival; `slots` finds them by id."""

    __slots__ = ("slots", "ids", "sums", "n")

    def __init__(self) -> None:
        self.slots = np.full(FIRST_SLOTS, FREE, np.int32)
        self.ids, self.sums, self.n = np.empty(FIRST_SLOTS // 2, np.int32), np.empty(FIRST_SLOTS // 2, np.int32), 0

    def reserve(self, more: int) -> None:
        """Make room for so many more ids."""
        size = len(self.slots)
        while size < 2 * (self.n + more):
            size *= 2
        if size > len(self.slots):
            self.slots = np.full(size, FREE, np.int32)
            room = np.empty(size // 2 - len(self.ids), np.int32)
            self.ids, self.sums = np.concatenate([self.ids, room]), np.concatenate([self.sums, room])
            enter_sums(self.slots, self.ids, self.n)
