"""Who makes an entry of the fact cache, when scans run side by side: equal content is extracted once.

A claim is a lock on one byte of a file, at a place that the entry's key determines. It is given up when its process
ends, however that happens. Who waits for a claim should hold none, lest two wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import suppress
from pathlib import Path


class Claims:
    """Claims on keys of the cache in a directory. Where nothing can be locked, everyone may make everything."""

    def __init__(self, directory: Path) -> None:
        self._file = -1
        with suppress(OSError):
            directory.mkdir(parents=True, exist_ok=True)
            self._file = os.open(directory / "claims", os.O_RDWR | os.O_CREAT, 0o644)

    def claim(self, key: tuple[str, ...]) -> bool:
        """Claim a key; return False if another process has."""
        try:
            self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, key)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            pass
        return True

    def release(self, key: tuple[str, ...]) -> None:
        with suppress(OSError):
            self._lock(fcntl.LOCK_UN, key)

    def wait(self, key: tuple[str, ...]) -> None:
        """Return when no other process claims a key."""
        with suppress(OSError):
            self._lock(fcntl.LOCK_EX, key)
        self.release(key)

    def close(self) -> None:
        """Release all claims."""
        with suppress(OSError):
            os.close(self._file)
        self._file = -1

    def _lock(self, operation: int, key: tuple[str, ...]) -> None:
        place = int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=7).digest())
        if self._file < 0:
            raise OSError("there is no file to lock")
        fcntl.lockf(self._file, operation, 1, place)
