"""The communication interface of a group of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

Parcel = TypeVar("Parcel")


class Group(Protocol):
    """Member `rank` of `size`. All members make the same calls in the same order."""

    rank: int
    size: int

    def exchange(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        """Send parcels[i] to member i; return what each member has sent to this one, in the order of members."""


def gather(group: Group, value: Parcel) -> list[Parcel]:
    """Return the values of all members, in their order."""
    return group.exchange([value] * group.size)


def of_first(group: Group, value: Parcel) -> Parcel:
    """Return the value of the first member."""
    return group.exchange([value if group.rank == 0 else None] * group.size)[0]
