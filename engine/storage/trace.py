"""Traces: the versions of one relation, its arrangements, and the readers that hold versions."""

from __future__ import annotations

from collections import Counter
from threading import Lock

import numpy as np

from engine.database import Columns
from engine.storage.relation import Relation
from engine.storage.relation_snapshot import Snapshot, Stored, Versioned
from engine.storage.sorted_batch import batch_of
from engine.storage.spine import DEFAULT, Layers, Spine


class Handle:
    """A reader's hold on a relation at a version. What no handle needs any more is let go."""

    def __init__(self, trace: Trace, version: int, relation: Snapshot) -> None:
        self.version = version
        self._trace: Trace | None = trace
        self._relation: Snapshot | None = relation

    @property
    def relation(self) -> Snapshot:
        if self._relation is None:
            raise ValueError("the handle is closed")
        return self._relation

    def close(self) -> None:
        if self._trace is not None:
            self._trace.release(self.version)
            self._trace = self._relation = None

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Trace:
    """A relation with its versions: one more with each batch of rows inserted or removed.

    Until it first changes, it is stored as the evaluation that made it left it. Then its rows move to spines, one for
    each arrangement, and a batch of n rows costs O(n log) from there on. Readers see the version that was the last when
    they opened it. The frontier is the oldest version that one holds: what happened before is not told apart, and rows
    that died before go with the next merge. Safe to share between threads.
    """

    def __init__(self, relation: Relation, effort: int | None = DEFAULT) -> None:
        self.name, self.arity, self.dtype, self.effort = relation.name, relation.arity, relation.dtype, effort
        self.version, self.n = 0, relation.n
        self.spines: dict[tuple[int, ...], Spine] = {}
        self._stored: Stored | None = Stored(relation)
        self._held: Counter[int] = Counter()
        self._lock = Lock()

    @property
    def frontier(self) -> int:
        """The oldest version that a reader may see."""
        return min(self._held, default=self.version)

    def open(self) -> Handle:
        """Return a handle on the last version."""
        with self._lock:
            self._held[self.version] += 1
            version, relation = self.version, self._stored
            if relation is None:
                relation = Versioned(self.name, self.arity, self.dtype, self.n, lambda key: self.layers(key, version))
            return Handle(self, version, relation)

    def release(self, version: int) -> None:
        with self._lock:
            self._held[version] -= 1
            self._held += Counter()

    def insert(self, rows: Columns) -> int:
        """Make a version with some more rows; return how many were not there before."""
        with self._lock:
            spine = self._spine()
            fresh = batch_of(np.asarray(rows, self.dtype), spine.key, self.version + 1)
            new = fresh.rows[:, : fresh.n]
            new = np.ascontiguousarray(new[:, ~spine.lives(new)])
            self.version += 1
            self.n += new.shape[1]
            for by in self.spines.values():
                by.push(batch_of(new, by.key, self.version), self.frontier)
            return new.shape[1]

    def remove(self, rows: Columns) -> int:
        """Make a version without some rows; return how many of them were there."""
        with self._lock:
            spine = self._spine()
            named = batch_of(np.asarray(rows, self.dtype), spine.key, self.version)
            gone = named.rows[:, : named.n]
            gone = np.ascontiguousarray(gone[:, spine.lives(gone)])
            self.version += 1
            self.n -= gone.shape[1]
            for by in self.spines.values():
                by.remove(gone, self.version)
                by.work(gone.shape[1], self.frontier)
            return gone.shape[1]

    def compact(self) -> None:
        """Merge all that the readers' versions allow, at once."""
        with self._lock:
            for spine in self.spines.values():
                spine.compact(self.frontier)

    def layers(self, key: tuple[int, ...] | None, version: int) -> Layers:
        """The arrangement by some columns (None: by any) as of a version that a handle holds."""
        with self._lock:
            if key is None:
                key = next(iter(self.spines))
            if key not in self.spines:
                self.spines[key] = self._arranged(key)
            return Layers(key, self.arity, self.dtype, self.spines[key].all(), version)

    def _spine(self) -> Spine:
        """Any spine; the first change makes one for each arrangement at hand."""
        if self._stored is not None:
            stored, self._stored = self._stored, None
            columns = stored.columns()
            for key in [*stored.arrangements] or [tuple(range(self.arity))]:
                self.spines[key] = Spine(key, self.effort, [batch_of(columns, key, self.version)])
        return next(iter(self.spines.values()))

    def _arranged(self, key: tuple[int, ...]) -> Spine:
        """A spine by another key, with the history of each row."""
        spine = Spine(key, self.effort)
        for batch in next(iter(self.spines.values())).all():
            spine.batches.append(batch.arranged(key))
        return spine
