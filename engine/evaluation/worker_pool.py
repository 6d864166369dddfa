"""Threads: workers with their buffers, and the running of tasks on all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Condition, current_thread
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.kernels.hash_tables import partition_of, scatter
from engine.storage.arrangement import Arrangement
from engine.storage.memory import empty
from engine.storage.partition import Partition
from engine.storage.relation import Relation

if TYPE_CHECKING:
    from engine.evaluation.operators import JoinInsert, Segment
    from engine.result import RuleStatistics
    from engine.storage.arrangement import Readable

Task = Callable[["Worker"], "Iterable[Task] | None"]
"""Work for a worker; it may return more tasks."""


class Worker:
    """The state of one thread: scratch buffers, and rows on their way to partitions.

    `local_partitions` maps the relations of a partition-local evaluation to the partitions at hand: rows go there
    directly. `alone` says that no other worker runs. `watch` is called between two chunks, and may raise. `produced`
    and `added` count rows of the rule at hand, in the iteration at hand, since they were last read.
    """

    def __init__(self, chunk_rows: int, buffer_rows: int, watch: Callable[[], None]) -> None:
        self.chunk_rows, self.buffer_rows, self.watch = chunk_rows, buffer_rows, watch
        self.buffers: dict[tuple[int, int, str], Columns] = {}
        self.local_partitions: dict[Relation, Partition] = {}
        self.insert_buffers: dict[Relation, InsertBuffer] = {}
        self.join_buffers: dict[JoinInsert, JoinBuffer] = {}
        self.rule: RuleStatistics | None = None
        self.produced = self.added = self.iteration = 0
        self.alone = True

    def buffer(self, segment: Segment) -> Columns:
        """A buffer for the chunks of a segment, the same for all segments of its depth and shape."""
        key = (segment.depth, segment.width, segment.dtype.char)
        found = self.buffers.get(key)
        if found is None:
            found = self.buffers[key] = empty((segment.width, self.chunk_rows), segment.dtype)
        return found

    def arrangement(self, handle: Arrangement) -> Arrangement:
        """The arrangement that a plan reads by what it was bound to."""
        return handle

    def emit(self, relation: Relation, rows: Columns, n: int, take: np.ndarray) -> None:
        """Add the first n rows of a chunk, on some registers, to a relation."""
        self.produced += n
        if self.local_partitions:
            self.added += self.local_partitions[relation].insert(rows, 0, n, take)
        elif relation.bits == 0:
            insert = relation.insert if self.alone else relation.insert_beside
            self.added += insert(rows, 0, n, take)
        else:
            buffer = self.insert_buffers.get(relation)
            if buffer is None or buffer.bits != relation.bits:
                buffer = self.insert_buffers[relation] = InsertBuffer(relation, self.buffer_rows)
            self.added += buffer.put(rows, n, take)

    @property
    def inserts_alone(self) -> bool:
        """True if no other worker inserts into the partitions at hand."""
        return self.alone or bool(self.local_partitions)

    def single_partition(self, relation: Relation) -> Partition | None:
        """The partition that all rows for a relation go to, if there is one."""
        if self.local_partitions:
            return self.local_partitions[relation]
        return relation.partitions[0] if relation.bits == 0 else None

    def join_buffer(self, join: JoinInsert, by: Readable, width: int) -> JoinBuffer | None:
        """The buffer for rows that a last join takes to the partitions of a relation, if those tell the partition."""
        relation = join.insert.relation
        if relation.bits < 0 or not relation.partitions[0].paired:
            return None
        if relation.bits == 0:
            # It is to be divided by the column that the join carries over.
            relation.partitions[0].carried = int(join.sides[0, 0])
        if relation.bits == 0 or join.sides[relation.discriminating, 0].any():
            return None
        buffer = self.join_buffers.get(join)
        if buffer is None or buffer.bits != relation.bits:
            room = max(1, self.buffer_rows >> max(0, relation.bits - 4))
            buffer = self.join_buffers[join] = JoinBuffer(join, by, width, room)
        return buffer

    def flush(self) -> None:
        """Deliver what waits in the buffers."""
        for buffer in self.insert_buffers.values():
            self.added += buffer.flush()
        for buffer in self.join_buffers.values():
            buffer.flush(self)
        self.join_buffers.clear()

    def forget(self) -> None:
        """Drop what waits in the buffers."""
        self.insert_buffers.clear()
        self.join_buffers.clear()


class InsertBuffer:
    """Rows of one worker on their way to the partitions of a relation, delivered when many have come together."""

    def __init__(self, relation: Relation, room: int) -> None:
        self.relation, self.bits = relation, relation.bits
        self.rows = empty((1 << self.bits, len(relation.every), room), relation.dtype)
        self.counts = np.zeros(1 << self.bits, np.int64)

    def put(self, rows: Columns, n: int, take: np.ndarray) -> int:
        """Take rows; return how many new ones had to be delivered meanwhile."""
        parts = np.empty(n, np.int32)
        partition_of(rows, 0, n, take[self.relation.discriminating], self.bits, parts)
        at = added = 0
        while (at := scatter(rows, at, n, take, parts[at:], at, self.rows, self.counts)) < n:
            added += self._deliver(int(parts[at]))
        return added

    def flush(self) -> int:
        return sum(self._deliver(p) for p in np.flatnonzero(self.counts).tolist())

    def _deliver(self, p: int) -> int:
        n, self.counts[p] = int(self.counts[p]), 0
        return self.relation.partitions[p].insert(self.rows[p], 0, n, self.relation.every)


class JoinBuffer:
    """Rows of one worker on their way to the last join of a plan, each at the partition that its result goes to."""

    def __init__(self, join: JoinInsert, by: Readable, width: int, room: int) -> None:
        self.join, self.by, self.relation = join, by, join.insert.relation
        self.bits, self.every = self.relation.bits, np.arange(width)
        self.rows = np.empty((1 << self.bits, width, room), np.int32)
        self.counts = np.zeros(1 << self.bits, np.int64)

    def put(self, worker: Worker, chunk: Columns, n: int) -> None:
        parts = np.empty(n, np.int32)
        partition_of(chunk, 0, n, self.join.sides[self.relation.discriminating, 1], self.bits, parts)
        at = 0
        while (at := scatter(chunk, at, n, self.every, parts[at:], at, self.rows, self.counts)) < n:
            self._deliver(worker, int(parts[at]))

    def flush(self, worker: Worker) -> None:
        for p in np.flatnonzero(self.counts).tolist():
            self._deliver(worker, p)

    def _deliver(self, worker: Worker, p: int) -> None:
        n, self.counts[p] = int(self.counts[p]), 0
        self.join.insert_into(self.relation.partitions[p].insert_joined, self.by, worker, self.rows[p], n)


class WorkerPool:
    """The workers of an evaluation. The calling thread is the first of them."""

    def __init__(self, threads: int, chunk_rows: int, buffer_rows: int, watch: Callable[[], None]) -> None:
        self.workers = [Worker(chunk_rows, buffer_rows, watch) for _ in range(threads)]
        self._name = f"workers-{id(self)}"
        self._pool = ThreadPoolExecutor(threads - 1, self._name) if threads > 1 else None
        self._queue: deque[Task] = deque()
        self._changed = Condition()
        self._running = 0
        self._is_fed = True
        self.stopped = False

    @property
    def has_process(self) -> bool:
        """True if there is no thread in the process but the calling one and those of the pool."""
        return all(each is current_thread() or each.name.startswith(self._name) for each in enumerate_threads())

    def forget_relations(self) -> None:
        """Let go of the buffers for relations that are complete."""
        for worker in self.workers:
            worker.insert_buffers.clear()

    def begin_iteration(self, number: int) -> None:
        """Count what is done from now on as done in an iteration."""
        for worker in self.workers:
            worker.iteration = number

    def run(self, tasks: Iterable[Task], n_workers: int | None = None) -> None:
        """Run tasks, and those they return, on all workers, or on the first n: the caller's alone, if n is 1.

        Where tasks are made as they are read, the others begin meanwhile. The first exception stops all workers and is
        raised.
        """
        n_workers = n_workers or len(self.workers)
        self.stopped = self._is_fed = False
        helpers = []
        if n_workers > 1:
            for worker in self.workers:
                worker.alone = False
            helpers = [self._pool.submit(self._work, worker) for worker in self.workers[1:n_workers]]
        try:
            self._feed(tasks)
            self._work(self.workers[0])
        finally:
            errors = [error for helper in helpers if (error := helper.exception()) is not None]
            for worker in self.workers:
                worker.alone = True
        if errors:
            raise errors[0]

    def _feed(self, tasks: Iterable[Task]) -> None:
        try:
            for task in tasks:
                with self._changed:
                    self._queue.append(task)
                    self._changed.notify()
                if self.stopped:
                    break
        except BaseException:
            self._stop()
            raise
        finally:
            with self._changed:
                self._is_fed = True
                if self.stopped:
                    self._queue.clear()
                self._changed.notify_all()

    def _work(self, worker: Worker) -> None:
        """Run tasks until none is left, none is made, and none is running that could return more."""
        try:
            while (task := self._next()) is not None:
                more: Iterable[Task] = ()
                try:
                    more = task(worker) or ()
                finally:
                    self._finish(more)
            worker.flush()
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        with self._changed:
            self.stopped = True
            self._queue.clear()
            self._changed.notify_all()

    def _next(self) -> Task | None:
        with self._changed:
            while not self._queue and (self._running or not self._is_fed) and not self.stopped:
                self._changed.wait()
            if not self._queue or self.stopped:
                return None
            self._running += 1
            return self._queue.popleft()

    def _finish(self, more: Iterable[Task]) -> None:
        with self._changed:
            self._running -= 1
            if not self.stopped:
                # Parts of what was split come first: few things are then half done, and in memory, at a time.
                self._queue.extendleft(more)
            if more or not self._running:
                self._changed.notify_all()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
