"""Ignore files in gitignore syntax, nested: the deepest file that says something about a path decides."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec


class IgnoreRules:
    """Ignore files by directory. As in git, nothing below an ignored directory can be taken back."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}
        self._specs: dict[str, pathspec.GitIgnoreSpec] = {}
        self._directories: dict[str, bool] = {"": False}

    def add(self, directory: str, patterns: Iterable[str]) -> None:
        """Add patterns to those of `directory` ("" is the root); later ones win; a bad one matches nothing."""
        lines = self._lines.setdefault(directory, [])
        lines += filter(_is_usable, patterns)
        self._specs[directory] = _spec(lines)

    def add_file(self, directory: str, data: bytes) -> None:
        """Add the ignore file that stands in `directory`."""
        self.add(directory, data.decode("utf-8", "replace").splitlines())

    def ignores(self, path: str, *, is_directory: bool = False) -> bool:
        if not self._specs:
            return False
        directory = posixpath.dirname(path)
        if directory not in self._directories:
            self._directories[directory] = self.ignores(directory, is_directory=True)
        return self._directories[directory] or self._matches(path, is_directory)

    def _matches(self, path: str, is_directory: bool) -> bool:
        directory = posixpath.dirname(path)
        while True:
            if spec := self._specs.get(directory):
                relative = path[len(directory) + 1 :] if directory else path
                include = spec.check_file(relative + "/" * is_directory).include
                if include is not None:
                    return include
            if not directory:
                return False
            directory = posixpath.dirname(directory)


def _spec(lines: list[str]) -> pathspec.GitIgnoreSpec:
    """The matcher of lines. Other backends take no name that is not UTF-8, which a directory may hold."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines, backend="simple")


def _is_usable(pattern: str) -> bool:
    try:
        _spec([pattern])
    except ValueError:
        return False
    return True
