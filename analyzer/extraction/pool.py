"""A pool of worker processes for work on files that may crash, hang or be interrupted.

Workers are started by `spawn`, with PYTHONSAFEPATH=1 so that no module of the scanned directory is imported, and with
SIGINT blocked: Ctrl-C reaches the parent only, which ends them. A worker takes a batch of tasks and answers each when
it is done, so that the parent knows which one it is at, and what processor time the worker had used before it. A task
has a limit in processor time, which does not depend on how busy the machine is; one that waits instead of working ends
at WAITING times as much on the clock. One over its limit fails, and its worker is replaced. One at which a worker
died is tried again by itself, and fails if that happens again. The rest of the batch goes to other workers.

Workers are confined (`sandbox`). Answers are bytes and no pickles: a worker that a file has taken over cannot make its
parent run code.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

import psutil

from analyzer.extraction import sandbox
from engine.operating_system import interrupts_blocked

BATCH_BYTES = 128 * 1024
WAITING = 10
"""A task may take this many times its limit in wall-clock time."""
START_S = 120.0
"""Seconds that a worker may take to start."""
MAX_FALSE_STARTS = 8
# An answer: what follows is a value, an error or nothing as the worker has only started; its processor time so far.
_HEADER = struct.Struct("<cd")
_STARTED, _VALUE, _ERROR = b"s", b"v", b"e"


@dataclass(slots=True)
class Task:
    """`arguments` are passed to the worker's function; `size` in bytes decides how tasks are batched."""

    key: Any
    arguments: tuple[Any, ...]
    size: int


@dataclass(slots=True)
class Outcome:
    """The result of a task: its `value`, or an `error` message."""

    key: Any
    value: bytes = b""
    error: str = ""


@dataclass(slots=True)
class _Worker:
    """A process with its unfinished tasks, the first of which is running; `alone` if that is to blame for its death.

    It is if it was the only one, unless the worker has `waited` between two runs and may have died before it.
    `since_s` is the time when that task began, `used_s` the worker's processor time by then.
    """

    process: multiprocessing.process.BaseProcess
    pipe: Connection
    batch: deque[Task] = field(default_factory=deque)
    alone: bool = False
    waited: bool = False
    started: bool = False
    since_s: float = field(default_factory=time.monotonic)
    used_s: float = 0.0

    def give(self, batch: list[Task]) -> None:
        self.batch.extend(batch)
        self.alone, self.waited = len(batch) == 1 and not self.waited, False
        self.since_s = time.monotonic()
        with suppress(OSError):  # It died between batches: `_collect` sees its end.
            self.pipe.send([task.arguments for task in batch])

    def left_s(self, limit_s: float) -> float:
        """Return the minimum time until the running task can reach its limit; 0 if it has."""
        by_clock_s = time.monotonic() - self.since_s
        if not self.started:
            return max(0.0, START_S - by_clock_s)
        if by_clock_s < limit_s:
            return limit_s - by_clock_s
        if by_clock_s >= WAITING * limit_s:
            return 0.0
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        left_s = limit_s - (times.user + times.system - self.used_s)
        # The system counts in hundredths of a second.
        return max(0.01, left_s) if left_s > 0 else 0.0


