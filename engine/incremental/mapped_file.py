"""Files of arrays, written once and then mapped into memory copy-on-write: what is not touched is not read.

A file is a page with a header, then arrays, then a page with a trailer. Header and trailer hold the token under which
the file was written: a file that was not written to its end, or has been cut since, is told by that. Each array has a
checksum, which is looked at when it is first asked for. Arrays have room behind what is in use; pages of zeros are
holes, which take no room on the disk.
"""

from __future__ import annotations

import math
import mmap
import os
import shutil
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from xxhash import xxh3_64

from engine.operating_system import pagemap

MAGIC = b"datalyze arrays\n"
HEADER = struct.Struct("<16s16sQ")
PAGE = mmap.PAGESIZE
WORD = 8
ALIGNED = 64
WRITTEN_BYTES = 1 << 24
COMPARED_PAGES = 1 << 12
HOLES_FROM = 1 << 16
"""Smaller arrays are written as they are, zeros and all."""


class DamagedFile(Exception):
    """A file is not what was written. The message says in what."""


@dataclass
class Part:
    """An array to be written: its first `used` columns, or entries, and with `room` some more, which are `nothing`."""

    array: np.ndarray
    used: int
    nothing: int = 0
    room: bool = True

    @property
    def capacity(self) -> int:
        """The columns that the array gets in the file."""
        return -(-(self.used + self.used // 8 + 16) // 16) * 16 if self.room else self.used


class Place(NamedTuple):
    """The location of an array in a file, and the checksum of its bytes, including reserved space."""

    offset: int
    dtype: str
    shape: tuple[int, ...]
    checksum: int = 0

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


# ---- writing


def write(path: Path, token: bytes, parts: Mapping[str, Part]) -> dict[str, Place]:
    """Write a new file, down to the disk; return where its arrays stand. Raises OSError; nothing is left then."""
    try:
        with path.open("xb") as file:
            places = {name: append(file, part) for name, part in parts.items()}
            end = -(-file.tell() // PAGE) * PAGE
            header = HEADER.pack(MAGIC, token, end + PAGE)
            for at in (end, 0):
                file.seek(at)
                file.write(header)
            file.truncate(end + PAGE)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return places


def append(file: BinaryIO, part: Part) -> Place:
    """Write an array at the next aligned place behind the header."""
    offset = -(-max(file.tell(), PAGE) // ALIGNED) * ALIGNED
    array, found = part.array, xxh3_64()
    row_bytes = part.capacity * array.itemsize
    rest = np.full(part.capacity - part.used, part.nothing, array.dtype)
    for i, row in enumerate(array.reshape(math.prod(array.shape[:-1]), array.shape[-1])):
        file.seek(offset + i * row_bytes)
        data = np.ascontiguousarray(row[: part.used]).view(np.uint8)
        write_bytes(file, data)
        if part.nothing:
            file.write(rest)
        found.update(data)
        found.update(rest.view(np.uint8))
    place = Place(offset, array.dtype.str, (*array.shape[:-1], part.capacity), found.intdigest())
    file.seek(offset + place.n_bytes)
    return place


def write_bytes(file: BinaryIO, data: np.ndarray) -> None:
    """Write bytes; large pieces of zeros are left out."""
    if len(data) < HOLES_FROM:
        file.write(data)
        return
    for lo in range(0, len(data), WRITTEN_BYTES):
        piece = data[lo : lo + WRITTEN_BYTES]
        whole = len(piece) // PAGE * PAGE
        is_used = piece[:whole].view(np.uint64).reshape(-1, PAGE // WORD).any(axis=1)
        bounds = np.flatnonzero(np.diff(is_used, prepend=False, append=False)) * PAGE
        begin = file.tell()
        for first, last in bounds.reshape(-1, 2).tolist():
            file.seek(begin + first)
            file.write(piece[first:last])
        file.seek(begin + whole)
        file.write(piece[whole:])


def share(path: Path, other: Path) -> bool:
    """Have a file that is never changed under another name, too; return whether it is still there. Raises OSError.

    It is stored once, where the file system can do that.
    """
    if other.exists():
        return True
    try:
        os.link(path, other)
    except FileNotFoundError:
        return False
    except OSError:
        copy = other.with_name(other.name + ".copy")
        with path.open("rb") as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, WRITTEN_BYTES)
            target.flush()
            os.fsync(target.fileno())
        os.replace(copy, other)
    return True


def checksum(path: Path) -> int:
    """A checksum of a whole file."""
    found = xxh3_64()
    with path.open("rb") as file:
        while piece := file.read(WRITTEN_BYTES):
            found.update(piece)
    return found.intdigest()


# ---- reading


class MappedFile:
    """A file in memory. `words` is all of it; what is written there stays in this process.

    Raises DamagedFile if it is not the file of this token and size, and OSError if there is none.
    """

    def __init__(self, path: Path, token: bytes, size: int, places: Mapping[str, Place]) -> None:
        self.name, self.places = path.name, places
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise DamagedFile(f"{path.name} has {found} bytes instead of {size}")
            header = HEADER.pack(MAGIC, token, size)
            if size < 2 * PAGE or any(read_at(file, at, len(header)) != header for at in (0, size - PAGE)):
                raise DamagedFile(f"{path.name} is not the file that was saved")
            self.words, self.original = (mapped(file, np.uint64) for _ in range(2))
        # The pages of header and trailer show whether the system tells which pages have been written.
        self.words[0] = self.words[0]

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays, whether or not they are what was saved."""
        return {name: view(self.words, place) for name, place in self.places.items()}

    def verify(self, name: str) -> None:
        """Raise DamagedFile unless an array is what was saved; what this process has written to it does not matter."""
        place = self.places[name]
        raw = self.original.view(np.uint8)[place.offset : place.offset + place.n_bytes]
        if xxh3_64(raw).intdigest() != place.checksum:
            raise DamagedFile(f"{self.name}: '{name}' is not what was saved")

    def holds(self, name: str, array: np.ndarray) -> bool:
        """Return True if this very array stands in the file by that name."""
        place = self.places.get(name)
        return (
            place is not None
            and array.ctypes.data == self.words.ctypes.data + place.offset
            and array.dtype.str == place.dtype
            and array.shape == place.shape
        )

    def changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the words that have been changed since they were saved, and the words."""
        pages = self.written_pages()
        now, saved = (w.reshape(-1, PAGE // WORD) for w in (self.words, self.original))
        positions = [np.empty(0, np.int64)]
        for lo in range(0, len(pages), COMPARED_PAGES):
            piece = pages[lo : lo + COMPARED_PAGES]
            page, word = np.nonzero(now[piece] != saved[piece])
            positions.append(piece[page] * (PAGE // WORD) + word)
        found = np.concatenate(positions)
        return found, self.words[found]

    def replay(self, positions: np.ndarray, words: np.ndarray) -> None:
        """Change words of the file in memory."""
        self.words[positions] = words

    def written_pages(self) -> np.ndarray:
        """The pages that this process has written to, the header's aside: all of them where that cannot be told."""
        n_pages = len(self.words) * WORD // PAGE
        own = own_pages(self.words.ctypes.data // PAGE, n_pages)
        if own is None or not own[0] or own[-1]:
            return np.arange(1, n_pages - 1)
        return np.flatnonzero(own[1:]) + 1


def own_pages(first: int, n: int) -> np.ndarray | None:
    """Say of pages of a mapped file which ones are the process's own copies (see proc_pid_pagemap(5))."""
    known = pagemap(first, n)
    if known is None:
        return None
    entries = np.frombuffer(known, np.uint64)
    of_file, swapped, present = ((entries >> np.uint64(bit) & np.uint64(1)).astype(np.bool_) for bit in (61, 62, 63))
    return swapped | (present & ~of_file)


class Verified(Mapping[str, np.ndarray]):
    """Arrays by name, of which those of a file are verified when they are first asked for.

    `unverified` are the same, to be written elsewhere as they are.
    """

    def __init__(self, file: MappedFile, others: Mapping[str, np.ndarray]) -> None:
        """Hold the arrays of a file, but for the others, which stand for those of the same name."""
        self.unverified = {**file.arrays(), **others}
        self._file, self._waiting = file, file.places.keys() - others.keys()

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self._waiting:
            self._file.verify(name)
            self._waiting.discard(name)
        return self.unverified[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.unverified)

    def __len__(self) -> int:
        return len(self.unverified)


def read_at(file: BinaryIO, at: int, n_bytes: int) -> bytes:
    file.seek(at)
    return file.read(n_bytes)


def mapped(file: BinaryIO, dtype: type) -> np.ndarray:
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype)


def view(words: np.ndarray, place: Place) -> np.ndarray:
    """The array at a place in a file."""
    raw = words.view(np.uint8)[place.offset : place.offset + place.n_bytes]
    return raw.view(place.dtype).reshape(place.shape)
