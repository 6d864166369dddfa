"""A component of a program in supersteps: run until all is quiet here, exchange, until no member has sent anything.

The rules meet as in an exchange between threads: at owners and ports, which are the same for all members (see
`engine.evaluation.thread_exchange`). Of an iteration between two barriers only the sending of messages is left (bulk
synchronous parallel, Valiant 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from engine.cluster.communicator import Communicator
from engine.cluster.skew import DividedSendBuffer, Side
from engine.database import Columns
from engine.evaluation.execution import Execution
from engine.evaluation.partition_owner import PartitionOwner, owned
from engine.evaluation.thread_exchange import Routes, fragment_of, fragments_of
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.relation import Relation

FRAGMENT_BITS = 3
"""Each member has at least 2**FRAGMENT_BITS partitions of a relation."""
Message = tuple[int, int, Columns]
"""A channel, the number of a fragment, and rows for it."""
NOTHING: Mapping[int, Side] = MappingProxyType({})


class Supersteps:
    """The share of one member in a component; `relations` are those that its rules write, all empty.

    Heavy keys are divided at the channels `divided`.
    """

    def __init__(
        self,
        group: Communicator,
        relations: Sequence[Relation],
        routes: Routes,
        execution: Execution,
        divided: Mapping[int, Side] = NOTHING,
    ) -> None:
        self.group, self.relations, self.execution = group, relations, execution
        self.bits = max(execution.options.exchange_bits, (group.size - 1).bit_length() + FRAGMENT_BITS)
        self.outgoing: list[list[Message]] = [[] for _ in range(group.size)]
        self.n_supersteps = self.n_sent = 0
        self.owner = PartitionOwner(group.rank, routes.channels, self.bits, execution, self.post, group.size)
        fragments = fragments_of(relations, routes, self.bits)
        self.owned = owned(group.rank, group.size, fragments)
        # What heavy keys have meets apart, in a fragment of each member.
        cells = range(1 << self.bits, (1 << self.bits) + (group.size if divided else 0))
        fragments.update((number, fragment_of([], routes, number)) for number in cells)
        self.owner.fragments = owned(group.rank, group.size, fragments)
        for channel, side in divided.items():
            self.owner.send_buffers[channel] = DividedSendBuffer(self.owner.send_buffers[channel], side, group.size)
        for buffer in self.owner.send_buffers:
            buffer.n_fragments = len(fragments)

    def offer(self, relation: Relation, rows: Columns) -> None:
        """Send rows to their owners, wherever those are."""
        step = self.owner.chunk_rows
        for at in range(0, rows.shape[1], step):
            chunk = np.require(rows[:, at : at + step], relation.dtype, ["C", "W"])
            self.owner.emit(relation, chunk, chunk.shape[1], relation.every)

    def arrive(self, channel: int, rows: Columns) -> None:
        """Send rows, which are distinct, to a port."""
        self.owner.send_buffers[channel].put(np.require(rows, None, ["C", "W"]), 0, rows.shape[1], np.arange(len(rows)))

    def run(self, after: Callable[[Supersteps], None]) -> None:
        """Run to the fixpoint, and leave this member's part of it in the relations; call `after` each superstep."""
        while self.exchange():
            while self.owner.n_waiting:
                self.owner.iterate()
            after(self)
        for relation in self.relations:
            relation.replace(relation.partitions, self.bits)

    def found(self) -> dict[str, Columns]:
        """Return what this member has derived so far, as contributions to the partitions it owns.

        Sums and counts are left out: they are made of contributions that their rows do not tell.
        """
        parts = {}
        for relation in self.relations:
            owned = [relation.partitions[number] for number in self.owned]
            if relation.is_keyed:
                continue
            if isinstance(relation, AggregateRelation):
                parts[relation.name] = np.concatenate([partition.shown() for partition in owned], axis=1)
            else:
                parts[relation.name] = np.concatenate([partition.rows[:, : partition.n] for partition in owned], axis=1)
        return parts

    def settle(self) -> None:
        """Exchange what the first rules have derived; leave it in the relations, as new as it is."""
        self.exchange()
        for fragment in self.owner.fragments.values():
            self.owner.take_in(fragment)

    def exchange(self) -> bool:
        """Send what there is for other members, and take in theirs; return whether any member has something to do."""
        for buffer in self.owner.send_buffers:
            buffer.flush()
        self.n_supersteps += 1
        self.n_sent += sum(rows.shape[1] for messages in self.outgoing for *_, rows in messages)
        busy = self.owner.n_waiting > 0 or any(self.outgoing)
        arrived = self.group.exchange([(busy, messages) for messages in self.outgoing])
        self.outgoing = [[] for _ in range(self.group.size)]
        for _, messages in arrived:
            for channel, fragment, rows in messages:
                self.owner.fragments[fragment].receive(channel, rows)
        return any(busy for busy, _ in arrived)

    def post(self, owner: PartitionOwner, channel: int, fragment: int, rows: Columns) -> None:
        self.outgoing[fragment % self.group.size].append((channel, fragment, rows))
