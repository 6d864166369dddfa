"""Recursion by exchange: workers own partitions, and send one another what belongs there, without barriers.

Every tuple of a component has an owner: a relation is partitioned by a discriminating set, and who owns a partition
drops duplicates there. Ports are further partitionings, by the keys that a relation is joined by. A tuple that is new
to its owner is sent to each port; rules derive tuples for owners.
A worker repeats: gather what has arrived, ask the policy whether to begin, run its fragments, distribute (DCDatalog,
Algorithm 2 and §5.2). Every two tuples that join meet at a port, and the later one finds the other arranged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Condition
from time import perf_counter

import numpy as np

from engine.database import Columns
from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_plan import build
from engine.evaluation.coordination_policy import Arrivals, Situation
from engine.evaluation.execution import Execution
from engine.evaluation.fragment import Channel, ChannelView, Fragment, Slot
from engine.evaluation.partition_owner import PartitionOwner, owned
from engine.evaluation.queues import Queues, Transport
from engine.evaluation.worker_pool import Worker
from engine.plan.discriminating_sets import ExchangePort, Placement
from engine.plan.rule import Match, Rule
from engine.result import RuleStatistics, StratumStatistics
from engine.storage.partition import Partition
from engine.storage.relation import Relation


class Routes:
    """The channels of a component, with the plans of its rules bound to them."""

    def __init__(self, relations: Sequence[Relation], placement: Placement) -> None:
        self.channels: list[Channel] = []
        self.views: list[ChannelView] = []
        self.slots: list[Slot] = []
        self.numbers: dict[ExchangePort, int] = {}
        self.owner_channels: dict[str, Channel] = {}
        for relation in relations:
            port = ExchangePort(relation.name, placement.owner_keys[relation.name])
            self.owner_channels[relation.name] = self.channels[self.open(port, relation, len(relation.every))]

    def number(self, relation: Relation, port: ExchangePort) -> int:
        """Return the number of a channel, which is made on first demand; a relation's owner sends it what is new."""
        if port not in self.numbers:
            self.open(port, relation, relation.arity)
            if relation.name in self.owner_channels:
                self.owner_channels[relation.name].onward.append(self.numbers[port])
        return self.numbers[port]

    def open(self, port: ExchangePort, relation: Relation, width: int) -> int:
        self.numbers[port] = len(self.channels)
        self.channels.append(Channel(relation, np.array(port.key, np.int64), width))
        self.views.append(ChannelView(self.channels[-1], self.slots))
        return self.numbers[port]

    def add(self, rule: Rule, ports: Sequence[ExchangePort], statistics: RuleStatistics, bindings: Bindings) -> None:
        """Plan the variants of a recursive rule, one for each port its atoms arrive at."""
        relations = {port.relation: bindings.relations[port.relation] for port in ports}
        numbers = [self.number(relations[port.relation], port) for port in ports]
        recursive = frozenset(c.relation.name for c in self.channels)
        atoms = [i for i, x in enumerate(rule.body) if isinstance(x, Match) and x.relation in recursive]
        for at, number in zip(atoms, numbers, strict=True):
            others = [self.views[n] for n in numbers if n != number] or [self.views[number]]
            bound = {**bindings.relations, **{view.name: view for view in (self.views[number], *others)}}
            # The delta comes first: then no atom before it is to read earlier tuples only.
            body = (rule.body[at], *rule.body[:at], *rule.body[at + 1 :])
            plan = build(replace(rule, body=body), replace(bindings, relations=bound), 0, recursive)
            if not plan.never:
                self.channels[number].plans.append((plan, statistics))


def fragments_of(relations: Sequence[Relation], routes: Routes, bits: int) -> dict[int, Fragment]:
    """Divide relations by their discriminating sets into 2**bits fragments; all rows count as new."""
    for relation in relations:
        if relation.bits != bits:
            relation.split(bits)
        for partition in relation.partitions:
            partition.reopen()
    return {n: fragment_of([relation.partitions[n] for relation in relations], routes, n) for n in range(1 << bits)}


def fragment_of(owned: Sequence[Partition], routes: Routes, number: int) -> Fragment:
    """Return a fragment at which nothing has arrived yet."""
    of = {number: c.relation for c in routes.channels for number in c.slots}
    arrangements = [of[slot.number].private_arrangement(slot.key) for slot in routes.slots]
    for arrangement in arrangements:
        if len(arrangement.payload):
            arrangement.build_arena(())
    return Fragment(number, owned, arrangements, len(routes.channels))


