"""Outboxes: rows of one worker on their way to the fragments of a channel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.database import Columns
from engine.kernels.hashing import EMPTY, drop_seen_pairs, partition_of, scatter
from engine.local.fragment import Channel

CACHE_SLOTS = 1 << 17
"""So many pairs take 1 MiB, as much as a second-level cache."""
WATCHED_ROWS = 1 << 16
PAIR = np.arange(2)
OUTBOX_CELLS = 1 << 17
"""The rows of all partitions that an outbox has room for together."""
Deliver = Callable[[int, int, Columns], None]
"""Takes a channel, the number of a fragment, and rows for it."""


class ExistenceCache:
    """Pairs that a worker has derived of late: it need not send them again (DCDatalog, §6.2.2).

    It `pays` as long as one pair in four is dropped, which is looked at from time to time.
    """

    def __init__(self, chunk_rows: int) -> None:
        self.seen = np.full(CACHE_SLOTS, EMPTY, np.uint64)
        self.out = np.empty((2, chunk_rows), np.int32)
        self.n_offered = self.n_dropped = 0
        self.pays = True

    def drop_seen(self, rows: Columns, n: int, take: np.ndarray) -> int:
        """Leave the pairs that were not seen lately in `out`; return how many."""
        kept = drop_seen_pairs(rows, n, take, self.seen, self.out)
        self.n_offered += n
        self.n_dropped += n - kept
        if self.n_offered >= WATCHED_ROWS:
            self.pays = 4 * self.n_dropped >= self.n_offered
            self.n_offered = self.n_dropped = 0
        return kept


class Outbox:
    """Rows of one worker on their way to the fragments of a channel, delivered when many have come together.

    Buffers are made when the first rows come: large components have many channels that see few.
    """

    def __init__(self, number: int, channel: Channel, bits: int, room: int, chunk_rows: int, deliver: Deliver) -> None:
        self.number, self.channel, self.bits, self.deliver = number, channel, bits, deliver
        self.room, self.chunk_rows = room, chunk_rows
        self.rows: Columns | None = None
        self.cache: ExistenceCache | None = None
        self.caches = channel.width == 2 and channel.relation.dtype == np.int32
        self.counts = np.zeros(1 << bits, np.int64)

    def offer(self, rows: Columns, n: int, take: np.ndarray) -> None:
        """Take the first n rows of a chunk, which may have been derived before."""
        if not self.caches:
            self.put(rows, 0, n, take)
            return
        cache = self.cache = self.cache or ExistenceCache(self.chunk_rows)
        self.put(cache.out, 0, cache.drop_seen(rows, n, take), PAIR)
        if not cache.pays:
            self.caches, self.cache = False, None

    def put(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> None:
        if self.rows is None:
            self.rows = np.empty((1 << self.bits, self.channel.width, self.room), self.channel.relation.dtype)
        parts = np.empty(hi - lo, np.int32)
        partition_of(rows, lo, hi, take[self.channel.key], self.bits, parts)
        at = lo
        while (at := scatter(rows, at, hi, take, parts[at - lo :], at, self.rows, self.counts)) < hi:
            self.flush_to(int(parts[at - lo]))

    def flush_to(self, fragment: int) -> bool:
        """Deliver what waits for one fragment, if anything does."""
        n, self.counts[fragment] = int(self.counts[fragment]), 0
        if n:
            self.deliver(self.number, fragment, self.rows[fragment, :, :n])
        return n > 0

    def flush(self) -> None:
        for fragment in np.flatnonzero(self.counts).tolist():
            self.flush_to(fragment)
