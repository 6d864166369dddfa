"""A copy of this process that evaluates some strata, and hands them over a few milliseconds' worth at a time.

The copy begins with all relations there are, at no cost: a fork shares memory until one side writes to it. When it is
through with its strata it can be given more, together with what they read and this process has derived since.
Symbols that one side makes have other ids on the other. A stratum that a copy does not hand over is evaluated here.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from engine.evaluation.translated_ids import NestedTooDeep, NewValues, TranslatedIds
from engine.evaluation.value_channel import ValueChannel
from engine.operating_system import end_child, end_with, fork, has_exited
from engine.storage.memory import LEDGER


class Task(NamedTuple):
    """Strata to evaluate, the tuples of relations that the copy lacks for them, and the symbols and records made.

    `done` are strata that have been evaluated here since the last task.
    """

    strata: Sequence[int]
    held: Mapping[str, Any]
    values: NewValues
    done: Sequence[int]


class Finished(NamedTuple):
    """Strata with their results, the tuples of their relations, and the symbols and records made."""

    strata: Mapping[int, Any]
    held: Mapping[str, Any]
    values: NewValues


class ForkedStrata:
    """The copy, the `strata` that it has yet to hand over, and the ids of what the other side makes, on either side."""

    def __init__(
        self, strata: Sequence[int], evaluate: Callable[[ForkedStrata], Iterator[Finished]], ids: TranslatedIds
    ) -> None:
        """Start it. `evaluate` is called there; all its exceptions end the copy. Raises OSError."""
        self.strata, self.ids, self.is_running = list(strata), ids, True
        with ExitStack() as opened:
            self._found, self._asked = ValueChannel(), ValueChannel()
            opened.callback(self._found.close)
            opened.callback(self._asked.close)
            parent = os.getpid()
            self._process = fork()
            if not self._process:
                self._work(parent, evaluate)
            opened.pop_all()
        self._found.keep_reading()
        self._asked.keep_writing()

    # ---- in the copy

    def _work(self, parent: int, evaluate: Callable[[ForkedStrata], Iterator[Finished]]) -> None:
        """Evaluate strata, and end."""
        status = 1
        try:
            for interrupt in (signal.SIGINT, signal.SIGTERM):
                signal.signal(interrupt, signal.SIG_DFL)
            end_with(parent)
            LEDGER.begin_copy()
            self._found.keep_writing()
            self._asked.keep_reading()
            for finished in evaluate(self):
                self._found.send(finished)
            status = 0
        finally:
            os._exit(status)

    def tasks(self) -> Iterator[Task]:
        """Yield what the copy is given later on, and wait for it. Raises EOFError, NestedTooDeep."""
        while True:
            task: Task = self._asked.receive(wait=True)
            self.ids.learn(task.values)
            yield task

    # ---- here

    @property
    def is_idle(self) -> bool:
        """True if it waits for more."""
        return self.is_running and not self.strata

    def go_on(self, task: Task) -> None:
        """Give it more."""
        self.strata += task.strata
        try:
            self._asked.send(task)
        except OSError:
            self.close()

    def receive(self, wait: bool) -> Finished | None:
        """Return the next strata handed over, with the copy's ids.

        None if there is none yet, where the caller does not wait for one, or none will come any more.
        """
        if not self.is_running:
            return None
        try:
            finished: Finished | None = self._found.receive(wait and not self.is_idle)
            if finished is not None:
                self.ids.learn(finished.values)
                self.strata = [stratum for stratum in self.strata if stratum not in finished.strata]
        except (EOFError, NestedTooDeep):
            self.close()
            return None
        return finished

    def is_at_work(self) -> bool:
        """Return False when it has ended or waits, whether or not all that it has handed over has been received."""
        return self.is_running and bool(self.strata) and not has_exited(self._process)

    def close(self) -> None:
        """End the copy."""
        if self.is_running:
            self.is_running = False
            end_child(self._process)
            self._found.close()
            self._asked.close()