class Pool:
    """Runs `function(*arguments)`, which returns bytes, for tasks in up to `jobs` processes, started as needed."""

    def __init__(self, function: Callable[..., bytes], jobs: int, limit_s: float, ends_s: float = inf) -> None:
        """`function` must be importable; one task may take up to `limit_s` seconds of processor time.

        What is not done at the moment `ends_s` of the monotonic clock fails.
        """
        self._function, self._jobs, self._limit_s, self._ends_s = function, jobs, limit_s, ends_s
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._suspects: deque[Task] = deque()
        self._returned: deque[Task] = deque()
        self._false_starts = 0

    def run(self, tasks: Iterable[Task]) -> Generator[Outcome, None, None]:
        """Yield an outcome for every task, in order of completion. Tasks are drawn only as workers become free.

        Closing the generator ends the workers that are at work; others wait for more until the pool is closed. Raises
        ChildProcessError where MAX_FALSE_STARTS workers die that have not even started.
        """
        source = iter(tasks)
        self._false_starts = 0
        for worker in self._workers:
            worker.waited = True
        try:
            while time.monotonic() < self._ends_s:
                self._hand_out(source)
                if not any(worker.batch for worker in self._workers):
                    return
                yield from self._collect()
            yield from self._give_up(source)
        finally:
            self._kill([worker for worker in self._workers if worker.batch])
            self._suspects.clear()
            self._returned.clear()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start a worker, unless there is one, for the tasks to come."""
        if not self._workers:
            self._start()

    def close(self) -> None:
        """Kill the workers."""
        self._kill(list(self._workers))

    def _kill(self, workers: Sequence[_Worker]) -> None:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()
            worker.pipe.close()
            self._workers.remove(worker)

    def _hand_out(self, source: Iterator[Task]) -> None:
        while idle := self._idle():
            batch = [self._suspects.popleft()] if self._suspects else _batch(chain(self._take_returned(), source))
            if not batch:
                return
            worker = idle if isinstance(idle, _Worker) else self._start()
            worker.give(batch)

    def _take_returned(self) -> Iterator[Task]:
        while self._returned:
            yield self._returned.popleft()

    def _idle(self) -> _Worker | bool:
        """Return an idle worker; if there is none, True if one more may be started, else False."""
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
        """Yield the outcomes of the tasks that are done, waiting for one at least, or until one may be at its limit."""
        busy = {worker.pipe: worker for worker in self._workers if worker.batch}
        patience_s = min(worker.left_s(self._limit_s) for worker in busy.values())
        for pipe in wait(list(busy), min(patience_s, max(0.0, self._ends_s - time.monotonic()))):
            yield from self._receive(busy[pipe])  # type: ignore[index]  # It is given pipes alone.
        for worker in [worker for worker in self._workers if worker.batch]:
            if not worker.left_s(self._limit_s) and not worker.pipe.poll():
                yield from self._end(worker)

    def _give_up(self, source: Iterator[Task]) -> Iterator[Outcome]:
        """Yield a failure for each remaining task."""
        begun = [task for worker in self._workers for task in worker.batch]
        self.close()
        for task in chain(begun, self._suspects, self._returned, source):
            yield Outcome(task.key, error="the scan timed out")

    def _receive(self, worker: _Worker) -> Iterator[Outcome]:
        """Yield the outcomes that a worker has sent."""
        try:
            while worker.batch and worker.pipe.poll():
                answer = worker.pipe.recv_bytes()
                kind, used_s = _HEADER.unpack_from(answer)
                is_over = used_s - worker.used_s > self._limit_s
                worker.used_s = used_s
                worker.since_s = time.monotonic()
                content = answer[_HEADER.size :]
                if kind == _STARTED:
                    worker.started = True
                elif kind == _VALUE and is_over:  # It ended before anybody looked.
                    yield self._over_limit(worker.batch.popleft())
                elif kind == _VALUE:
                    yield Outcome(worker.batch.popleft().key, content)
                elif kind == _ERROR:
                    yield Outcome(worker.batch.popleft().key, error=content.decode(errors="replace"))
                else:
                    raise EOFError
        except (EOFError, OSError, struct.error):
            yield from self._bury(worker)

    def _end(self, worker: _Worker) -> Iterator[Outcome]:
        """End a worker whose task is at its limit."""
        if not worker.started:
            yield from self._bury(worker)
            return
        yield self._over_limit(worker.batch.popleft())
        self._remove(worker)

    def _over_limit(self, task: Task) -> Outcome:
        return Outcome(task.key, error=f"took longer than {self._limit_s:g} s")

    def _bury(self, worker: _Worker) -> Iterator[Outcome]:
        """Replace a worker that died. Its task is retried alone, or fails if it was alone already."""
        if not worker.started:
            self._false_starts += 1
            if self._false_starts >= MAX_FALSE_STARTS:
                raise ChildProcessError(f"{MAX_FALSE_STARTS} worker processes died before they had started")
        elif worker.alone:
            yield Outcome(worker.batch.popleft().key, error="the extractor crashed")
        else:
            self._suspects.append(worker.batch.popleft())
        self._remove(worker)

    def _remove(self, worker: _Worker) -> None:
        """Kill a worker, and return the tasks that it has not begun to the queue."""
        self._kill([worker])
        self._returned.extend(worker.batch)


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
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        with interrupts_blocked():
            yield
    finally:
        sys.modules["__main__"] = main
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _work(pipe: Connection, function: Callable[..., bytes]) -> None:
    """Answer arguments with values or errors until the parent closes the pipe or is gone.

    Garbage is collected between batches only: within a file, nearly all objects live until it is done.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Also where it could not be blocked.
    sandbox.confine()
    gc.freeze()
    gc.disable()
    with suppress(EOFError, OSError):
        _answer(pipe, _STARTED, b"")
        while True:
            for arguments in pipe.recv():
                _answer(pipe, *_attempt(function, arguments))
            gc.collect()


def _answer(pipe: Connection, kind: bytes, content: bytes) -> None:
    pipe.send_bytes(_HEADER.pack(kind, time.process_time()) + content)


def _attempt(function: Callable[..., bytes], arguments: tuple[Any, ...]) -> tuple[bytes, bytes]:
    try:
        return _VALUE, function(*arguments)
    except Exception as error:
        return _ERROR, f"{type(error).__name__}: {error}".encode(errors="replace")
