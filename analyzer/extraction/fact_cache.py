"""The fact cache: saved facts by what they were extracted from, under extractor version, language and blob hash."""

from __future__ import annotations

from pathlib import Path

from analyzer.cache_entries import DamagedEntry, load_entry, save_entry


class FactCache:
    """Saved facts by (extractor version, language, blob hash). `n_damaged` counts entries that were found damaged."""

    def __init__(self, directory: Path, version: str) -> None:
        self._root, self.n_damaged = directory / "facts" / version, 0

    def path(self, language: str, blob: str) -> Path:
        return self._root / language / blob[:2] / blob[2:]

    def load(self, language: str, blob: str) -> bytes | None:
        """Return saved facts, or None where there are none or they are damaged."""
        try:
            return load_entry(self.path(language, blob))
        except DamagedEntry:
            self.n_damaged += 1
            return None

    def save(self, language: str, blob: str, payload: bytes) -> None:
        """Store saved facts. Raises OSError where the directory cannot be written."""
        save_entry(self.path(language, blob), payload)
