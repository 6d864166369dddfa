"""A lock on a file: one process holds it at a time, others wait for it, but not longer than they say.

The system lets go of it when its holder ends, in whatever way.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from threading import Thread
from time import monotonic


def lock(path: Path, wait_s: float, waiting: Callable[[], None] = lambda: None) -> int | None:
    """Return a descriptor that holds the lock until it is closed, or None after so many seconds.

    `waiting` is called if the lock is not free. The file may be removed by who holds it: the lock is that of the file
    of this name. Raises OSError.
    """
    limit_s = monotonic() + wait_s
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not is_free(descriptor):
            waiting()
            if not wait(descriptor, limit_s - monotonic()):
                return None
        if is_at(path, descriptor):
            return descriptor
        os.close(descriptor)


def is_free(descriptor: int) -> bool:
    """Take the lock if nobody holds it; return whether that is so. Raises OSError; the file is closed then."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        os.close(descriptor)
        raise
    return True


def wait(descriptor: int, wait_s: float) -> bool:
    """Wait for the lock; return whether it was taken. If not, the file is closed, as soon as it can be.

    flock(2) waits without end. So a thread waits; a lock that it is given when nobody wants it any more is let go.
    """
    taken: Future[None] = Future()

    def take() -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            taken.set_result(None)
        except InvalidStateError:
            os.close(descriptor)

    Thread(target=take, daemon=True).start()
    try:
        taken.result(max(wait_s, 0.0))
    except TimeoutError:
        return not taken.cancel()
    except BaseException:
        taken.cancel()
        raise
    return True


def is_at(path: Path, descriptor: int) -> bool:
    """Whether the file of this name is the open one."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
