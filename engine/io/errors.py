"""What is wrong with a file of facts."""

from __future__ import annotations

from pathlib import Path


class FactsError(Exception):
    """A file of facts cannot be read or written. `path` and `line` (0 for the whole file) tell where."""

    def __init__(self, path: Path | str, line: int, message: str) -> None:
        self.path, self.line, self.message = Path(path), line, message
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
