"""A worker that owns fragments: gathers what arrives for them, runs them until they are quiet, distributes the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

import numpy as np

from engine.database import Columns
from engine.evaluation.coordination_policy import Moments
from engine.evaluation.execution import Execution
from engine.evaluation.fragment import Channel, Fragment, Slot
from engine.evaluation.operators import JoinInsert, drive
from engine.evaluation.send_buffer import SEND_BUFFER_CELLS, SendBuffer
from engine.evaluation.worker_pool import Worker
from engine.storage.arrangement import Arrangement, Block, Readable
from engine.storage.relation import Relation


class PartitionOwner(Worker):
    """Worker `number` of an exchange with its fragments.

    `post` sends rows to a fragment of another worker. Of each producer the policy knows: `arrived` counts its tuples
    since the last iteration began, `spacing` says how they have been arriving, the last at `heard_s`.
    """

    def __init__(
        self, number: int, channels: Sequence[Channel], bits: int, execution: Execution, post: Callable, n_workers: int
    ) -> None:
        options = execution.options
        super().__init__(options.chunk_rows, options.buffer_rows, execution.meter.watch)
        self.number, self.channels, self.execution, self.post = number, channels, execution, post
        room = max(1, min(options.buffer_rows, SEND_BUFFER_CELLS >> bits))
        self.send_buffers = [SendBuffer(i, channel, bits, room, self.deliver) for i, channel in enumerate(channels)]
        # The first channel of a relation brings tuples to their owner.
        self.owner_channel = {c.relation.name: i for i, c in reversed(list(enumerate(channels)))}
        self.fragments: dict[int, Fragment] = {}
        self.fragment: Fragment | None = None
        self.service = Moments()
        self.spacing = [Moments() for _ in range(n_workers)]
        self.heard_s = [perf_counter()] * n_workers
        self.arrived = [0] * n_workers

    @property
    def n_waiting(self) -> int:
        """The tuples at hand."""
        return sum(fragment.n_waiting for fragment in self.fragments.values())

    # ---- what plans call

    def arrangement(self, handle: Arrangement | Slot) -> Arrangement:
        return self.fragment.arrangements[handle.number] if isinstance(handle, Slot) else handle

    def emit(self, relation: Relation, rows: Columns, n: int, take: np.ndarray) -> None:
        """Distribute rows to their owners."""
        self.produced += n
        self.send_buffers[self.owner_channel[relation.name]].offer(rows, n, take)

    def single_partition(self, relation: Relation) -> None:
        """No partition: tuples may have to be sent."""

    def join_buffer(self, join: JoinInsert, by: Readable, width: int) -> None:
        """No buffer: send buffers take what a join makes."""

    # ---- gather

    def gather(self, producer: int, sent_s: float, channel: int, fragment: int, rows: Columns) -> None:
        """Take in rows from another worker."""
        self.fragments[fragment].receive(channel, rows)
        self.arrived[producer] += rows.shape[1]
        self.spacing[producer].add(rows.shape[1], sent_s - self.heard_s[producer])
        self.heard_s[producer] = sent_s

    # ---- a local iteration

    def iterate(self) -> None:
        """Run the fragments that have tuples waiting, then send what others are to have."""
        begin, n_taken = perf_counter(), self.n_waiting
        self.arrived = [0] * len(self.arrived)
        for fragment in self.fragments.values():
            if fragment.n_waiting:
                self.run(fragment)
        for buffer in self.send_buffers:
            buffer.flush()
        if n_taken:
            self.service.add(n_taken, perf_counter() - begin)

    def run(self, fragment: Fragment) -> None:
        """Run a fragment until it is quiet: what it derives for itself it takes up at once."""
        self.fragment, pool = fragment, self.execution.pool
        while not pool.stopped and (self.take_in(fragment) | self.take_new(fragment)):
            pass
        self.fragment, fragment.n_waiting = None, 0
        fragment.rest()

    def take_in(self, fragment: Fragment) -> bool:
        """Take in what has arrived: owned partitions drop duplicates, elsewhere tuples are new."""
        some = False
        for i, channel in enumerate(self.channels):
            some |= self.send_buffers[i].flush_to(fragment.number)
            block = fragment.take(i)
            if block is not None:
                some = True
                if i < len(fragment.owned):
                    fragment.owned[i].insert(block.rows, 0, block.hi, channel.relation.every)
                else:
                    self.admit(fragment, channel, block)
        return some

    def take_new(self, fragment: Fragment) -> bool:
        """Take what is new in the owned partitions through the rules, and on to the other channels."""
        some = False
        for partition, channel in zip(fragment.owned, self.channels, strict=False):
            block = partition.take_delta()
            if block is not None:
                some = True
                self.admit(fragment, channel, block)
                for i in channel.onward:
                    self.send_buffers[i].put(*block, np.arange(channel.relation.arity))
        return some

    def admit(self, fragment: Fragment, channel: Channel, block: Block) -> None:
        """Arrange new tuples first, then join them: of two that meet, the later one sees the other."""
        for slot in channel.slots:
            fragment.arrangements[slot].add([block])
        for plan, statistics in channel.plans:
            begin = perf_counter()
            for chunk, n in plan.scan.chunks(self, *block):
                drive(plan.operators, self, chunk, n)
            self.execution.charge(statistics, self, begin, block.hi - block.lo)

    # ---- distribute

    def deliver(self, channel: int, fragment: int, rows: Columns) -> None:
        """Pass rows on to a fragment: to the one at hand, another of one's own, or one of another worker."""
        current = self.fragment
        if current is not None and current.number == fragment and channel < len(current.owned):
            current.owned[channel].insert(rows, 0, rows.shape[1], self.channels[channel].relation.every)
        elif fragment in self.fragments:
            self.fragments[fragment].receive(channel, rows.copy())
        else:
            self.post(self, channel, fragment, rows.copy())


def owned(number: int, n_workers: int, fragments: Mapping[int, Fragment]) -> dict[int, Fragment]:
    """The fragments of a worker: they are dealt out in turn."""
    return {i: fragment for i, fragment in fragments.items() if i % n_workers == number}
