"""Exchange between threads: a bounded queue for each pair of a producer and a consumer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")


class Transport(Protocol[Item]):
    """Carries items between workers, those of a pair in order."""

    def send(self, producer: int, consumer: int, item: Item) -> bool:
        """Take an item for `consumer`, or return False while there is no room for it."""

    def receive(self, consumer: int) -> list[tuple[int, Item]]:
        """Return what has arrived for a worker, each item with its producer."""

    def has_room(self, producer: int, consumer: int) -> bool:
        """Return True if `send` would take an item."""

    def has_items(self, consumer: int) -> bool:
        """Return True if `receive` would return anything."""


class Queue(Generic[Item]):
    """A ring of a fixed size for one producer and one consumer, without locks (Lamport, 1977; DCDatalog, Figure 6).

    `head` counts the items taken and is written by the consumer only, `tail` counts the items put and is written by
    the producer only, after the item: who reads the new count finds the item there, or the slot free. This needs the
    stores of a thread to become visible in their order. With the global interpreter lock they do, and a count is
    written at once; interpreters without it make attribute stores atomic and sequentially consistent.
    """

    __slots__ = ("_slots", "head", "tail")

    def __init__(self, capacity: int) -> None:
        self._slots: list[Item | None] = [None] * capacity
        self.head = self.tail = 0

    def put(self, item: Item) -> bool:
        """Append an item; return False if the queue is full. For the producer."""
        if self.is_full:
            return False
        self._slots[self.tail % len(self._slots)] = item
        self.tail += 1
        return True

    def take(self) -> list[Item]:
        """Remove and return the items put so far. For the consumer."""
        taken, size = [], len(self._slots)
        for at in range(self.head, self.tail):
            taken.append(self._slots[at % size])
            self._slots[at % size] = None
            self.head = at + 1
        return taken

    @property
    def is_full(self) -> bool:
        return self.tail - self.head == len(self._slots)

    def __len__(self) -> int:
        return self.tail - self.head


class Queues(Generic[Item]):
    """The transport between threads: one queue from each worker to each other one."""

    def __init__(self, n_workers: int, capacity: int) -> None:
        self._to: Sequence[Sequence[Queue[Item]]] = [
            [Queue(capacity) for _ in range(n_workers)] for _ in range(n_workers)
        ]

    def send(self, producer: int, consumer: int, item: Item) -> bool:
        return self._to[consumer][producer].put(item)

    def receive(self, consumer: int) -> list[tuple[int, Item]]:
        return [(i, item) for i, queue in enumerate(self._to[consumer]) if len(queue) for item in queue.take()]

    def has_room(self, producer: int, consumer: int) -> bool:
        return not self._to[consumer][producer].is_full

    def has_items(self, consumer: int) -> bool:
        return any(map(len, self._to[consumer]))
