"""Threads shared by strata that run side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from engine.evaluation.execution import Execution, Job, Options


class SharedWorkerPool:
    """Runs jobs for several callers at a time, each on an execution of its own.

    Who is alone has all threads, of several each has an equal part; it is looked at again before each wave of tasks.
    `planned_s` are the seconds of processor time that went into plans of jobs. `tend` is called between two iterations
    of a bootstrap; where another process is at work, too, as `is_accompanied` tells, that keeps a processor busy.
    """

    def __init__(self, threads: int, options: Options) -> None:
        self.threads, self.options, self.n_callers = threads, options, 0
        self._idle: list[Execution] = []
        self._lock = Lock()
        self.planned_s = 0.0
        self.tend: Callable[[], object] = bool
        self.is_accompanied: Callable[[], bool] = bool

    def stay_alone(self) -> None:
        """Go on with the calling thread, in a copy of the process, which has no others."""
        if self.threads > 1:
            self.threads, self.tend, self.is_accompanied = 1, bool, bool
            self._idle.clear()

    def charge_plans(self, seconds: float) -> None:
        """Add to the time that went into plans."""
        with self._lock:
            self.planned_s += seconds

    def run(self, jobs: Sequence[Job]) -> None:
        """Run jobs to their end."""
        with self._lock:
            execution = self._idle.pop() if self._idle else PoolShare(self)
            self.n_callers += 1
        try:
            execution.run(jobs, ())
        finally:
            with self._lock:
                self.n_callers -= 1
                self._idle.append(execution)

    def close(self) -> None:
        for execution in self._idle:
            execution.pool.close()


class PoolShare(Execution):
    """An execution with a part of a pool's threads."""

    def __init__(self, shared: SharedWorkerPool) -> None:
        super().__init__(shared.threads, shared.options)
        self.shared = shared

    def n_workers(self) -> int:
        return max(1, self.shared.threads // self.shared.n_callers - self.shared.is_accompanied())