class ThreadExchange:
    """One run of a component on workers that exchange tuples, from the rows at hand to the fixpoint."""

    def __init__(self, relations: Sequence[Relation], routes: Routes, execution: Execution) -> None:
        self.relations, self.channels, self.execution = relations, routes.channels, execution
        options = execution.options
        self.n_workers = n = len(execution.pool.workers)
        self.bits = max(options.exchange_bits, (4 * n - 1).bit_length(), *(relation.bits for relation in relations))
        self.transport: Transport = Queues(n, options.queue_batches)
        self.iterations, self.active = [0] * n, [True] * n
        self.sent, self.received = [0] * n, [0] * n
        self.changed, self.sleepers, self.finished = Condition(), 0, False
        fragments = fragments_of(relations, routes, self.bits)
        self.owners = [PartitionOwner(i, self.channels, self.bits, execution, self.post, n) for i in range(n)]
        for owner in self.owners:
            owner.fragments = owned(owner.number, n, fragments)

    def run(self, statistics: StratumStatistics) -> None:
        """Run to the fixpoint, and leave it in the relations."""
        before = {relation.name: relation.n for relation in self.relations}
        produced = {id(rule): rule.produced for rule in statistics.rules}
        self.execution.pool.run([partial(self.work, owner) for owner in self.owners])
        for relation in self.relations:
            relation.replace(relation.partitions, self.bits)
            rules = [rule for rule in statistics.rules if rule.relation == relation.name]
            self.credit(
                rules, [rule.produced - produced[id(rule)] for rule in rules], relation.n - before[relation.name]
            )
        statistics.iterations += max(self.iterations)
        statistics.rounds = tuple(self.iterations)
        statistics.tuples_sent = sum(self.sent)

    @staticmethod
    def credit(rules: Sequence[RuleStatistics], produced: Sequence[int], n_new: int) -> None:
        """Credit rules with new tuples by what they produced: whose came first is known to the owner alone."""
        shares = np.cumsum([0, *produced]) * n_new // max(1, sum(produced))
        for rule, added in zip(rules, np.diff(shares).tolist(), strict=True):
            rule.credit(0, 0, added)

    def work(self, owner: PartitionOwner, worker: Worker) -> None:
        """The life of one worker. What stops one stops all."""
        try:
            while self.may_begin(owner):
                owner.iterate()
                self.iterations[owner.number] += 1
                self.wake()
        except BaseException:
            self.finish()
            raise

    # ---- coordination

    def may_begin(self, owner: PartitionOwner) -> bool:
        """Wait until a worker has tuples and the policy lets it begin; return False when all is done."""
        since = None
        while not self.finished:
            self.gather(owner)
            if not owner.n_waiting:
                self.rest(owner)
                since = None
                continue
            since = since or perf_counter()
            wait = self.execution.policy.decide(self.situation(owner, perf_counter() - since))
            if wait is None:
                return True
            seen = self.standing
            self.sleep(lambda seen=seen: self.standing != seen or self.transport.has_items(owner.number), wait.seconds)
        return False

    @property
    def standing(self) -> tuple[int, ...]:
        """Return what policies look at in other workers; it changes when one of them moves on."""
        return (*self.iterations, *self.active)

    def situation(self, owner: PartitionOwner, waited_s: float) -> Situation:
        arrivals = [Arrivals(n, s.spacing) for n, s in zip(owner.arrived, owner.spacing, strict=True) if n]
        return Situation(
            owner.number, self.iterations, self.active, owner.n_waiting, waited_s, arrivals, owner.service.spacing
        )

    def rest(self, owner: PartitionOwner) -> None:
        """Be inactive until something arrives. All is done when all are inactive and all that was sent has arrived.

        Counts of inactive workers stand still, so those read by the last to become inactive are of one moment.
        """
        number = owner.number
        with self.changed:
            self.active[number] = False
            if not any(self.active) and sum(self.sent) == sum(self.received):
                self.finished = True
            self.changed.notify_all()
        self.sleep(lambda: self.transport.has_items(number))
        with self.changed:
            # Whoever comes back joins the foremost: nobody has waited for it meanwhile.
            reached = [n for n, active in zip(self.iterations, self.active, strict=True) if active]
            self.iterations[number] = max([self.iterations[number], *reached])
            self.active[number] = True

    def sleep(self, awake: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until `awake` holds, all is done, or the time has passed.

        Sleepers are counted before `awake` is looked at, and counted after the change by whoever makes one (`wake`).
        """
        with self.changed:
            self.sleepers += 1
            try:
                timeout = None if seconds is None or seconds == np.inf else seconds
                self.changed.wait_for(lambda: self.finished or awake(), timeout)
            finally:
                self.sleepers -= 1

    def wake(self) -> None:
        if self.sleepers:
            with self.changed:
                self.changed.notify_all()

    def finish(self) -> None:
        with self.changed:
            self.finished = True
            self.changed.notify_all()

    # ---- messages

    def post(self, owner: PartitionOwner, channel: int, fragment: int, rows: Columns) -> None:
        """Send rows to the owner of a fragment. Who meets a full queue drains its own first, then waits for room."""
        number, to = owner.number, fragment % self.n_workers
        self.sent[number] += rows.shape[1]
        message = (perf_counter(), channel, fragment, rows)
        while not self.transport.send(number, to, message):
            if self.finished:
                return
            if not self.gather(owner):
                self.sleep(lambda: self.transport.has_room(number, to) or self.transport.has_items(number))
        self.wake()

    def gather(self, owner: PartitionOwner) -> bool:
        """Take in what has arrived for a worker; return whether anything has."""
        messages = self.transport.receive(owner.number)
        for producer, message in messages:
            owner.gather(producer, *message)
            self.received[owner.number] += message[-1].shape[1]
        if messages:
            self.wake()
        return bool(messages)
