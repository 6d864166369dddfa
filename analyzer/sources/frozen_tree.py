"""The files of a working tree at one moment, with an editor's unsaved texts over them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from time import time_ns

from analyzer.report import Problem
from analyzer.sources.git import blob_hash
from analyzer.sources.trees import Entry, Stamp, WorkingTree

NO_TEXTS: Mapping[str, bytes] = {}
SETTLED_NS = 2_000_000_000
"""A file written less than this before it was read may have been written again under the same times."""
MODIFIED = 3
"""The place of the time of the last writing in a stamp."""


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file, and git's name for them; `stamp` is that under which they were read, or empty."""

    data: bytes
    blob: str
    stamp: Stamp = ()


class FrozenTree:
    """The files that a working tree lists now, each read once, when it is first asked for.

    What an `earlier` tree has read is not read again if its stamp is the same. `unsaved` texts, by path, stand for the
    files that are listed. Files that decide how a scan is done (`read_top`) are those on disk.
    """

    revision = ""

    def __init__(
        self, tree: WorkingTree, earlier: FrozenTree | None = None, unsaved: Mapping[str, bytes] = NO_TEXTS
    ) -> None:
        self.target, self.prefix, self._tree = tree.target, tree.prefix, tree
        self._entries = [
            replace(entry, size=len(unsaved[entry.path])) if entry.path in unsaved and entry.kind == "file" else entry
            for entry in tree.entries()
        ]
        self._problems = list(tree.problems())
        self._stamps = {entry.path: entry.stamp for entry in self._entries if entry.kind == "file"}
        self._contents: dict[str, Content] = {}
        if earlier:
            for path, content in earlier._contents.items():
                if content.stamp and content.stamp == self._stamps.get(path):
                    self._contents[path] = content
        for path in unsaved.keys() & self._stamps.keys():
            self._contents[path] = Content(unsaved[path], blob_hash(unsaved[path]))

    def entries(self) -> list[Entry]:
        return self._entries

    def problems(self) -> list[Problem]:
        return self._problems

    def object(self, path: str) -> str:
        with suppress(OSError):
            return self._content(path).blob
        return ""

    def read(self, path: str) -> bytes:
        return self._content(path).data

    def read_top(self, path: str) -> bytes:
        return self._tree.read_top(path)

    def list_top(self, directory: str) -> list[str]:
        return self._tree.list_top(directory)

    def close(self) -> None:
        pass

    def _content(self, path: str) -> Content:
        """Return what a file holds. Raises OSError."""
        if path not in self._contents:
            stamp, now = self._stamps.get(path, ()), time_ns()
            data = self._tree.read(path)
            settled = stamp and stamp[MODIFIED] + SETTLED_NS < now
            self._contents[path] = Content(data, blob_hash(data), stamp if settled else ())
        return self._contents[path]
