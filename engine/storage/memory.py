"""The memory of the process: a ledger of the bytes in large arrays, a limit, and what may be spilled to keep it.

Arrays that grow with the data are made by `empty` and `full`, which enter them in the ledger until they are freed.
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from threading import Event, RLock, Thread

import numpy as np

from engine.database import OutOfMemory
from engine.operating_system import (
    freed_memory_kept,
    is_in_memory,
    machine_bytes,
    private_bytes,
    release_free_memory,
    resident_bytes,
)
from engine.storage.spill_files import Segment, SpillFiles, spill_directory

SMALL_BYTES = 1 << 15
"""Smaller arrays are not entered one by one: they count as memory of other kinds."""
MEASURED_BYTES = 1 << 23
"""Bytes entered after which the resident size is measured again."""
PORTIONS = 32
"""Unspillable arrays should be smaller than the limit divided by PORTIONS: they take three times their size to grow."""
SLACK = 0.05
"""Minimum share of the limit that a spill frees, if possible."""
RESERVE = 0.1
"""The share of a limit on the resident size for arrays that are small, or short-lived, and not in the ledger."""
WATCH_S = 0.005
"""Seconds between checks of the resident size, besides the entries of the ledger."""
ROOM_BYTES = 16 << 20
"""Minimum memory of an evaluation, besides what the process holds when it begins."""
COPY_SHARE = 4
"""A copy of the process may take one of so many parts of the memory that is left."""
DEFAULT_SHARE = 0.8
"""Default limit of an evaluation, as a share of the machine's memory."""


class MemoryLimitReached(OutOfMemory):
    """An array does not fit in the limit, though all that may be spilled has been."""

    def __init__(self, wanted_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"{size_text(wanted_bytes)} more do not fit in {size_text(limit_bytes)} of memory")
        self.limit_bytes = limit_bytes


class LimitTooSmall(OutOfMemory):
    """A limit leaves no room for any evaluation."""

    def __init__(self, limit_bytes: int, least_bytes: int) -> None:
        super().__init__(
            f"the memory limit of {size_text(limit_bytes)} is too small: the process needs {size_text(least_bytes)} "
            f"before it derives anything; give a larger one (--memory-limit)"
        )


class RowsReached(Exception):
    """A relation has more rows than it may hold."""


