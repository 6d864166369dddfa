"""Errors in files of facts."""

from __future__ import annotations

from pathlib import Path


class FactsError(Exception):
    """A file of facts cannot be read or written. `path`, or a URI, and `line` (0 for the whole file) tell where."""

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        self.path = path if "://" in str(path) else Path(path)
        self.line, self.message = line, message
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
