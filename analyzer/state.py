"""The state directory, `$XDG_CACHE_HOME/analyze`, and the content-addressed fact cache in it.

An entry of the cache is a file named by blob hash under extractor version and language: a digest, then the saved facts.
It is written under another name and moved into place, so a killed process leaves whole entries or none. An entry whose
digest does not match is treated as absent, and is made again.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

DIGEST_BYTES = 32


def blob_hash(data: bytes) -> str:
    """Return git's name for a file of these bytes, so that commits and working trees share cache entries."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def default_directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"


class StateDirectory:
    """A writable directory for caches: the user's, or a temporary one, with `warning` set, where that cannot be."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_directory()
        self.warning = ""
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            self._temporary = tempfile.TemporaryDirectory(prefix="analyze-")
            self.warning = f"cannot write {self.path} ({error.strerror}); nothing is cached for the next run"
            self.path = Path(self._temporary.name)

    def close(self) -> None:
        if self._temporary:
            self._temporary.cleanup()


class FactCache:
    """Saved facts by (extractor version, language, blob hash)."""

    def __init__(self, directory: Path, version: str) -> None:
        self._root = directory / "facts" / version

    def path(self, language: str, blob: str) -> Path:
        return self._root / language / blob[:2] / blob[2:]

    def load(self, language: str, blob: str) -> bytes | None:
        """Return saved facts, or None where there are none or they are damaged."""
        return load_entry(self.path(language, blob))

    def save(self, language: str, blob: str, payload: bytes) -> None:
        """Store saved facts. Raises OSError where the directory cannot be written."""
        save_entry(self.path(language, blob), payload)


def load_entry(path: Path) -> bytes | None:
    """Return what `save_entry` stored at `path`, or None where nothing is there or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, payload = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    return payload if _digest(payload) == digest else None


def save_entry(path: Path, payload: bytes) -> None:
    """Store bytes under a digest of themselves. Raises OSError where the directory cannot be written."""
    write_atomically(path, _digest(payload) + payload)


def _digest(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=DIGEST_BYTES).digest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`: readers see the old file or the new one, also after a crash of this process.

    Who may read it is up to the umask, as for any file: executors and readers of a report may be other users.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.parent / f".tmp-{secrets.token_hex(8)}"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
