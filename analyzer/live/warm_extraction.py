"""Extraction for a process that lives on: workers that wait for the next text, and facts that stay in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Iterable
from pathlib import Path
from threading import Lock

import facts
from analyzer.extraction import worker
from analyzer.extraction.fact_cache import FactCache
from analyzer.extraction.machine import ThisMachine
from analyzer.extraction.pool import Outcome, Pool, Task

MOST_BYTES = 64 << 20
"""Maximum size of the facts that are kept in memory."""


class WarmMachine(ThisMachine):
    """This machine with workers that are started once. Each works on the files of one directory only."""

    def __init__(self, jobs: int, timeout_s: float) -> None:
        super().__init__(jobs)
        self.made_for = jobs, timeout_s
        self._pool = Pool(worker.extract, jobs, timeout_s)
        self._pool.start()

    def extract(self, tasks: Iterable[Task], timeout_s: float) -> Generator[Outcome, None, None]:
        yield from self._pool.run(tasks)

    def close(self) -> None:
        self._pool.close()


class RecentFacts(FactCache):
    """The facts used last, in memory, before those in the state directory; those of `unsaved` texts stay there."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, facts.version())
        self.unsaved: set[str] = set()
        self._recent: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._n_bytes, self._lock = 0, Lock()

    def load(self, language: str, blob: str) -> bytes | None:
        key = language, blob
        with self._lock:
            if key in self._recent:
                self._recent.move_to_end(key)
                return self._recent[key]
        return super().load(language, blob)

    def save(self, language: str, blob: str, payload: bytes) -> None:
        self._remember((language, blob), payload)
        if blob not in self.unsaved:
            super().save(language, blob, payload)

    def _remember(self, key: tuple[str, str], payload: bytes) -> None:
        with self._lock:
            self._n_bytes += len(payload) - len(self._recent.pop(key, b""))
            self._recent[key] = payload
            while self._n_bytes > MOST_BYTES and len(self._recent) > 1:
                _, dropped = self._recent.popitem(last=False)
                self._n_bytes -= len(dropped)
