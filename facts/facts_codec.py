"""File facts as bytes, for caches and for the way between processes; and the version they are valid for."""

import functools
import hashlib
import json
import struct
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from facts import schema
from facts.file_facts import Columns, FileFacts
from facts.languages import LANGUAGES

_MAGIC = b"DLZF"
_FORMAT = 1
_PREFIX = struct.Struct("<4sHIQ")  # magic, format, CRC-32 of the payload, its length
_WIDTHS = (np.uint8, np.uint16, np.int32)


class FormatError(ValueError):
    """Bytes that are no saved facts: another format, truncated or corrupt."""


@functools.cache
def version() -> str:
    """Return what identifies this extractor: facts saved by another version may differ from what it would make."""
    digest = hashlib.blake2b(digest_size=12)
    root = Path(__file__).parent
    for path in sorted((*root.rglob("*.py"), *root.rglob("*.dl"))):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for parser in ("tree-sitter", *sorted({language.parser for language in LANGUAGES.values()} - {""})):
        digest.update(f"{parser} {_version_of(parser)}".encode())
    return digest.hexdigest()


def _version_of(distribution: str) -> str:
    """Return the version of an installed distribution that has a package of its name.

    It stands in the name of a directory beside the package. `importlib.metadata` says the same, and takes as long to
    import as all else that is read of a small tree.
    """
    package = distribution.replace("-", "_")
    spec = find_spec(package)
    if spec and spec.origin:
        beside = list(Path(spec.origin).parents[1].glob(f"{package}-*.dist-info"))
        if len(beside) == 1:
            return beside[0].name.removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib import metadata

    return metadata.version(distribution)


def save(facts: FileFacts) -> bytes:
    """Return facts as bytes: a header, then the columns in the narrowest width that holds them, compressed."""
    columns = [*facts.entities, *(column for rows in facts.relations.values() for column in rows)]
    widths = [_width(column) for column in columns]
    header = json.dumps(
        {
            "language": facts.language,
            "lines": facts.lines,
            "symbols": facts.symbols,
            "entities": facts.entities.shape[1],
            "relations": [[name, rows.shape[1]] for name, rows in facts.relations.items()],
            "widths": widths,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    narrow = (_shifted(column).astype(_WIDTHS[width]).tobytes() for column, width in zip(columns, widths, strict=True))
    payload = zlib.compress(b"".join((struct.pack("<I", len(header)), header, *narrow)), 1)
    return _PREFIX.pack(_MAGIC, _FORMAT, zlib.crc32(payload), len(payload)) + payload


def load(data: bytes) -> FileFacts:
    """Return saved facts. Raises FormatError for bytes that `save` of this format did not make."""
    if len(data) < _PREFIX.size:
        raise FormatError("saved facts are truncated")
    magic, form, checksum, length = _PREFIX.unpack_from(data)
    payload = memoryview(data)[_PREFIX.size :]
    if (magic, form) != (_MAGIC, _FORMAT):
        raise FormatError("not saved facts of this format")
    if len(payload) != length or zlib.crc32(payload) != checksum:
        raise FormatError("saved facts are truncated or corrupt")
    return _decode(zlib.decompress(payload))


def _decode(data: bytes) -> FileFacts:
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + size])
    widths, position = iter(header["widths"]), 4 + size

    def columns(arity: int, count: int) -> Columns:
        nonlocal position
        result = np.empty((arity, count), np.int32)
        for row in range(arity):
            width = _WIDTHS[next(widths)]
            result[row] = np.frombuffer(data, width, count, position)
            position += np.dtype(width).itemsize * count
        return result - 1

    declared = schema.local_relations()
    entities = columns(3, header["entities"])
    relations = {name: columns(declared[name].arity, count) for name, count in header["relations"]}
    return FileFacts(header["language"], header["lines"], header["symbols"], entities, relations)


def _shifted(column: Columns) -> Columns:
    """Return a column plus one, so that NIL fits an unsigned width; positions from the end go to the widest."""
    return column + np.int32(1)


def _width(column: Columns) -> int:
    """Return the index of the narrowest type that holds the shifted column."""
    if not len(column) or column.min() >= -1:
        top = int(column.max(initial=0)) + 1
        return 0 if top < 1 << 8 else 1 if top < 1 << 16 else 2
    return 2
