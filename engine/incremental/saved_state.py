"""A view saved in a directory, from which the next process resumes at once.

The directory holds a base, all arrays of the view as they were when they were last written as a whole; a log of the
words of the base that have changed since; a manifest that says which base and log are valid; and a lock. Files are
written under new names, then the manifest is switched, then the old files are removed: whenever a process is killed, or
the disk is full, the state that was there before stays valid. A log costs in proportion to what has changed since the
base was written; a base is written again when the log would be a tenth of it. States of one view in several directories
share its base: a name in each, and the file goes with the last.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from engine import trusted_directories
from engine.evaluation.evaluator import record_table
from engine.incremental.file_lock import lock
from engine.incremental.maintained_program import MaintainedProgram, MaintainedProgramOptions
from engine.incremental.mapped_file import DamagedFile, MappedFile, Part, Verified, checksum, share, write
from engine.incremental.prepared_program import PreparedProgram, prepare_program
from engine.incremental.state_identity import format_name, identity
from engine.incremental.state_manifest import MANIFEST, Manifest, Saved, read_manifest, write_manifest
from engine.incremental.state_migration import CannotMigrate, compatibility, migrate
from engine.incremental.view_serialization import (
    Parts,
    as_stored,
    compacted,
    held_by,
    restore,
    restore_records,
    restore_relation,
    serialize,
)
from engine.language.checked_program import CheckedProgram
from engine.operating_system import sync_directory
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOG_SHARE = 0.1
SMALL_LOG_BYTES = 1 << 22
"""A log of this size is small for any base. (The directory of one dense index takes a megabyte or two.)"""
POSITIONS, WORDS, TEXTS, LENGTHS = "log positions", "log words", "symbol texts", "symbol lengths"
OWN_FILE = re.compile(r"[0-9a-f]{32}\.(base|log)(\.copy)?")


class StateError(Exception):
    """A state directory cannot be used, or a state cannot be saved; the message is the reason."""


class NoState(Exception):
    """There is no usable state; `damage` is set if one exists but cannot be used."""

    def __init__(self, message: str, damage: bool = True) -> None:
        super().__init__(message)
        self.damage = damage


@dataclass(frozen=True)
class Base:
    """The base of a view: its file, and its contents in memory."""

    path: Path
    saved: Saved
    file: MappedFile


class State:
    """The state of a program in a directory, used by one process at a time; others wait.

    `exact` is that of the view. `notes` are numbers and texts to be saved beside the view. `base` is what the view that
    was loaded or saved last goes on from. It may be that of a state in another directory: the file is shared then.
    """

    def __init__(self, directory: Path, program: CheckedProgram | PreparedProgram, *, exact: bool = True) -> None:
        self.directory, self.program, self.exact = directory, prepare_program(program), exact
        self.notes: dict[str, Any] = {}
        self._format, self._identity = format_name(), identity(self.program.digest, exact)
        self.base: Base | None = None
        self.anew = 0
        self._lock: BaseFileLock | None = None

    # ---- one process at a time

    def open(self, wait_s: float, waiting: Callable[[], None] = lambda: None) -> None:
        """Lock the state until `close`; call `waiting` if another process holds it. Raises StateError."""
        if why := trusted_directories.opened(self.directory):
            raise StateError(f"cannot use the state in {self.directory}: {why}")
        try:
            self._lock = lock(self.directory / "lock", wait_s, waiting)
        except OSError as error:
            raise StateError(f"cannot lock {self.directory}: {error.strerror}") from None
        if self._lock is None:
            raise StateError(f"another process has been using {self.directory} for more than {wait_s:g} s")

    def close(self) -> None:
        """Release the lock. A loaded view stays valid, also when others save."""
        if self._lock is not None:
            self._lock.release()
        self._lock = None

    # ---- loading

    def load(self, **options: Unpack[MaintainedProgramOptions]) -> MaintainedProgram:
        """Return the saved view; `options` are those of MaintainedProgram. Raises NoState."""
        with self._reading() as manifest:
            if manifest.program != self._identity:
                raise NoState(
                    f"the state in {self.directory} belongs to another program, or to an earlier version of it"
                )
            return self._load(manifest, options)

    def migrate(self, **options: Unpack[MaintainedProgramOptions]) -> MaintainedProgram:
        """Return the saved view of any program; strata that differ in this program are bootstrapped.

        The facts are those that were saved. `anew` counts these strata. Raises NoState, and EvaluationError.
        """
        with self._reading() as manifest:
            return self._load(manifest, options)

    @contextmanager
    def _reading(self) -> Iterator[Manifest]:
        """Give the manifest. Raises NoState for what is wrong with it, and with the files that are read."""
        try:
            manifest = read_manifest(self.directory)
            if manifest is None:
                raise NoState(f"there is no state in {self.directory}", damage=False)
            if manifest.format != self._format:
                raise NoState(f"the state in {self.directory} was saved by another version of analyze")
            yield manifest
        except CannotMigrate as error:
            raise NoState(f"the state in {self.directory} does not belong to this program: {error}") from None
        except DamagedFile as error:
            raise NoState(f"the state in {self.directory} is damaged: {error}") from None
        except OSError as error:
            name = Path(error.filename or "a file").name
            raise NoState(f"the state in {self.directory} is damaged: {name}: {error.strerror}") from None

    def _load(self, manifest: Manifest, options: MaintainedProgramOptions) -> MaintainedProgram:
        self.base = self._map_base(manifest.base)
        base, changed = self.base.file, {}
        texts = texts_of(Verified(base, {}))
        if manifest.log:
            log = self._map(manifest.log, ".log")
            changed = log.arrays()
            base.replay(changed[POSITIONS], changed[WORDS])
            texts += texts_of(changed)
        arrays = Verified(base, changed)
        records = {name: record_table(self.program, name, None) for name in self.program.records}
        restore_records(records, manifest.description, arrays)
        database = StoredDatabase(Symbols(texts), records)
        view = MaintainedProgram(self.program, database, exact=self.exact, **options)
        self.anew = migrate(view, manifest.description, arrays)
        self.notes = manifest.notes
        return view

    def _map_base(self, saved: Saved) -> Base:
        return Base(self.directory / f"{saved.token}.base", saved, self._map(saved, ".base"))

    def _map(self, saved: Saved, suffix: str) -> MappedFile:
        path = self.directory / (saved.token + suffix)
        if suffix == ".log" and checksum(path) != saved.checksum:
            raise DamagedFile(f"{path.name} is not what was saved")
        return MappedFile(path, bytes.fromhex(saved.token), saved.n_bytes, saved.places)

    def discard(self) -> None:
        """Discard the state. Its files are removed when the next one is saved."""
        with suppress(OSError):
            (self.directory / MANIFEST).unlink(missing_ok=True)

    # ---- saving

    def save(self, view: MaintainedProgram) -> None:
        """Save a view, and `notes`. Raises StateError, which leaves the previous state valid."""
        if self._lock is None:
            raise StateError(f"{self.directory} is not open")
        before = self._files()
        try:
            if not self._save_log(view):
                self._save_base(view)
            self._remove(self._files())
        except (OSError, sqlite3.Error) as error:
            self._remove(self._files() - before)
            why = error.strerror if isinstance(error, OSError) else error
            message = f"cannot save the state in {self.directory}: {why}; the one that was saved before is kept"
            raise StateError(message) from None

    def _save_log(self, view: MaintainedProgram) -> bool:
        """Save what has changed since the base was written, if there is one and that is little."""
        if self.base is None:
            return False
        base, saved = self.base.file, self.base.saved
        parts, description = serialize(view, {relation.name: as_stored(relation) for relation in held_by(view)})
        description["form"] = compatibility(view)
        parts = {name: part for name, part in parts.items() if not base.holds(name, part.array)}
        positions, words = base.changes()
        parts |= {POSITIONS: Part(positions, len(positions), room=False), WORDS: Part(words, len(words), room=False)}
        parts |= text_parts(view.symbols, base.places[LENGTHS].shape[0])
        if sum(part.array.nbytes for part in parts.values()) > max(LOG_SHARE * saved.n_bytes, SMALL_LOG_BYTES):
            return False
        if not share(self.base.path, self.directory / self.base.path.name):
            return False
        log = self._write(parts, ".log")
        self._switch(Manifest(self._format, self._identity, saved, log, description, self.notes))
        return True

    def _save_base(self, view: MaintainedProgram) -> None:
        """Save all, and let the view go on from what has been saved."""
        parts, description = serialize(view, {relation.name: compacted(relation) for relation in held_by(view)})
        description["form"] = compatibility(view)
        base = self._write(parts | text_parts(view.symbols, 0), ".base")
        self._switch(Manifest(self._format, self._identity, base, None, description, self.notes))
        self.base = self._map_base(base)
        arrays = self.base.file.arrays()
        restore_records(view.records, description, arrays)
        restore(view.strata, description, arrays, restore_relation)

    def _write(self, parts: Parts, suffix: str) -> Saved:
        token = token_hex(16)
        path = self.directory / (token + suffix)
        places = write(path, bytes.fromhex(token), parts)
        return Saved(token, path.stat().st_size, places, checksum(path) if suffix == ".log" else 0)

    def _switch(self, manifest: Manifest) -> None:
        sync_directory(self.directory)
        write_manifest(self.directory, manifest)

    def _files(self) -> set[str]:
        """The names of all bases and logs in the directory."""
        return {name for name in os.listdir(self.directory) if OWN_FILE.fullmatch(name)}

    def _remove(self, names: set[str]) -> None:
        """Remove files, but for those that are valid. What cannot be removed now is when a state is saved again."""
        with suppress(OSError, DamagedFile):
            manifest = read_manifest(self.directory)
            for name in names - (manifest.files if manifest else set()):
                (self.directory / name).unlink(missing_ok=True)


def text_parts(symbols: Symbols, begin: int) -> Parts:
    """The texts of symbols from an id on."""
    texts = symbols.texts(range(begin, len(symbols)))
    data = np.array(bytearray("".join(texts).encode("utf-8", "surrogatepass")), np.uint8)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return {TEXTS: Part(data, len(data), room=False), LENGTHS: Part(lengths, len(lengths), room=False)}


def texts_of(arrays: Mapping[str, np.ndarray]) -> list[str]:
    text = arrays[TEXTS].tobytes().decode("utf-8", "surrogatepass")
    return [text[lo:hi] for lo, hi in pairwise(accumulate(arrays[LENGTHS].tolist(), initial=0))]
