"""The communication interface of a group of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

Payload = TypeVar("Payload")


class Communicator(Protocol):
    """Member `rank` of `size`. All members make the same calls in the same order."""

    rank: int
    size: int

    def exchange(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Send parcels[i] to member i; return what each member has sent to this one, in the order of members."""


def all_gather(group: Communicator, value: Payload) -> list[Payload]:
    """Return the values of all members, in their order."""
    return group.exchange([value] * group.size)


def broadcast(group: Communicator, value: Payload) -> Payload:
    """Return the value of the first member."""
    return group.exchange([value if group.rank == 0 else None] * group.size)[0]
