"""Running activated nodes on threads, as a scheduler decides."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Condition

from engine.schedule.dag import Dag
from engine.schedule.hybrid import Hybrid
from engine.schedule.interval_lists import IntervalList
from engine.schedule.level_based import LevelBased, LookAhead
from engine.schedule.scheduler import Scheduler

SCHEDULERS: dict[str, Callable[[Dag], Scheduler]] = {
    "level": LevelBased,
    "lbl": LookAhead,
    "interval": IntervalList,
    "hybrid": Hybrid,
}
DEFAULT = "hybrid"
LOOKS_S = 1.0
"""Seconds between a waiting thread's checks for interrupts: one that arrives as it goes to sleep does not wake it."""
Work = Callable[[int], Iterable[int]]
"""Brings a node up to date and returns the children whose input that has changed: none if its output is as it was."""


def everything(node: int) -> bool:
    """Every node pays."""
    return True


def nothing() -> None:
    """Let what is running come to its end."""


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
    one runs at a time, for what they mostly do cannot be done side by side; nor is the scheduler asked for more while
    one runs, for a search may take as long as the node. After an exception, or an interrupt of the calling thread, no
    node is begun, and `stop` is called: it may let those end soon that are running. When they have, the exception is
    raised.
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
        self.in_hand: dict[int, bool] = {}
        """The nodes that the scheduler has given and that have not ended, and whether they pay."""
        self.waiting: deque[int] = deque()
        """Those that have not begun."""
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
                if self.waiting:
                    node = self.waiting.popleft()
                    self.call_helpers()
                    return node
                if not patient or not self.in_hand:
                    break
                self.changed.wait(LOOKS_S)
            self.n_helpers -= not patient
        return None

    def draw(self) -> None:
        """Ask the scheduler for a node for each thread, as long as all pay."""
        while len(self.in_hand) < self.n_workers and all(self.in_hand.values()):
            node = self.scheduler.next()
            if node is None:
                break
            self.in_hand[node] = self.pays(node)
            self.waiting.append(node)

    def call_helpers(self) -> None:
        """See that for each node that waits there is a thread that runs none, or is on its way."""
        n_running = len(self.in_hand) - len(self.waiting)
        while 1 + self.n_helpers - n_running < len(self.waiting):
            self.n_helpers += 1
            self.pool.submit(self.help)

    def complete(self, node: int, activated: Iterable[int]) -> None:
        with self.changed:
            self.scheduler.complete(node, activated)
            del self.in_hand[node]
            self.ended.append(node)
            self.changed.notify()

    def fail(self, error: BaseException) -> None:
        """Keep the first error, and let no other node begin."""
        with self.changed:
            if self.error is None:
                self.error = error
                self.stop()
            self.changed.notify()
