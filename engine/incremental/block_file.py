"""Files of arrays, each in a compressed block, written once and then read array by array.

A block holds the rows of an array one after the other, as the differences of neighbours (`kernels.delta_codes`): sorted
rows of a relation take a byte or two a tuple. A file begins and ends with the token under which it was written: one
that was not written to its end, or has been cut since, is told by that. Each block has a checksum, which is looked at
when it is read.
"""

from __future__ import annotations

import mmap
import os
import shutil
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard
from xxhash import xxh3_64

from engine.kernels.delta_codes import decode_column, encode_column

MAGIC = b"datalyze blocks\n"
HEADER = struct.Struct("<16s16sQ")
LEVEL = 3
"""The level of compression: the next ones take longer, and save a hundredth."""
COPIED_BYTES = 1 << 24


class DamagedFile(Exception):
    """A file is not what was written. The message says in what."""


class Place(NamedTuple):
    """The location of a block in a file, the array that it holds, and the checksum of its bytes."""

    offset: int
    n_bytes: int
    dtype: str
    shape: tuple[int, ...]
    checksum: int


@dataclass(frozen=True, slots=True)
class Block:
    """An array, as it stands in files."""

    data: bytes | memoryview
    dtype: str
    shape: tuple[int, ...]


# ---- arrays and blocks


def encode(array: np.ndarray) -> Block:
    """Return the block of an array: of bytes as they are, or of one or two dimensions of other numbers."""
    if array.dtype != np.uint8:
        return encode_rows(np.atleast_2d(array), array.dtype, array.shape)
    return Block(compressed(array.tobytes()), array.dtype.str, array.shape)


def encode_rows(rows: Iterable[np.ndarray], dtype: np.dtype, shape: tuple[int, ...]) -> Block:
    """Return the block of an array of numbers, given row by row: the planes of each, behind their number."""
    planes = np.empty((min(8, dtype.itemsize + 1), shape[-1]), np.uint8)
    pieces = []
    for row in rows:
        n_planes = encode_column(row, planes)
        pieces += [bytes([n_planes]), planes[:n_planes].tobytes()]
    return Block(compressed(b"".join(pieces)), dtype.str, shape)


def compressed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(LEVEL).compress(data)


def decode(block: Block) -> np.ndarray:
    """Return the array of a block."""
    if block.dtype == np.dtype(np.uint8).str:
        return np.frombuffer(zstandard.ZstdDecompressor().decompress(block.data), np.uint8)
    array = np.empty(block.shape, block.dtype)
    decode_rows(block, np.atleast_2d(array))
    return array


def decode_rows(block: Block, rows: Iterable[np.ndarray | None]) -> None:
    """Write the rows of a block of numbers to arrays of any width that holds them; those for None are skipped."""
    data, at, n = np.frombuffer(zstandard.ZstdDecompressor().decompress(block.data), np.uint8), 0, block.shape[-1]
    for row in rows:
        begin, n_planes = at + 1, int(data[at])
        at = begin + n_planes * n
        if row is not None:
            decode_column(data[begin:at].reshape(n_planes, n), row)


# ---- writing


def write(path: Path, token: bytes, blocks: Iterable[tuple[str, Block]]) -> dict[str, Place]:
    """Write a new file, down to the disk; return where its blocks stand. Raises OSError; nothing is left then."""
    places = {}
    try:
        with path.open("xb") as file:
            at = file.write(bytes(HEADER.size))
            for name, block in blocks:
                checksum = xxh3_64(block.data).intdigest()
                places[name] = Place(at, len(block.data), block.dtype, block.shape, checksum)
                at += file.write(block.data)
            header = HEADER.pack(MAGIC, token, at + HEADER.size)
            file.write(header)
            file.seek(0)
            file.write(header)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return places


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
            shutil.copyfileobj(source, target, COPIED_BYTES)
            target.flush()
            os.fsync(target.fileno())
        os.replace(copy, other)
    return True


# ---- reading


class BlockFile(Mapping[str, np.ndarray]):
    """The arrays of a file by name: each is read, and verified, when it is asked for.

    The file stays readable when its name is removed. Raises DamagedFile if it is not the file of this token and size,
    or a block is not what was written, and OSError if there is no file.
    """

    def __init__(self, path: Path, token: bytes, size: int, places: Mapping[str, Place]) -> None:
        self.name, self.places = path.name, places
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise DamagedFile(f"{path.name} has {found} bytes instead of {size}")
            self.bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        header = HEADER.pack(MAGIC, token, size)
        if self.bytes[: HEADER.size] != header or self.bytes[-HEADER.size :] != header:
            raise DamagedFile(f"{path.name} is not the file that was saved")

    def block(self, name: str) -> Block:
        """Return a block as it stands in the file, for another one."""
        place = self.places[name]
        data = self.bytes[place.offset : place.offset + place.n_bytes]
        if xxh3_64(data).intdigest() != place.checksum:
            raise DamagedFile(f"{self.name}: '{name}' is not what was saved")
        return Block(data, place.dtype, place.shape)

    def __getitem__(self, name: str) -> np.ndarray:
        return decode(self.block(name))

    def verify(self) -> None:
        """Raise DamagedFile unless all blocks are what was written."""
        for name in self.places:
            self.block(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __len__(self) -> int:
        return len(self.places)
