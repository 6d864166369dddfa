"""A lock on a file: one process holds it at a time, others wait for it, but not longer than they say.

The system lets go of it when its holder ends, in whatever way. Where files cannot be locked at all, the file names its
holder instead, and is taken from one that is gone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


def lock(path: Path, wait_s: float, waiting: Callable[[], None] = lambda: None) -> BaseFileLock | None:
    """Return the lock, held until it is released, or None after so many seconds.

    `waiting` is called if the lock is not free. The file may be removed by who holds it: the lock is that of the file
    of this name. Raises OSError.
    """
    from filelock import FileLock, Timeout

    held = FileLock(path, thread_local=False)
    try:
        held.acquire(blocking=False)
    except Timeout:
        waiting()
        try:
            held.acquire(timeout=max(wait_s, 0.0))
        except Timeout:
            return None
    return held
