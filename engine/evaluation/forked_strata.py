"""A copy of this process that evaluates some strata, and hands them over a few milliseconds' worth at a time.

The copy begins with all relations there are, at no cost: a fork shares memory until one side writes to it. What it
derives comes back through a file in memory without a path, which nobody else can write, and a pipe says where in it.
Symbols that it makes have other ids there. A stratum that a copy does not hand over is evaluated here.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from engine.database import Columns
from engine.evaluation.translated_ids import NestedTooDeep, NewValues, TranslatedIds
from engine.operating_system import end_child, end_with, fork, has_exited, is_readable, memory_file, read_at, write_at
from engine.result import StratumStatistics
from engine.storage.memory import LEDGER

NOTICE = struct.Struct("<qq")
"""Where finished strata stand in the file: offset and length in bytes."""


class Finished(NamedTuple):
    """Strata with their costs, the columns of their relations that have rows, and the symbols and records made."""

    strata: Mapping[int, StratumStatistics]
    relations: Mapping[str, Columns]
    values: NewValues


class ForkedStrata:
    """The copy, the `strata` that it has yet to hand over, and the ids here of what it makes."""

    def __init__(
        self, strata: Sequence[int], evaluate: Callable[[Sequence[int]], Iterator[Finished]], ids: TranslatedIds
    ) -> None:
        """Start it. `evaluate` is called there, and evaluates the strata in turn; all its exceptions end the copy.

        Raises OSError.
        """
        self.strata, self.ids = list(strata), ids
        with ExitStack() as opened:
            self._file = memory_file("strata")
            opened.callback(os.close, self._file)
            self._notices, notify = os.pipe()
            opened.callback(os.close, notify)
            opened.callback(os.close, self._notices)
            parent = os.getpid()
            self._process = fork()
            if not self._process:
                self._work(parent, notify, evaluate)
            opened.pop_all()
        os.close(notify)

    def _work(self, parent: int, notify: int, evaluate: Callable[[Sequence[int]], Iterator[Finished]]) -> None:
        """Evaluate the strata, in the copy, and end it."""
        status = 1
        try:
            for interrupt in (signal.SIGINT, signal.SIGTERM):
                signal.signal(interrupt, signal.SIG_DFL)
            end_with(parent)
            LEDGER.begin_copy()
            at = 0
            for finished in evaluate(self.strata):
                data = pickle.dumps(finished, pickle.HIGHEST_PROTOCOL)
                write_at(self._file, at, data)
                os.write(notify, NOTICE.pack(at, len(data)))
                at += len(data)
            status = 0
        finally:
            os._exit(status)

    def receive(self, wait: bool) -> Finished | None:
        """Return the next strata handed over, with the copy's ids.

        None if there is none yet, where the caller does not wait for one, or none will come any more.
        """
        if not is_readable(self._notices, None if wait else 0):
            return None
        notice = os.read(self._notices, NOTICE.size)
        if len(notice) < NOTICE.size:
            self.close()
            return None
        at, n_bytes = NOTICE.unpack(notice)
        finished: Finished = pickle.loads(read_at(self._file, at, n_bytes))
        try:
            self.ids.learn(finished.values)
        except NestedTooDeep:
            self.close()
            return None
        self.strata = [stratum for stratum in self.strata if stratum not in finished.strata]
        return finished

    @property
    def is_running(self) -> bool:
        return self._notices >= 0

    def is_at_work(self) -> bool:
        """Return False when it has ended, whether or not all that it has handed over has been received."""
        return self.is_running and not has_exited(self._process)

    def close(self) -> None:
        """End the copy."""
        if self.is_running:
            end_child(self._process)
            os.close(self._notices)
            os.close(self._file)
            self._notices = -1
