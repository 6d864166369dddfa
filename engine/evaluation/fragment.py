"""A fragment: one partition of all relations of a component, with what has arrived for it.

Tuples arrive through channels. The first channels, one a relation, bring tuples to their owner, which drops duplicates;
the others are ports, where tuples that are new to their owner meet those they join with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.database import Columns
from engine.evaluation.compile_plan import Plan
from engine.result import RuleStatistics
from engine.storage.arrangement import Arrangement, Block
from engine.storage.partition import Partition
from engine.storage.relation import Relation


@dataclass(eq=False)
class Channel:
    """A channel that receives tuples of a relation, in `width` columns, partitioned by a hash of the columns `key`.

    For an owner they are rows to insert: those of an aggregate relation are contributions.
    `slots` are the arrangements kept there, `plans` the rules that read what is new. From an owner, new tuples go on to
    the channels `onward`.
    """

    relation: Relation
    key: np.ndarray
    width: int
    slots: list[int] = field(default_factory=list)
    plans: list[tuple[Plan, RuleStatistics]] = field(default_factory=list)
    onward: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """Stands in plans for an arrangement that each fragment has its own of, at position `number`."""

    number: int
    key: tuple[int, ...]
    payload: np.ndarray


class ChannelView:
    """The part of a recursive relation visible to plans: what has arrived at a channel of the current fragment."""

    bits = 0
    read_early = False

    def __init__(self, channel: Channel, slots: list[Slot]) -> None:
        relation = channel.relation
        self.name, self.arity, self.dtype = relation.name, relation.arity, relation.dtype
        self.group = relation.group
        self.channel, self.slots = channel, slots
        self.arrangements: dict[tuple[int, ...], Slot] = {}

    def arrangement(self, key: Sequence[int], *, payload: bool, old: bool) -> Slot:
        """Return the slot of the arrangement by the columns `key`. Nothing is old: tuples are joined as they arrive."""
        key = tuple(key)
        if key not in self.arrangements:
            rest = np.array([c for c in range(self.arity) if c not in key], np.int64)
            self.arrangements[key] = Slot(len(self.slots), key, rest)
            self.channel.slots.append(len(self.slots))
            self.slots.append(self.arrangements[key])
        return self.arrangements[key]


class Fragment:
    """Owned partitions and their arrangements. A fragment belongs to one worker, and only that one touches it.

    `n_waiting` counts the rows that have come to it since it was last quiet.
    What an owned partition gives as its delta is taken through all rules and on to other channels.
    """

    def __init__(self, number: int, owned: Sequence[Partition], arrangements: Sequence[Arrangement], n_channels: int):
        self.number, self.owned, self.arrangements = number, owned, arrangements
        self.inbox: list[list[Columns]] = [[] for _ in range(n_channels)]
        self.n_waiting = sum(partition.n for partition in owned)

    def receive(self, channel: int, rows: Columns) -> None:
        self.inbox[channel].append(rows)
        self.n_waiting += rows.shape[1]

    def take(self, channel: int) -> Block | None:
        """Return what has arrived through a channel, as one block."""
        batches = self.inbox[channel]
        if not batches:
            return None
        self.inbox[channel] = []
        rows = batches[0] if len(batches) == 1 else np.concatenate(batches, axis=1)
        return Block(rows, 0, rows.shape[1])

    def rest(self) -> None:
        """It is quiet until more comes: what it holds may be spilled."""
        for held in (*self.owned, *self.arrangements):
            held.rest()
