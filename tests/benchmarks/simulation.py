"""Runs of job traces in simulated time: workers without threads, and a scheduler whose steps take time."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from engine.schedule.dag import Dag
from engine.schedule.hybrid import Raced
from engine.schedule.scheduler import Scheduler


@dataclass(frozen=True)
class Trace:
    """Nodes that are activated at first, which children each node activates when it runs, and how long that takes."""

    dag: Dag
    initial: Sequence[int]
    activates: dict[int, Sequence[int]]
    times: dict[int, float]

    def active(self) -> set[int]:
        """All nodes that are activated in the end."""
        found, stack = set(self.initial), list(self.initial)
        while stack:
            for child in self.activates.get(stack.pop(), ()):
                if child not in found:
                    found.add(child)
                    stack.append(child)
        return found

    def work(self) -> float:
        return sum(self.times[node] for node in self.active())


class Simulation:
    """A run on P workers. The scheduler does one thing after the other, while tasks run; `clock` is how far it is.

    Events are ends of tasks, in order of time and then of their beginning.
    """

    def __init__(self, trace: Trace, scheduler: Scheduler, n_workers: int, step_s: float = 0, query_s: float = 0):
        self.trace, self.scheduler, self.n_workers = trace, scheduler, n_workers
        self.step_s, self.query_s = step_s, query_s
        self.clock = self.overhead_s = 0
        self.running: list[tuple[float, int, int]] = []
        self.order: list[int] = []
        scheduler.begin(trace.initial)
        self.charge(0, 0)
        self.assign()

    @property
    def finished(self) -> bool:
        return not self.running

    @property
    def next_event(self) -> float:
        """When the next task ends and the scheduler has time for it, or when all was done."""
        return max(self.clock, self.running[0][0]) if self.running else self.clock

    def step(self) -> None:
        """Take in the end of one task, and give idle workers others."""
        ends, _, node = heappop(self.running)
        self.clock = max(self.clock, ends)
        steps, queries = self.spent()
        self.scheduler.complete(node, self.trace.activates.get(node, ()))
        self.charge(steps, queries)
        self.assign()

    def assign(self) -> None:
        while len(self.running) < self.n_workers:
            steps, queries = self.spent()
            node = self.scheduler.next()
            self.charge(steps, queries)
            if node is None:
                return
            heappush(self.running, (self.clock + self.trace.times[node], len(self.order), node))
            self.order.append(node)

    def spent(self) -> tuple[int, int]:
        return self.scheduler.n_steps + self.scheduler.n_messages, self.scheduler.n_queries

    def charge(self, steps: int, queries: int) -> None:
        """Let the time pass that the scheduler has taken since it had spent so much."""
        now = self.spent()
        spent_s = (now[0] - steps) * self.step_s + (now[1] - queries) * self.query_s
        self.clock += spent_s
        self.overhead_s += spent_s


def simulate(trace: Trace, scheduler: Scheduler, n_workers: int, step_s: float = 0, query_s: float = 0) -> Simulation:
    """Run a trace to its end: `clock` is the makespan."""
    run = Simulation(trace, scheduler, n_workers, step_s, query_s)
    while not run.finished:
        run.step()
    return run


def race(trace: Trace, raced: Raced, n_workers: int, step_s: float = 0, query_s: float = 0) -> Fraction:
    """Return the makespan of two schedulers with half the processors each, the heuristic dropped when it is too large.

    Half of the processors simulate all of them: time passes at half the rate.
    """
    shares = raced.shares()
    runs = {scheduler: Simulation(trace, scheduler, n_workers, step_s, query_s) for scheduler in shares}
    now = at = Fraction(0)
    while True:
        shares = raced.shares()
        first = min(shares, key=lambda scheduler: runs[scheduler].next_event)
        event = Fraction(runs[first].next_event)
        now, at = now + (event - at) / shares[first], event
        if runs[first].finished:
            return now
        runs[first].step()
