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
from engine.evaluation.send_buffer import OUTBOX_CELLS, Outbox
from engine.evaluation.worker_pool import Worker
from engine.storage.arrangement import Arrangement, Block, Readable
from engine.storage.relation import Relation


class Owner(Worker):
    """Worker `number` of an exchange with its fragments.

    `post` sends rows to a fragment of another worker. Of each producer the policy knows: `arrived` counts its tuples
    since the last iteration began, `spacing` says how they have been arriving, the last at `heard_s`.
    """

    def __init__(
        self, number: int, channels: Sequence[Channel], bits: int, execution: Execution, post: Callable, n_workers: int
    ) -> None:
        options = execution.options
        super().__init__(options.chunk_rows, options.inbox_rows, execution.meter.watch)
        self.number, self.channels, self.execution, self.post = number, channels, execution, post
        room = max(1, min(options.inbox_rows, OUTBOX_CELLS >> bits))
        self.outboxes = [Outbox(i, channel, bits, room, self.deliver) for i, channel in enumerate(channels)]
        # The home of a relation is the first of its channels.
        self.home_of = {c.relation.name: i for i, c in reversed(list(enumerate(channels)))}
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
        """Distribute rows to the homes of a relation."""
        self.produced += n
        self.outboxes[self.home_of[relation.name]].offer(rows, n, take)

    def at_hand(self, relation: Relation) -> None:
        """No partition: tuples may have to be sent."""

    def within_reach(self, relation: Relation) -> None:
        """No partition, either."""

    def inbox_before(self, join: JoinInsert, by: Readable, width: int) -> None:
        """No inbox: outboxes take what a join makes."""

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
        for outbox in self.outboxes:
            outbox.flush()
        if n_taken:
            self.service.add(n_taken, perf_counter() - begin)

    def run(self, fragment: Fragment) -> None:
        """Run a fragment until it is quiet: what it derives for itself it takes up at once."""
        self.fragment, team = fragment, self.execution.team
        while not team.stopped and (self.take_in(fragment) | self.take_new(fragment)):
            pass
        self.fragment, fragment.n_waiting = None, 0
        fragment.rest()

    def take_in(self, fragment: Fragment) -> bool:
        """Take in what has arrived: at homes tuples are told apart, elsewhere they are new."""
        some = False
        for i, channel in enumerate(self.channels):
            some |= self.outboxes[i].flush_to(fragment.number)
            block = fragment.take(i)
            if block is not None:
                some = True
                if i < len(fragment.homes):
                    fragment.homes[i].insert(block.rows, 0, block.hi, channel.relation.every)
                else:
                    self.admit(fragment, channel, block)
        return some

    def take_new(self, fragment: Fragment) -> bool:
        """Take what is new at the homes through the rules, and on to the other channels."""
        some = False
        for home, channel in zip(fragment.homes, self.channels, strict=False):
            block = home.take_delta()
            if block is not None:
                some = True
                self.admit(fragment, channel, block)
                for i in channel.onward:
                    self.outboxes[i].put(*block, np.arange(channel.relation.arity))
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
        at_hand = self.fragment
        if at_hand is not None and at_hand.number == fragment and channel < len(at_hand.homes):
            at_hand.homes[channel].insert(rows, 0, rows.shape[1], self.channels[channel].relation.every)
        elif fragment in self.fragments:
            self.fragments[fragment].receive(channel, rows.copy())
        else:
            self.post(self, channel, fragment, rows.copy())


def owned(number: int, n_workers: int, fragments: Mapping[int, Fragment]) -> dict[int, Fragment]:
    """The fragments of a worker: they are dealt out in turn."""
    return {i: fragment for i, fragment in fragments.items() if i % n_workers == number}
