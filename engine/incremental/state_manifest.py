"""The manifest of a state directory: which files make up the state, in one row of an SQLite database.

Files are switched by giving the database its name, so that a process that ends at any point leaves the one state or the
other.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.incremental.block_file import DamagedFile, Place
from engine.operating_system import sync_directory

MANIFEST = "state.sqlite"
TABLE = "saved"
COLUMNS = {"id": "integer primary key", "format": "text", "program": "text", "saved": "blob", "digest": "text"}
LEVEL = 1
"""Level of compression, which reduces the locations of arrays to a fifth, in 4 ms."""


@dataclass(frozen=True)
class Saved:
    """A file: its name in the directory, without suffix, is the token in it."""

    token: str
    n_bytes: int
    places: dict[str, Place]


@dataclass(frozen=True)
class Manifest:
    """The contents of a saved state: a base, and a log of changes since.

    `description` is that of `view_serialization`, `notes` are what the maintainer wants to know again.
    """

    format: str
    program: str
    base: Saved
    log: Saved | None
    description: dict[str, Any]
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> set[str]:
        """The names of the files that are valid."""
        return {f"{self.base.token}.base", *([f"{self.log.token}.log"] if self.log else [])}

    def packed(self) -> bytes:
        """Files, description and notes."""
        files = {"base": vars(self.base), "log": self.log and vars(self.log)}
        text = json.dumps({**files, "description": self.description, "notes": self.notes})
        return zlib.compress(text.encode(), LEVEL)


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a directory, if it has one; that of another version has no files. Raises DamagedFile."""
    path = directory / MANIFEST
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path)) as database:
            row = database.execute(f"select format, program, saved, digest from {TABLE}").fetchone()
    except sqlite3.Error as error:
        raise DamagedFile(f"{MANIFEST} cannot be read: {error}") from None
    if row is None:
        return None
    format, program, packed, digest = row
    if digest_of(*row[:3]) != digest:
        raise DamagedFile(f"{MANIFEST} has been changed")
    try:
        saved = json.loads(zlib.decompress(packed))
        base, log = file_of(saved["base"]), saved["log"] and file_of(saved["log"])
        return Manifest(format, program, base, log, saved["description"], saved["notes"])
    except (KeyError, TypeError, ValueError, zlib.error):
        # The row is as it was written: by a version that describes a state in other words.
        return Manifest(f"another than {format}", program, Saved("", 0, {}), None, {})


def file_of(saved: dict[str, Any]) -> Saved:
    places = {
        name: Place(offset, n_bytes, dtype, tuple(shape), checksum)
        for name, (offset, n_bytes, dtype, shape, checksum) in saved["places"].items()
    }
    return replace(Saved(**saved), places=places)


def digest_of(*values: object) -> str:
    return hashlib.blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Switch to what a manifest names. Raises OSError or sqlite3.Error; what was valid before still is, then.

    The database is a new one each time: bits of the one before may have flipped.
    """
    path = directory / MANIFEST
    beside = path.with_name(f"{path.name}.new")
    journal = beside.with_name(f"{beside.name}-journal")
    columns = (manifest.format, manifest.program, manifest.packed())
    try:
        for left in (beside, journal):
            left.unlink(missing_ok=True)
        with closing(sqlite3.connect(beside, isolation_level=None)) as database, transaction(database):
            database.execute(f"create table {TABLE}({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
            database.execute(f"insert into {TABLE} values (?, ?, ?, ?, ?)", (1, *columns, digest_of(*columns)))
        beside.replace(path)
        sync_directory(directory)
    except BaseException:
        for left in (beside, journal):
            left.unlink(missing_ok=True)
        raise


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, on the disk when it is done."""
    database.execute("pragma synchronous = full")
    database.execute("begin immediate")
    try:
        yield
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
