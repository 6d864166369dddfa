"""Settings of the process that some of its threads need at times: changed with the first, put back with the last.

A thread that put back what it had found would put back what another one had set.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from threading import Lock

from engine.operating_system import after_fork


class ProcessSetting:
    """Holds a change of the process in `with` blocks, which may nest and overlap in many threads.

    `change` makes it, and returns what undoes it.
    """

    def __init__(self, change: Callable[[], Callable[[], object]]) -> None:
        self._change, self._users, self._lock = change, 0, Lock()
        self._undo: Callable[[], object]
        after_fork(self._put_back)

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._undo = self._change()
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._undo()

    def _put_back(self) -> None:
        """Undo in a copy of the process what only other threads need, which it has not got."""
        if self._users:
            self._undo()
        self._users, self._lock = 0, Lock()


def collector_off() -> ProcessSetting:
    """The garbage collector does not run by itself."""

    def change() -> Callable[[], object]:
        was_on = gc.isenabled()
        gc.disable()
        return gc.enable if was_on else gc.disable

    return ProcessSetting(change)


def frames_at_least(n: int) -> ProcessSetting:
    """Calls may nest so deep."""

    def change() -> Callable[[], object]:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, n))
        return lambda: sys.setrecursionlimit(limit)

    return ProcessSetting(change)
