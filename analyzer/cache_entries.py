"""Entries of caches: files that begin with a digest of what follows.

An entry is written under another name and moved into place, so a killed process leaves no partial ones. One whose
digest does not match is reported and made again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.atomic_file import replaced

DIGEST_BYTES = 32


class DamagedEntry(Exception):
    """The digest of a stored entry does not match."""


def load_entry(path: Path) -> bytes | None:
    """Return the bytes that `save_entry` stored at `path`, or None if there are none. Raises DamagedEntry."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, payload = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if _digest(payload) != digest:
        raise DamagedEntry(path)
    return payload


def save_entry(path: Path, payload: bytes) -> None:
    """Store bytes preceded by their digest. Raises OSError if the directory cannot be written."""
    write_atomically(path, _digest(payload) + payload)


def _digest(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=DIGEST_BYTES).digest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically: readers see the old file or the new one, also after a crash.

    Permissions follow the umask: executors and readers of a report may be other users.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        file.write(data)
