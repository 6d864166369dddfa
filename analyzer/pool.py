"""A pool of worker processes for work on files that may crash, hang or be interrupted.

Workers are started by `spawn`, with PYTHONSAFEPATH=1 so that no module of the scanned directory is imported, and with
SIGINT blocked: Ctrl-C reaches the parent only, which ends them. A worker that dies or exceeds its time is replaced;
its tasks are tried again one by one, and one that fails alone is reported as failed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

BATCH_BYTES = 128 * 1024
MAX_FALSE_STARTS = 8


@dataclass(slots=True)
class Task:
    """`arguments` are passed to the worker's function; `size` in bytes decides how tasks are batched."""

    key: Any
    arguments: tuple[Any, ...]
    size: int


@dataclass(slots=True)
class Outcome:
    """What became of a task: its `value`, or what went wrong in `error`."""

    key: Any
    value: Any = None
    error: str = ""


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    batch: list[Task] = field(default_factory=list)
    deadline: float = 0.0


class Pool:
    """Runs `function(*arguments)` for tasks in up to `jobs` processes, started as they are needed."""

    def __init__(self, function: Callable[..., Any], jobs: int, timeout_s: float) -> None:
        """`function` must be importable; one task may take up to `timeout_s` seconds."""
        self._function, self._jobs, self._timeout_s = function, jobs, timeout_s
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._retry: deque[Task] = deque()
        self._false_starts = 0  # Workers that died so far; -1 once one has answered.

    def run(self, tasks: Iterable[Task]) -> Generator[Outcome, None, None]:
        """Yield an outcome for every task, in order of completion. Tasks are drawn only as workers become free.

        Closing the generator ends the workers. Raises ChildProcessError where none of many workers ever answers.
        """
        source = iter(tasks)
        try:
            while True:
                self._hand_out(source)
                if not any(worker.batch for worker in self._workers):
                    return
                yield from self._collect()
        finally:
            self.close()

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def _hand_out(self, source: Iterator[Task]) -> None:
        while idle := self._idle():
            batch = [self._retry.popleft()] if self._retry else _batch(source)
            if not batch:
                return
            worker = idle if isinstance(idle, _Worker) else self._start()
            worker.batch, worker.deadline = batch, time.monotonic() + self._timeout_s * len(batch)
            try:
                worker.pipe.send([task.arguments for task in batch])
            except OSError:
                continue  # It died between batches: `_collect` sees its end.

    def _idle(self) -> _Worker | bool:
        """Return a worker without work, or whether one more may be started."""
        return next((worker for worker in self._workers if not worker.batch), len(self._workers) < self._jobs)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._function), daemon=True)
        with _safe_children():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _collect(self) -> Iterator[Outcome]:
        """Yield the outcomes of the batches that are done, waiting for one at least, or for a deadline."""
        busy = {worker.pipe: worker for worker in self._workers if worker.batch}
        patience_s = max(0.0, min(worker.deadline for worker in busy.values()) - time.monotonic())
        for pipe in wait(list(busy), patience_s):
            worker = busy[pipe]  # type: ignore[index]
            try:
                results = worker.pipe.recv()
            except (EOFError, OSError):
                yield from self._bury(worker, "the extractor crashed")
                continue
            self._false_starts = -1
            yield from (Outcome(task.key, *result) for task, result in zip(worker.batch, results, strict=True))
            worker.batch = []
        now = time.monotonic()
        for worker in [worker for worker in self._workers if worker.batch and worker.deadline <= now]:
            yield from self._bury(worker, f"took longer than {self._timeout_s:g} s")

    def _bury(self, worker: _Worker, reason: str) -> Iterator[Outcome]:
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)
        if self._false_starts >= 0:
            self._false_starts += 1
            if self._false_starts > MAX_FALSE_STARTS:
                raise ChildProcessError(f"{MAX_FALSE_STARTS} worker processes died before one answered")
        if len(worker.batch) == 1:
            yield Outcome(worker.batch[0].key, error=reason)
        else:
            self._retry.extend(worker.batch)


def _batch(source: Iterator[Task]) -> list[Task]:
    batch: list[Task] = []
    size = 0
    while size < BATCH_BYTES and (task := next(source, None)):
        batch.append(task)
        size += task.size
    return batch


@contextmanager
def _safe_children() -> Iterator[None]:
    """Children started here import nothing from their working directory, and never see SIGINT.

    Nor do they import our main module again, as `spawn` would have them do: it may be a script that scans.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    resource_tracker.ensure_running()  # Its start would unblock SIGINT for the child that is started with it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _work(pipe: Connection, function: Callable[..., Any]) -> None:
    """Answer batches of arguments with batches of (value, error) until the parent closes the pipe or is gone."""
    with suppress(EOFError, OSError):
        while True:
            pipe.send([_attempt(function, arguments) for arguments in pipe.recv()])


def _attempt(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    try:
        return function(*arguments), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"
