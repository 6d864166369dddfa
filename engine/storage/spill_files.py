"""Spilled arrays: in files that are mapped into memory, so that their pages can be given back and come again."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from pathlib import Path

import numpy as np

from engine.operating_system import allocate, release_pages

SEGMENT_BYTES = 1 << 28
PORTION_BYTES = 1 << 22
"""Arrays are written so much at a time, and the pages of it given back."""


class Segment(mmap.mmap):
    """A part of the space, mapped into memory."""

    def release(self) -> None:
        release_pages(self)


class SpillFiles:
    """Space for arrays in temporary files.

    The files have no name: they are gone when the arrays in them are, however the process ends. Arrays share files, as
    each file that is mapped takes a descriptor.
    """

    def __init__(self) -> None:
        self.spilled_bytes = 0
        self.segments: weakref.WeakSet[Segment] = weakref.WeakSet()
        self._segment: Segment | None = None
        self._top = 0

    def write(self, array: np.ndarray) -> np.ndarray:
        """Return an equal array in a file."""
        copy = self.empty(array.shape, array.dtype)
        self.copy(array, copy)
        return copy

    def copy(self, source: np.ndarray, target: np.ndarray) -> None:
        """Copy rows of which some stand in a file, so that few of its pages are in memory at a time."""
        step = max(1, PORTION_BYTES * source.shape[-1] // max(1, source.nbytes))
        for at in range(0, source.shape[-1], step):
            target[..., at : at + step] = source[..., at : at + step]
            self.release()

    def release(self) -> None:
        """Give the pages of all files back: the system keeps what is in them, and maps a page again when it is used."""
        for segment in list(self.segments):
            segment.release()

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return a new array in a file. Raises OSError where the directory has no room."""
        count = int(np.prod(shape))
        n_bytes = count * np.dtype(dtype).itemsize
        if self._segment is None or self._top + n_bytes > len(self._segment):
            self._begin(max(SEGMENT_BYTES, n_bytes))
        found = np.frombuffer(self._segment, dtype, count, self._top).reshape(shape)
        self._top += -(-n_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
        self.spilled_bytes += n_bytes
        return found

    def _begin(self, n_bytes: int) -> None:
        n_bytes = max(-(-n_bytes // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        with tempfile.TemporaryFile(dir=spill_directory()) as file:
            # Written through the mapping, a full disk would end the process: ask for the room now.
            allocate(file.fileno(), n_bytes)
            self._segment = Segment(file.fileno(), n_bytes)
            self.segments.add(self._segment)
        self._top = 0


def spill_directory() -> Path:
    """The directory for spilled arrays: TMPDIR where it is set, else the user's cache, which unlike /tmp is on disk."""
    if directory := os.environ.get("TMPDIR"):
        return Path(directory)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "analyze"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return base if os.access(base, os.W_OK) else Path(tempfile.gettempdir())
