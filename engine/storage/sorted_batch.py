"""Immutable batches of rows, sorted and indexed by a key; and the merging of two, a step at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.database import Columns
from engine.kernels.csr_runs import LENGTH, expand
from engine.kernels.sorted_batches import (
    AT,
    N_KEYS,
    bury,
    close_directory,
    drop_repeated,
    expand_visible,
    find_last,
    hash_rows,
    index_rows,
    locate_keys,
    mark_disorder,
    mark_matched,
    mark_visible,
    merge_step,
)
from engine.storage import memory

NONE = np.empty(0, np.int32)


class SortedBatch:
    """Rows in the order of the hash of their key, then of the key, then of the other columns; CSR by key.

    The rows came in with version `since`; where that differs from row to row, or where some have been removed, they
    have a history: `born` and `died`. Nothing else changes once the batch is made, so that any number of readers may
    use it, each at a version of its own.
    """

    def __init__(self, key: np.ndarray, rest: np.ndarray, dtype: np.dtype, capacity: int, since: int) -> None:
        self.key, self.rest, self.since, self.last = key, rest, since, since
        self.rows: Columns = memory.empty((len(key) + len(rest), capacity), dtype)
        bits = max(1, min(28, capacity.bit_length()))
        self.shift = 32 - bits
        self.runs = memory.empty((capacity, 2), np.int32)
        self.hashes = memory.empty((capacity,), np.uint32)
        self.directory = np.zeros((1 << bits) + 1, np.int32)
        self.born = self.died = NONE
        self.n = self.n_keys = self.n_dead = 0

    @property
    def payload(self) -> np.ndarray:
        """The columns that a join can ask for: all of them."""
        return np.arange(len(self.rows))

    def locate(self, rows: Columns, n: int, take: np.ndarray) -> np.ndarray:
        """Return for each of the first n rows the id of the key in its columns `take`, or -1."""
        ids = np.empty(n, np.int32)
        hashes = self.hashes[: self.n_keys]
        locate_keys(self.directory, self.shift, hashes, self.runs, self.rows, self.key, rows, n, take, ids)
        return ids

    def is_plain(self, version: int) -> bool:
        """Return True if all rows are visible at a version."""
        return self.last <= version and not self.n_dead

    def arranged(self, key: Sequence[int]) -> SortedBatch:
        """The same rows with the same history, by another key."""
        if not len(self.born):
            return batch_of(self.rows[:, : self.n], key, self.since)
        rows = np.concatenate([self.rows[:, : self.n], self.born[None, :]], axis=0)
        batch = SortedBatch(*columns_by(key, len(self.rows)), rows.dtype, self.n, self.since)
        order = in_order(rows, batch.key, np.append(batch.rest, len(self.rows)))
        np.take(self.rows[:, : self.n], order, axis=1, out=batch.rows)
        batch.index(self.n)
        batch.last, batch.born, batch.died, batch.n_dead = self.last, self.born[order], self.died[order], self.n_dead
        return batch

    def index(self, n: int) -> None:
        """Enter the runs of the first n rows, which are in order."""
        state = np.zeros(8, np.int64)
        index_rows(self.rows, n, self.key, self.runs, self.hashes, self.directory, self.shift, state)
        self.n, self.n_keys = n, int(state[N_KEYS])
        memory.LEDGER.offer(self, "rows")

    def visible(self, version: int) -> tuple[Columns, int]:
        """The rows that are visible at a version: the first n of an array."""
        if self.is_plain(version):
            return self.rows, self.n
        if self.since > version and not len(self.born):
            return self.rows, 0
        mask = np.empty(self.n, np.bool_)
        n = mark_visible(self.born, self.died, self.n, version, mask)
        return np.ascontiguousarray(self.rows[:, : self.n][:, mask]), n

    def places(self, rows: Columns, n: int, columns: np.ndarray) -> np.ndarray:
        """Return where each of the first n rows, given in the `columns` of `rows`, stands last, or -1."""
        places = np.empty(n, np.int64)
        ids = self.locate(rows, n, columns[self.key])
        find_last(ids, n, self.runs, self.rows, self.rest, rows, columns[self.rest], places)
        return places

    def lives(self, places: np.ndarray) -> np.ndarray:
        """Return for each of the places (-1: none) True if a row stands there that has not been removed."""
        return (places >= 0) & (self.died[places] == 0 if self.n_dead else True)

    def remove(self, places: np.ndarray, version: int) -> int:
        """Let the rows at some places (-1: none) be visible before a version only; return how many were before."""
        if not (places >= 0).any():
            return 0
        if not len(self.died):
            born = np.full(self.n, self.since, np.int32)
            self.born, self.died = born, np.zeros(self.n, np.int32)
        count = bury(self.died, places, len(places), version)
        self.n_dead += count
        return count

    def pairs(
        self, version: int, chunk: Columns, n: int, key: np.ndarray, take: np.ndarray, payload: np.ndarray, out: Columns
    ) -> Iterator[int]:
        """Join a chunk with the rows visible at a version: fill `out` again and again; yield the rows written."""
        if self.since > version and not len(self.born):
            return
        ids, plain = self.locate(chunk, n, key), self.is_plain(version)
        born, died = self.born, self.died
        i = j = 0
        while i < n:
            if plain:
                found, i, j = expand(ids, n, i, j, self.runs, LENGTH, chunk, take, self.rows, payload, out)
            else:
                found, i, j = expand_visible(
                    ids, n, i, j, self.runs, born, died, version, chunk, take, self.rows, payload, out
                )
            if found:
                yield found

    def match(self, version: int, chunk: Columns, n: int, key: np.ndarray, mask: np.ndarray) -> None:
        """Set mask[i] where the key of row i of a chunk has a row that is visible at a version."""
        if self.since > version and not len(self.born):
            return
        ids = self.locate(chunk, n, key)
        if self.is_plain(version):
            mask |= ids >= 0
        else:
            mark_matched(ids, n, self.runs, self.born, self.died, version, mask)


def batch_of(rows: Columns, key: Sequence[int], since: int) -> SortedBatch:
    """Return a batch of rows [arity, n] that come in with a version; of equal rows one is kept."""
    arity, n = rows.shape
    batch = SortedBatch(*columns_by(key, arity), rows.dtype, n, since)
    np.take(rows, in_order(rows, batch.key, batch.rest), axis=1, out=batch.rows)
    batch.index(drop_repeated(batch.rows, n, np.arange(arity)))
    return batch


def columns_by(key: Sequence[int], arity: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a key, and the others."""
    return np.array(key, np.int64), np.array([c for c in range(arity) if c not in key], np.int64)


