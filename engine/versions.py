"""Versions of relations: what programs that run once read of a view, while others commit to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Lock

import numpy as np

from engine.database import Columns
from engine.incremental.changes import Change
from engine.storage.relation import Relation
from engine.storage.relation_snapshot import Snapshot
from engine.storage.trace import Handle, Trace

IDLE_COMMITS = 100
"""A relation that no program has read for so many commits is forgotten."""


class Versions:
    """The relations of a view that programs have read, as of the last commit and of those that are read still.

    A relation is copied when the first program reads it; those that follow share the copy, and each arrangement that
    one of them has asked for (McSherry et al., 2020, §4). A commit is one more version. One thread commits, any may
    read: `writing` is held by the one that changes the view.
    """

    def __init__(self) -> None:
        self.writing = Lock()
        self._traces: dict[str, Trace] = {}
        self._read_at: dict[str, int] = {}
        self._n_commits = 0
        self._lock = Lock()

    @contextmanager
    def reading(self, names: Collection[str], columns: Callable[[str], Columns]) -> Iterator[dict[str, Snapshot]]:
        """Give relations as of the last commit, whatever is committed meanwhile.

        `columns` returns the tuples of one that is to be copied, which waits for a commit under way to end.
        """
        with ExitStack() as handles:
            yield {name: handles.enter_context(handle).relation for name, handle in self._open(names, columns).items()}

    def follow(self, changes: Mapping[str, Change], renewed: Collection[str]) -> None:
        """Make the versions of a commit; of `renewed` relations the changes are not those of their tuples."""
        with self._lock:
            self._n_commits += 1
            for name in [*self._traces]:
                if name in renewed or self._n_commits - self._read_at[name] > IDLE_COMMITS:
                    del self._traces[name], self._read_at[name]
                elif name in changes:
                    self._traces[name].remove(changes[name].deleted)
                    self._traces[name].insert(changes[name].inserted)

    def forget(self, names: Collection[str]) -> None:
        """Let relations go; those who read them go on."""
        with self._lock:
            for name in self._traces.keys() & names:
                del self._traces[name], self._read_at[name]

    def _open(self, names: Collection[str], columns: Callable[[str], Columns]) -> dict[str, Handle]:
        """Return handles on relations, all as of one commit."""
        with self._lock:
            if self._traces.keys() >= {*names}:
                return self._opened(names)
        with self.writing, self._lock:
            for name in names:
                if name not in self._traces:
                    self._traces[name] = Trace(stored(name, columns(name)))
            return self._opened(names)

    def _opened(self, names: Collection[str]) -> dict[str, Handle]:
        self._read_at.update(dict.fromkeys(names, self._n_commits))
        return {name: self._traces[name].open() for name in names}


def stored(name: str, columns: Columns) -> Relation:
    """Return a relation of distinct tuples, which stays as it is."""
    relation = Relation(name, len(columns), columns.dtype)
    relation.partitions[0].adopt(np.ascontiguousarray(columns))
    relation.advance()
    return relation.finish()
