"""Send buffers: rows of one worker on their way to the fragments of a channel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.database import Columns
from engine.evaluation.fragment import Channel
from engine.evaluation.send_cache import Boxes, SendCache, send_cache_for
from engine.kernels.hash_tables import partition_of, scatter

SEND_BUFFER_CELLS = 1 << 17
"""The rows of all partitions that a send buffer has room for together."""
Deliver = Callable[[int, int, Columns], None]
"""Takes a channel, the number of a fragment, and rows for it."""


class SendBuffer:
    """Rows of one worker on their way to the fragments of a channel, delivered when many have come together.

    What is derived passes a cache of what was derived of late, while that pays. Buffers are made when the first rows
    come: large components have many channels that see few.
    """

    def __init__(self, number: int, channel: Channel, bits: int, room: int, deliver: Deliver) -> None:
        self.number, self.channel, self.bits, self.room, self.deliver = number, channel, bits, room, deliver
        self.n_fragments = 1 << bits
        self.boxes: Boxes | None = None
        self.cache: SendCache | None = None

    def open(self) -> Boxes:
        if self.boxes is None:
            n, relation = self.n_fragments, self.channel.relation
            rows = np.empty((n, self.channel.width, self.room), relation.dtype)
            self.boxes = Boxes(rows, np.zeros(n, np.int64), np.ones(n, np.int32))
            self.cache = send_cache_for(relation)
        return self.boxes

    def offer(self, rows: Columns, n: int, take: np.ndarray) -> None:
        """Take the first n rows of a chunk, which may have been derived before."""
        boxes, cache = self.open(), self.cache
        if cache is None:
            self.put(rows, 0, n, take)
            return
        if rows.dtype != boxes.rows.dtype:
            rows, take = rows[take, :n].astype(boxes.rows.dtype), np.arange(len(take))
        parts, at = self.parts(rows, 0, n, take), 0
        while (at := cache.send(rows, at, n, take, parts, boxes)) < n:
            self.flush_to(int(parts[at]))
        if not cache.pays:
            self.cache = None

    def put(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> None:
        self.box(rows, lo, hi, take, self.parts(rows, lo, hi, take))

    def box(self, rows: Columns, lo: int, hi: int, take: np.ndarray, parts: np.ndarray) -> None:
        """Put row i into the box of fragment parts[i - lo]."""
        boxes, at = self.open(), lo
        while (at := scatter(rows, at, hi, take, parts[at - lo :], at, boxes.rows, boxes.counts)) < hi:
            self.flush_to(int(parts[at - lo]))

    def parts(self, rows: Columns, lo: int, hi: int, take: np.ndarray) -> np.ndarray:
        """Return the fragment that each row is for."""
        parts = np.empty(hi - lo, np.int32)
        partition_of(rows, lo, hi, take[self.channel.key], self.bits, parts)
        return parts

    def flush_to(self, fragment: int) -> bool:
        """Deliver what waits for one fragment, if anything does."""
        if self.boxes is None:
            return False
        rows, counts, deliveries = self.boxes
        n, counts[fragment] = int(counts[fragment]), 0
        if n:
            deliveries[fragment] += 1
            self.deliver(self.number, fragment, rows[fragment, :, :n])
        return n > 0

    def flush(self) -> None:
        for fragment in np.flatnonzero(self.boxes.counts).tolist() if self.boxes else ():
            self.flush_to(fragment)