def in_order(rows: Columns, key: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return the order of a batch's rows.

    Most rows are told apart by one word, their hash with one column; what that leaves in disorder is sorted again.
    """
    n = rows.shape[1]
    hashes = np.empty(n, np.uint32)
    hash_rows(rows, n, key, hashes)
    words = hashes.astype(np.uint64) << np.uint64(32)
    if len(rest):
        words |= (rows[rest[0]].astype(np.int64) + (1 << 31)).view(np.uint64) & np.uint64(0xFFFFFFFF)
    order = np.argsort(words)
    bad = np.empty(n, np.bool_)
    mark_disorder(np.take(rows, order, axis=1), n, hashes[order], key, rest, bad)
    if bad.any():
        wrong = order[bad]
        columns = [rows[c, wrong] for c in (*key, *rest)]
        order[bad] = wrong[np.lexsort((*reversed(columns), hashes[wrong]))]
    return order


class Merge:
    """Two batches on their way to one. Readers use the two until it is `done`.

    Rows that no reader from version `frontier` on can see are left out.
    """

    def __init__(self, first: SortedBatch, second: SortedBatch, frontier: int) -> None:
        self.first, self.second, self.frontier = first, second, frontier
        self.size, self.moved = first.n + second.n, 0
        since = max(first.last, second.last)
        out = self.out = SortedBatch(first.key, first.rest, first.rows.dtype, self.size, since)
        self.state = np.zeros(8, np.int64)
        self.removed: list[tuple[Columns, int]] = []
        self.has_history = since > frontier or first.n_dead > 0 or second.n_dead > 0
        if self.has_history:
            out.born, out.died = np.empty(self.size, np.int32), np.empty(self.size, np.int32)

    def step(self, fuel: int) -> SortedBatch | None:
        """Move about `fuel` rows on; return the merged batch when that was the end."""
        out, sides = self.out, []
        for side in (self.first, self.second):
            sides += [side.rows, side.runs, side.hashes, side.n_keys, side.since, side.born, side.died]
        taken = merge_step(
            out.key, out.rest, *sides,
            out.rows, out.runs, out.hashes, out.directory, out.shift, out.born, out.died,
            self.state, self.frontier, fuel,
        )  # fmt: skip
        self.moved += taken
        return None if taken == fuel else self._finish()

    def _finish(self) -> SortedBatch:
        out = self.out
        close_directory(out.directory, self.state)
        out.n, out.n_keys = int(self.state[AT]), int(self.state[N_KEYS])
        memory.LEDGER.offer(out, "rows")
        if self.has_history:
            out.born, out.died = out.born[: out.n], out.died[: out.n]
            out.n_dead = int(np.count_nonzero(out.died))
            if not out.n_dead and (out.born <= self.frontier).all():
                out.born = out.died = NONE
                out.since = out.last = self.frontier
        for rows, version in self.removed:
            every = np.arange(len(rows))
            out.remove(out.places(rows, rows.shape[1], every), version)
        return out
