"""Stored relations for the next run: a directory per content, under a digest of their other dependencies.

States reached by updates from one evaluation share its base, and each has a log of its own. The least recently used
are evicted beyond a size. A damaged, foreign or busy state costs time, never correctness.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import facts
from analyzer.configuration.config import Config
from analyzer.evaluation import recursion_bounds
from analyzer.extraction.discovery import discover
from analyzer.history.commit_update import Follower, Reader
from analyzer.history.snapshot import Snapshot, recorded, restored
from analyzer.sources.trees import GitTree
from engine.incremental import (
    MANIFEST,
    DamagedFile,
    DurationModel,
    Maintainer,
    NoState,
    Predicted,
    PreparedProgram,
    State,
    StateError,
    lock,
)
from engine.operating_system import stored_bytes

Made = TypeVar("Made")

LOOKED_AT = 3
"""Maximum number of states considered as a start for an update."""
WAIT_S = 60.0
"""Seconds that a run waits for another one that uses the same state."""
SHOWN = 12
"""Number of hex digits of a commit hash that are shown."""


@dataclass(frozen=True, slots=True)
class StateKey:
    """A digest of files (`GitTree.content`), and one of other dependencies of facts: the extractor, the selection."""

    files: str
    scanned: str


def scanned_digest(config: Config, prefix: str) -> str:
    """Return a digest of the dependencies of a commit's facts, except for its files."""
    digest = hashlib.blake2b(digest_size=16)
    for module in (*sorted(Path(__file__).parent.glob("*.py")), Path(recursion_bounds.__file__)):
        digest.update(module.read_bytes())
    selected = (prefix, config.exclude, config.include_vendored, config.max_file_kb, facts.version())
    digest.update(repr(selected).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class States:
    """The states in a directory, at most `max_bytes` large. `warnings` list failures to save or load.

    A state that another process is using is waited for `wait_s` seconds, once.
    """

    def __init__(self, path: Path, max_bytes: int, wait_s: float = WAIT_S) -> None:
        self.path, self.max_bytes, self.wait_s = path, max_bytes, wait_s
        self.warnings: list[str] = []
        self._in_use: dict[Path, StateError] = {}
        self._loaded: list[State] = []

    def load(self, key: StateKey, program: PreparedProgram, tree: GitTree, reader: Reader) -> Follower | None:
        """Return the relations saved for the files of a tree; None if they cannot be used.

        If they were made by other rules, the strata affected by the difference are re-evaluated.
        """
        found = self._load(self._place(key), program, reader)
        if found:
            found.snapshot.found = discover(tree, reader.config)
        return found

    def holds(self, key: StateKey) -> bool:
        """Return True if there is a state of these files."""
        return self._place(key).is_dir()

    def nearest(
        self, key: StateKey, program: PreparedProgram, tree: GitTree, reader: Reader
    ) -> tuple[GitTree | None, Follower | None]:
        """Return the tree and relations of the last used state that shares most of its files with `tree`."""
        others = [place for place in self._places() if place.parent.name == key.scanned and place.name != key.files]
        for place in sorted(others, key=used_at, reverse=True)[:LOOKED_AT]:
            found = self._load(place, program, reader)
            if found and is_near(found.snapshot, tree):
                return tree.of_objects(found.snapshot.objects), found
        return None, None

    def _load(self, place: Path, program: PreparedProgram, reader: Reader) -> Follower | None:
        if not place.is_dir():
            return None
        state = State(place, program)
        try:
            with self._opened(state):
                view = state.migrate(threads=reader.threads, bounds=recursion_bounds.bounds(), budget=reader.budget)
            os.utime(place)
        except (NoState, StateError, OSError) as error:
            if not isinstance(error, NoState) or error.damage:
                self.warnings.append(f"{error}; evaluated anew")
            return None
        self._loaded.append(state)
        maintainer = Maintainer(view, Predicted(), DurationModel.restored(state.notes["history"]))
        return Follower(maintainer, restored(state.notes["snapshot"]), base=state.base, anew=state.anew)

    def without_damage(self, work: Callable[[], Made]) -> Made:
        """Return the result of `work`, which loads states. Discard states that prove damaged, and repeat it.

        Arrays are verified on first use, which may be long after a state was loaded.
        """
        while True:
            self._loaded.clear()
            try:
                return work()
            except DamagedFile as error:
                if not self._loaded:
                    raise
                for state in self._loaded:
                    with suppress(StateError), self._opened(state):
                        state.discard()
                self.warnings.append(f"a state in {self.path} is damaged: {error}; evaluated anew")

    def save(self, key: StateKey, follower: Follower) -> None:
        """Save the relations of a commit, and evict old states."""
        state = State(self._place(key), follower.view.prepared)
        state.notes = {
            "snapshot": recorded(follower.snapshot),
            "history": follower.maintainer.durations.notes(),
        }
        state.base = follower.base
        try:
            with self._opened(state):
                state.save(follower.view)
            follower.base = state.base
        except (StateError, DamagedFile) as error:
            self.warnings.append(f"{error}; the relations of {shown(follower.snapshot)} are not saved")
        n_bytes = sum(file.n_bytes for file in files_in(state.directory))
        self.evict()
        if n_bytes and not state.directory.exists():
            self.warnings.append(
                f"the relations of {shown(follower.snapshot)} are not kept, so the next run evaluates anew: "
                f"they take {megabytes(n_bytes)} MB, and states may take {megabytes(self.max_bytes)}; "
                f"--max-state-mb sets the limit"
            )

    def save_all(self, unsaved: list[tuple[StateKey, Follower]]) -> list[str]:
        """Save the relations of commits, which leave the list. Return the warnings about it."""
        n_known = len(self.warnings)
        while unsaved:
            self.save(*unsaved.pop(0))
        return self.warnings[n_known:]

    def evict(self) -> None:
        """Remove the least recently used states until the others fit. Those in use stay."""
        held = {place: files_in(place) for place in sorted(self._places(), key=used_at)}
        n_states = Counter(file for files in held.values() for file in files)
        total = sum(file.n_bytes for file in n_states)
        for place, files in held.items():
            if total <= self.max_bytes:
                return
            if removed(place):
                n_states.subtract(files)
                total -= sum(file.n_bytes for file in files if not n_states[file])

    @contextmanager
    def _opened(self, state: State) -> Iterator[None]:
        """Lock a state against other processes. Raises StateError."""
        try:
            state.open(0.0 if state.directory in self._in_use else self.wait_s)
        except StateError as error:
            raise self._in_use.setdefault(state.directory, error) from None
        try:
            yield
        finally:
            state.close()

    def _place(self, key: StateKey) -> Path:
        return self.path / key.scanned / key.files

    def _places(self) -> list[Path]:
        return [place for place in self.path.glob("*/*") if place.is_dir()]


def megabytes(n_bytes: int) -> int:
    return -(-n_bytes >> 20)


def shown(snapshot: Snapshot) -> str:
    return snapshot.commit[:SHOWN] or "the index"


def is_near(snapshot: Snapshot, tree: GitTree) -> bool:
    """Return True if at least half of a snapshot's files are unchanged in a tree."""
    same = sum(tree.object(path) == name for path, name in snapshot.objects.items())
    return 2 * same >= len(snapshot.objects)


def used_at(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


class File(NamedTuple):
    """A file identified by device and inode, and its size on disk."""

    device: int
    number: int
    n_bytes: int


def files_in(place: Path) -> set[File]:
    """Return the files of a state; other states may share them."""
    with suppress(OSError):
        found = [file.stat() for file in place.iterdir()]
        return {File(s.st_dev, s.st_ino, stored_bytes(s)) for s in found}
    return set()


def removed(place: Path) -> bool:
    """Remove a state unless another process uses it. Return True if it is gone. The manifest is removed first."""
    with suppress(OSError):
        held = lock(place / "lock", 0)
        if held is not None:
            (place / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(place, ignore_errors=True)
            held.release()
    return not place.exists()
