"""Running activated nodes on threads, as a scheduler decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

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


def run(scheduler: Scheduler, active: Iterable[int], work: Work, n_workers: int) -> list[int]:
    """Run the active nodes, and those that they activate, on n threads; return them in the order in which they ended.

    The scheduler is asked and told by the calling thread alone. With one worker the nodes run there too. After an
    exception no node is begun; it is raised when those that are running have ended.
    """
    scheduler.begin(active)
    if n_workers == 1:
        return list(_in_turn(scheduler, work))
    with ThreadPoolExecutor(n_workers) as pool:
        return list(_side_by_side(scheduler, work, pool, n_workers))


def _in_turn(scheduler: Scheduler, work: Work) -> Iterator[int]:
    while (node := scheduler.next()) is not None:
        scheduler.complete(node, work(node))
        yield node


def _side_by_side(scheduler: Scheduler, work: Work, pool: ThreadPoolExecutor, n_workers: int) -> Iterator[int]:
    running: dict[Future[Iterable[int]], int] = {}
    while True:
        while len(running) < n_workers and (node := scheduler.next()) is not None:
            running[pool.submit(work, node)] = node
        if not running:
            return
        ended = wait(running, return_when=FIRST_COMPLETED).done
        for future in sorted(ended, key=running.__getitem__):
            node = running.pop(future)
            scheduler.complete(node, future.result())
            yield node
