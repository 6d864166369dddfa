"""The facts of a file as bytes, for caches: a JSON header of one line, then the columns."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version as installed_version
from pathlib import Path

import numpy as np

from facts.filefacts import Columns, FileFacts

_WIDTHS = ("<i1", "<i2", "<i4")
PARSERS = ("tree-sitter", "tree-sitter-python")


@cache
def version() -> str:
    """Return the extractor version: it differs whenever facts of equal bytes might, be it by our code or a parser's."""
    digest = hashlib.blake2b(digest_size=12)
    here = Path(__file__).parent
    for path in sorted(path for path in here.rglob("*") if path.suffix in (".py", ".dl")):
        digest.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for parser in PARSERS:
        digest.update(f"{parser} {installed_version(parser)}".encode())
    return digest.hexdigest()


def save(facts: FileFacts) -> bytes:
    """Return the facts as bytes, each array in the narrowest integers that hold it."""
    arrays = {"": facts.entities, **facts.relations}
    widths = {name: _width(columns) for name, columns in arrays.items()}
    header = {
        "language": facts.language,
        "lines": facts.lines,
        "symbols": facts.symbols,
        "arrays": [(name, *columns.shape, widths[name]) for name, columns in arrays.items()],
    }
    body = b"".join(columns.astype(_WIDTHS[widths[name]]).tobytes() for name, columns in arrays.items())
    return json.dumps(header).encode() + b"\n" + body


def load(data: bytes) -> FileFacts:
    """Return the facts that `save` made the bytes from. Raises ValueError for other bytes."""
    head, _, body = data.partition(b"\n")
    header = json.loads(head)
    arrays, offset = {}, 0
    for name, arity, rows, width in header["arrays"]:
        columns = np.frombuffer(body, _WIDTHS[width], arity * rows, offset)
        offset += columns.nbytes
        arrays[name] = columns.astype(np.int32).reshape(arity, rows)
    entities = arrays.pop("")
    return FileFacts(header["language"], header["lines"], header["symbols"], entities, arrays)


def _width(columns: Columns) -> int:
    if not columns.size:
        return 0
    low, high = int(columns.min()), int(columns.max())
    return next(i for i, dtype in enumerate(_WIDTHS) if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max)