class Ledger:
    """The memory of the process: `held_bytes` in the arrays entered, and the rest, which is measured.

    If the directory for spilled arrays is in memory, nothing is spilled: files there count as memory.

    Owners of arrays that are quiet, not to be written again for now, offer them to be spilled; the oldest offers go
    first. Safe to share between threads.
    """

    def __init__(self) -> None:
        self.limit_bytes: int | None = None
        self.measured: Callable[[], int] = private_bytes
        self.held_bytes = self.other_bytes = self._reserve = 0
        self.files = SpillFiles()
        self._unmeasured = 0
        self._offers: dict[int, tuple[weakref.ref, str]] = {}
        self._lock = RLock()

    @contextmanager
    def limited(self, limit_bytes: int | None) -> Iterator[None]:
        """Hold the process to a limit; by default to the one in force, else to a share of the machine's memory.

        A limit that is given holds the resident size. Of the machine's memory pages of files take none: the system
        has them back when it needs them. Raises LimitTooSmall where there is no room for any evaluation.
        """
        before = self.limit_bytes, self.measured, self._reserve
        with self._lock:
            self.limit_bytes = limit_bytes or self.limit_bytes or int(DEFAULT_SHARE * machine_bytes())
            if limit_bytes:
                self.measured, self._reserve = resident_bytes, int(limit_bytes * RESERVE)
            self._measure()
        try:
            least = int((resident_bytes() + ROOM_BYTES) / (1 - RESERVE))
            if limit_bytes and least > limit_bytes:
                raise LimitTooSmall(limit_bytes, least)
            with self._watched() if limit_bytes else freed_memory_kept() if before[0] is None else nullcontext():
                yield
        finally:
            self.limit_bytes, self.measured, self._reserve = before

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Keep to the limit meanwhile where the ledger hears of nothing: arrays fill up, and spilled ones are read."""
        ended = Event()

        def watch() -> None:
            pause_s = WATCH_S
            while not ended.wait(pause_s):
                pause_s = WATCH_S
                if self.measured() + self._reserve > self.limit_bytes:
                    with self._lock:
                        self._relieve(0)
                    # What is in use cannot be helped: do not look all the time.
                    pause_s = WATCH_S if self.measured() + self._reserve <= self.limit_bytes else 10 * WATCH_S

        watcher = Thread(target=watch, name="memory", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def enter(self, n_bytes: int) -> None:
        """Enter bytes about to be allocated. Raises MemoryLimitReached, after spilling what may be spilled."""
        with self._lock:
            if self.limit_bytes is not None:
                self._unmeasured += n_bytes
                if self._unmeasured > MEASURED_BYTES:
                    self._measure()
                if self._total() + n_bytes > self.limit_bytes:
                    self._make_room(n_bytes)
            self.held_bytes += n_bytes

    def leave(self, n_bytes: int) -> None:
        """Take out bytes that have been freed."""
        with self._lock:
            self.held_bytes -= n_bytes

    @property
    def is_given(self) -> bool:
        """True if a limit was given: it holds the resident size of this process, and no other is to be started."""
        return self._reserve > 0

    def begin_copy(self) -> None:
        """Keep the ledger of a copy of the process: it may take a part of what is left, and spills to its own files."""
        self.files = SpillFiles()
        if self.limit_bytes is not None:
            self._measure()
            self.limit_bytes = self._total() + max(0, self.limit_bytes - self._total()) // COPY_SHARE

    def is_large(self, n_bytes: int) -> bool:
        """Return True if bytes are so many, for the limit, that they should be divided."""
        return self.portions_of(n_bytes) > 0

    def portions_of(self, n_bytes: int) -> int:
        """Return how often bytes hold as many as should not be divided."""
        return 0 if self.limit_bytes is None else n_bytes * PORTIONS // self.limit_bytes

    def has_room(self, n_bytes: int) -> bool:
        """Return True if so many more bytes fit in the limit with nothing spilled."""
        return self.limit_bytes is None or self._total() + n_bytes <= self.limit_bytes

    def offer(self, owner: object, attribute: str) -> None:
        """Let the array in an owner's attribute be replaced by an equal one in a file when memory runs short."""
        array = getattr(owner, attribute)
        if array.nbytes >= SMALL_BYTES and not is_spilled(array):
            with self._lock:
                self._offers[id(owner)] = weakref.ref(owner), attribute

    def withdraw(self, owner: object) -> None:
        """The owner is about to write to its array."""
        with self._lock:
            self._offers.pop(id(owner), None)

    @cached_property
    def can_spill(self) -> bool:
        return not is_in_memory(spill_directory())

    def _make_room(self, n_bytes: int) -> None:
        self._relieve(n_bytes)
        if self._total() + n_bytes > self.limit_bytes:
            gc.collect()
            self._measure()
        if self._total() + n_bytes > self.limit_bytes:
            raise MemoryLimitReached(n_bytes, self.limit_bytes)

    def _relieve(self, n_bytes: int) -> None:
        """Give back what is free, and spill until so many more bytes fit, or nothing is offered."""
        release_free_memory()
        self.files.release()
        self._measure()
        while self._offers and self._total() + n_bytes > self.limit_bytes * (1 - SLACK) and self.can_spill:
            self._spill_one()

    def _spill_one(self) -> None:
        """Take the oldest offer."""
        owner, attribute = self._offers.pop(next(iter(self._offers)))
        if (alive := owner()) is not None:
            setattr(alive, attribute, self.files.write(getattr(alive, attribute)))

    def _total(self) -> int:
        return self.held_bytes + self.other_bytes + self._reserve

    def _measure(self) -> None:
        """Find out what the process holds beside the arrays entered."""
        self._unmeasured = 0
        self.other_bytes = max(0, self.measured() - self.held_bytes)


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """`np.empty`, entered in the ledger."""
    return entered(np.empty, shape, dtype)


def zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """`np.zeros`, entered in the ledger."""
    return entered(np.zeros, shape, dtype)


def entered(make: Callable[..., np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < SMALL_BYTES:
        return make(shape, dtype)
    LEDGER.enter(n_bytes)
    try:
        array = make(shape, dtype)
    except MemoryError:
        LEDGER.leave(n_bytes)
        raise MemoryLimitReached(n_bytes, LEDGER.held_bytes) from None
    weakref.finalize(array, LEDGER.leave, n_bytes).atexit = False
    return array


def full(n: int, value: object, dtype: np.dtype) -> np.ndarray:
    """`np.full`, entered in the ledger."""
    array = empty((n,), dtype)
    array.fill(value)
    return array


def for_result(shape: tuple[int, ...], dtype: np.dtype, parts: Sequence[np.ndarray]) -> np.ndarray:
    """An array for the concatenation of some: in a file where one of them is, or where memory is short."""
    try:
        return LEDGER.files.empty(shape, dtype) if any(map(is_spilled, parts)) else empty(shape, dtype)
    except MemoryLimitReached:
        if not LEDGER.can_spill:
            raise
        return LEDGER.files.empty(shape, dtype)


def copy(source: np.ndarray, target: np.ndarray) -> None:
    """Copy rows to an array for them."""
    if is_spilled(source) or is_spilled(target):
        LEDGER.files.copy(source, target)
    else:
        target[...] = source


def is_spilled(array: np.ndarray) -> bool:
    """Return True if an array stands in a file to which it was spilled."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array.obj if isinstance(array, memoryview) else array, Segment)


def size_text(n_bytes: int) -> str:
    """A number of bytes to be read by people."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


LEDGER = Ledger()
"""The ledger of this process."""

memory_limited = LEDGER.limited
"""Holds the process to a limit of memory in a `with` block."""
