"""Claims on fact-cache entries: concurrent scans extract equal content once.

A claim is a lock on one byte of a file, at an offset determined by the entry's key. It is released when its process
ends for any reason. A process that waits for a claim should hold none, to avoid deadlock.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from engine.operating_system import lock_byte, unlock_byte


class Claims:
    """Claims on keys of the cache in a directory. If locking fails, every claim succeeds."""

    def __init__(self, directory: Path) -> None:
        self._file = -1
        with suppress(OSError):
            directory.mkdir(parents=True, exist_ok=True)
            self._file = os.open(directory / "claims", os.O_RDWR | os.O_CREAT, 0o644)

    def claim(self, key: tuple[str, ...]) -> bool:
        """Claim a key. Return False if another process holds it."""
        try:
            return self._file < 0 or lock_byte(self._file, place_of(key), wait=False)
        except OSError:
            return True

    def release(self, key: tuple[str, ...]) -> None:
        if self._file >= 0:
            with suppress(OSError):
                unlock_byte(self._file, place_of(key))

    def wait(self, key: tuple[str, ...]) -> None:
        """Wait until no other process claims a key."""
        if self._file >= 0:
            with suppress(OSError):
                lock_byte(self._file, place_of(key), wait=True)
            self.release(key)

    def close(self) -> None:
        """Release all claims."""
        with suppress(OSError):
            os.close(self._file)
        self._file = -1


def place_of(key: tuple[str, ...]) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=7).digest())
