"""Running activated nodes on threads, as a scheduler decides."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Condition

from engine.schedule.dag import Dag
from engine.schedule.hybrid import Hybrid
from engine.schedule.intervals import IntervalList
from engine.schedule.levels import LevelBased, LookAhead
from engine.schedule.scheduler import Scheduler

SCHEDULERS: dict[str, Callable[[Dag], Scheduler]] = {
    "level": LevelBased,
    "lbl": LookAhead,
    "interval": IntervalList,
    "hybrid": Hybrid,
}
DEFAULT = "hybrid"
Work = Callable[[int], Iterable[int]]
"""Brings a node up to date and returns the children whose input that has changed: none if its output is as it was."""


def everything(node: int) -> bool:
    """Every node pays."""
    return True


def nothing() -> None:
    """What is running comes to its end."""


def run(
    scheduler: Scheduler,
    active: Iterable[int],
    work: Work,
    n_workers: int,
    pays: Callable[[int], bool] = everything,
    stop: Callable[[], None] = nothing,
) -> list[int]:
    """Run the active nodes, and those that they activate, on n threads; return them in the order in which they ended.

    The calling thread is one of them; others are there only while several nodes may run. Of the nodes that do not pay,
    one runs at a time: what they mostly do cannot be done side by side. After an exception, or an interrupt of the
    calling thread, no node is begun, and `stop` is called: it may let those end soon that are running. When they have,
    the exception is raised.
    """
    scheduler.begin(active)
    with ThreadPoolExecutor(max(1, n_workers - 1)) as pool:
        workers = Workers(scheduler, work, n_workers, pays, stop, pool)
        workers.lead()
    if workers.error is not None:
        raise workers.error
    return workers.ended


class Workers:
    """The threads of one run, and the nodes in their hands: as many at most, running or about to."""

    def __init__(
        self,
        scheduler: Scheduler,
        work: Work,
        n_workers: int,
        pays: Callable[[int], bool],
        stop: Callable[[], None],
        pool: ThreadPoolExecutor,
    ) -> None:
        self.scheduler, self.work, self.pays, self.stop = scheduler, work, pays, stop
        self.pool, self.n_workers, self.n_helpers = pool, n_workers, 0
        self.changed = Condition()
        self.waiting: dict[bool, deque[int]] = {False: deque(), True: deque()}
        """The nodes that have not begun, by whether they pay."""
        self.running: dict[int, bool] = {}
        self.ended: list[int] = []
        self.error: BaseException | None = None

    def lead(self) -> None:
        """Run nodes until none is left and none is running that could activate more."""
        try:
            while (node := self.take(patient=True)) is not None:
                self.complete(node, self.work(node))
        except BaseException as error:
            self.fail(error)

    def help(self) -> None:
        """Run nodes as long as there are any that may begin."""
        try:
            while (node := self.take(patient=False)) is not None:
                self.complete(node, self.work(node))
        except BaseException as error:
            self.fail(error)

    def take(self, patient: bool) -> int | None:
        """Return a node that may begin. Who is patient waits for one while others run; a helper is gone with None."""
        with self.changed:
            while self.error is None:
                self.draw()
                node = self.pick()
                if node is not None:
                    self.call_helpers()
                    return node
                if not patient or not self.running:
                    break
                self.changed.wait()
            self.n_helpers -= not patient
        return None

    def draw(self) -> None:
        """Ask the scheduler for as many nodes as there are hands for."""
        while len(self.running) + sum(map(len, self.waiting.values())) < self.n_workers:
            node = self.scheduler.next()
            if node is None:
                break
            self.waiting[self.n_workers > 1 and self.pays(node)].append(node)

    def pick(self) -> int | None:
        for pays in self.could_begin():
            node = self.waiting[pays].popleft()
            self.running[node] = pays
            return node
        return None

    def could_begin(self) -> list[bool]:
        """Of which kinds, paying or not, a node could begin now."""
        return [pays for pays, nodes in self.waiting.items() if nodes and (pays or all(self.running.values()))]

    def call_helpers(self) -> None:
        """See that for each node that could begin there is a thread that runs none, or is on its way."""
        wanted = len(self.waiting[True]) + (False in self.could_begin())
        while 1 + self.n_helpers - len(self.running) < wanted and self.n_helpers < self.n_workers - 1:
            self.n_helpers += 1
            self.pool.submit(self.help)

    def complete(self, node: int, activated: Iterable[int]) -> None:
        with self.changed:
            self.scheduler.complete(node, activated)
            del self.running[node]
            self.ended.append(node)
            self.changed.notify()

    def fail(self, error: BaseException) -> None:
        """Keep the first error, and let no other node begin."""
        with self.changed:
            if self.error is None:
                self.error = error
                self.stop()
            self.changed.notify()
