"""The policies on simulated workers of different speeds, without threads or sleeping.

Connected components by least labels (DCDatalog, Query 2) on a graph whose vertices are dealt out among workers. An
iteration takes time for each arc that leaves a vertex of the delta, and a message arrives when its iteration ends.
"""

import heapq
import random
from itertools import count
from math import inf

import pytest

from engine.evaluation.coordination_policy import Arrivals, Dws, Global, Moments, Situation, Ssp

TICK = 1e-6
"""An alarm rings a little late, so that rounding cannot make it ring again and again."""


class Worker:
    """One simulated worker: the labels of its vertices, its delta, and what it knows of arrivals and service."""

    def __init__(self, vertices, n_workers):
        self.labels = {v: v for v in vertices}
        self.delta = set(vertices)
        self.inbox = []
        self.busy = False
        self.ready_since = None
        self.alarm = inf
        self.arrived = [0] * n_workers
        self.heard = [0.0] * n_workers
        self.spacing = [Moments() for _ in range(n_workers)]
        self.service = Moments()

    def gather(self, messages):
        for vertex, label in messages.items():
            if label < self.labels[vertex]:
                self.labels[vertex] = label
                self.delta.add(vertex)


class Simulation:
    """Runs a policy; `seconds[i]` is what an arc costs worker i, `fixed_s` what an iteration costs anybody."""

    def __init__(self, policy, arcs, owner, seconds, fixed_s=1.0):
        self.policy, self.owner, self.seconds, self.fixed_s = policy, owner, seconds, fixed_s
        self.neighbours = {v: [] for v in owner}
        for x, y in arcs:
            self.neighbours[x].append(y)
        n = len(seconds)
        self.workers = [Worker([v for v in owner if owner[v] == i], n) for i in range(n)]
        self.iterations, self.active = [0] * n, [True] * n
        self.now, self.events, self.order = 0.0, [], count()

    def run(self):
        """Return the time at which nobody has anything left to do."""
        end = 0.0
        self.ask_all()
        while self.events:
            self.now, _, action, i = heapq.heappop(self.events)
            if action == self.finish:
                end = self.now
            action(i)
            self.ask_all()
        return end

    def labels(self):
        return {v: label for worker in self.workers for v, label in worker.labels.items()}

    def ask_all(self):
        """Let everybody decide; again, when somebody has become active or inactive, as others may wait for that."""
        before = None
        while before != self.active:
            before = list(self.active)
            for i in range(len(self.workers)):
                self.ask(i)

    def ask(self, i):
        """Let a worker that is not busy gather its messages, then begin, wait or become inactive."""
        worker = self.workers[i]
        if worker.busy:
            return
        for producer, messages in worker.inbox:
            worker.arrived[producer] += len(messages)
            worker.gather(messages)
        worker.inbox = []
        if not worker.delta:
            self.active[i] = False
            return
        if not self.active[i]:
            self.active[i] = True
            self.iterations[i] = max(n for n, active in zip(self.iterations, self.active, strict=True) if active)
        if worker.ready_since is None:
            worker.ready_since = self.now
        wait = self.policy.decide(self.situation(i))
        if wait is None:
            self.begin(i)
        elif self.now + wait.seconds < worker.alarm:
            worker.alarm = self.now + wait.seconds
            self.schedule(wait.seconds + TICK, self.ring, i)

    def situation(self, i):
        worker = self.workers[i]
        arrivals = [Arrivals(n, s.spacing) for n, s in zip(worker.arrived, worker.spacing, strict=True) if n]
        waited = self.now - worker.ready_since
        return Situation(i, self.iterations, self.active, len(worker.delta), waited, arrivals, worker.service.spacing)

    def begin(self, i):
        worker = self.workers[i]
        elapsed = self.fixed_s + self.seconds[i] * sum(len(self.neighbours[v]) for v in worker.delta)
        worker.service.add(len(worker.delta), elapsed)
        worker.busy, worker.ready_since, worker.arrived = True, None, [0] * len(self.workers)
        worker.taken, worker.delta = worker.delta, set()
        worker.sent = [{} for _ in self.workers]
        for v in worker.taken:
            for w in self.neighbours[v]:
                out = worker.sent[self.owner[w]]
                out[w] = min(out.get(w, w), worker.labels[v])
        self.schedule(elapsed, self.finish, i)

    def ring(self, i):
        self.workers[i].alarm = inf

    def finish(self, i):
        worker = self.workers[i]
        worker.busy = False
        self.iterations[i] += 1
        for j, messages in enumerate(worker.sent):
            if j == i:
                worker.gather(messages)
            elif messages:
                to = self.workers[j]
                to.spacing[i].add(len(messages), self.now - to.heard[i])
                to.heard[i] = self.now
                to.inbox.append((i, messages))

    def schedule(self, seconds, action, i):
        heapq.heappush(self.events, (self.now + seconds, next(self.order), action, i))


def components(arcs, vertices):
    """The least vertex of each vertex's component, by merging sets."""
    of = {v: {v} for v in vertices}
    for x, y in arcs:
        merged = of[x] | of[y]
        of |= dict.fromkeys(merged, merged)
    return {v: min(members) for v, members in of.items()}


N_VERTICES, N_EDGES = 200, 300
SHARES = (1, 3, 3)
"""Workers own vertices in these proportions, as in Figure 3: the first has less to do than the others."""
SPEEDS = (1.0, 2.0, 4.0)
"""Seconds per arc: the first worker is four times as fast as the last."""


def random_graph(seed):
    """300 edges between pairs of 200 vertices, both ways, and the owner of each vertex."""
    rng = random.Random(seed)
    pairs = [rng.sample(range(N_VERTICES), 2) for _ in range(N_EDGES)]
    owner = {v: rng.choices(range(len(SHARES)), SHARES)[0] for v in range(N_VERTICES)}
    return [(x, y) for a, b in pairs for x, y in ((a, b), (b, a))], owner


def makespan(policy, seed, speeds=SPEEDS):
    arcs, owner = random_graph(seed)
    simulation = Simulation(policy, arcs, owner, speeds)
    end = simulation.run()
    assert simulation.labels() == components(arcs, owner)
    return end


POLICIES = [Global(), Ssp(1), Ssp(3), Dws()]


@pytest.mark.parametrize("speeds", [(1.0, 1.0, 1.0), SPEEDS, (1.0, 1.0, 6.0)])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_every_policy_ends_with_the_components(policy, speeds):
    assert makespan(policy, seed=0, speeds=speeds) > 0


def test_dws_ends_before_ssp_and_ssp_before_global():
    """The order of Figure 3 (128, 88 and 67 time units there), on `random_graph(0)`."""
    with_barriers, stale, dynamic = (makespan(policy, seed=0) for policy in (Global(), Ssp(1), Dws()))
    assert with_barriers > stale > dynamic


def test_the_order_holds_for_the_sum_over_many_graphs():
    totals = [sum(makespan(policy, seed) for seed in range(20)) for policy in (Global(), Ssp(1), Ssp(3), Dws())]
    assert totals == sorted(totals, reverse=True)


def test_slack_zero_is_a_barrier():
    assert makespan(Ssp(0), seed=3) == makespan(Global(), seed=3)


def test_a_simulation_is_repeatable():
    assert makespan(Dws(), seed=5) == makespan(Dws(), seed=5)
