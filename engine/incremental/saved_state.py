"""A view saved in a directory, from which the next process resumes at once.

The directory holds a base, all tuples of the view as they were when they were last written as a whole; a log of what
has changed since; a manifest that says which base and log are valid; and a lock. Files are written under new names,
then the manifest is switched, then the old files are removed: whenever a process is killed, or the disk is full, the
state that was there before stays valid. A log costs in proportion to what has changed since the base was written; a
base is written again when the log would be a tenth of it. States of one view in several directories share its base: a
name in each, and the file goes with the last.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Unpack

from engine import trusted_directories
from engine.evaluation.declared_storage import record_table
from engine.incremental.block_file import BlockFile, DamagedFile, share, write
from engine.incremental.file_lock import lock
from engine.incremental.maintained_program import MaintainedProgram, MaintainedProgramOptions
from engine.incremental.prepared_program import PreparedProgram, prepare_program
from engine.incremental.state_identity import format_name, identity
from engine.incremental.state_manifest import MANIFEST, Manifest, Saved, read_manifest, write_manifest
from engine.incremental.state_migration import CannotMigrate, compatibility, migrate
from engine.incremental.view_serialization import Named, StoredView, described, goes_on_from, restore, since, whole
from engine.language.checked_program import CheckedProgram
from engine.operating_system import sync_directory
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOG_SHARE = 0.1
SMALL_LOG_BYTES = 1 << 18
"""A log of this size is small for any base."""
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
    """The base of a view, and its file."""

    path: Path
    saved: Saved
    file: BlockFile


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
        self.base = self._base(manifest.base)
        log = self._file(manifest.log, ".log") if manifest.log else None
        if log is not None:
            log.verify()
        stored = StoredView(self.base.file, log)
        held = manifest.description["form"]["records"]
        given = {name: stored.records(name) if name in held else None for name in self.program.records}
        records = {name: record_table(self.program, name, rows) for name, rows in given.items()}
        database = StoredDatabase(Symbols(stored.texts()), records)
        view = MaintainedProgram(self.program, database, exact=self.exact, **options)
        self.anew = migrate(view, manifest.description, stored)
        if held.keys() != records.keys():
            self.base = None  # Its logs have records of the same types.
        self.notes = manifest.notes
        return view

    def _base(self, saved: Saved) -> Base:
        return Base(self.directory / f"{saved.token}.base", saved, self._file(saved, ".base"))

    def _file(self, saved: Saved, suffix: str) -> BlockFile:
        path = self.directory / (saved.token + suffix)
        return BlockFile(path, bytes.fromhex(saved.token), saved.n_bytes, saved.places)

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
        if self.base is None or not goes_on_from(view, self.base.file):
            return False
        left, blocks = max(LOG_SHARE * self.base.saved.n_bytes, SMALL_LOG_BYTES), []
        for name, block in since(view, self.base.file):
            blocks.append((name, block))
            left -= len(block.data)
            if left < 0:
                return False
        if not share(self.base.path, self.directory / self.base.path.name):
            return False
        log = self._write(blocks, ".log")
        description = described(view) | {"form": compatibility(view)}
        self._switch(Manifest(self._format, self._identity, self.base.saved, log, description, self.notes))
        return True

    def _save_base(self, view: MaintainedProgram) -> None:
        """Save all, and let the view go on from what has been saved."""
        description = described(view) | {"form": compatibility(view)}
        saved = self._write(whole(view, description), ".base")
        self._switch(Manifest(self._format, self._identity, saved, None, description, self.notes))
        self.base = self._base(saved)
        restore(view.strata, description, StoredView(self.base.file, None))

    def _write(self, blocks: Iterable[Named], suffix: str) -> Saved:
        token = token_hex(16)
        path = self.directory / (token + suffix)
        places = write(path, bytes.fromhex(token), blocks)
        return Saved(token, path.stat().st_size, places)

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
