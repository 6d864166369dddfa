"""Where relations wait for the next run: a directory for each commit, under a digest of what else they depend on.

The least recently used are dropped beyond a size. What is damaged, foreign or in use costs a state, never an answer.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import facts
from analyzer.commits.follower import Follower, Reader
from analyzer.commits.snapshot import recorded, restored
from analyzer.config import Config
from analyzer.rulebook import Rulebook
from analyzer.trees import GitTree
from analyzer.widen import bound
from engine.incremental.history import History
from engine.incremental.policy import Maintainer, Predicted
from engine.incremental.prepared import Prepared
from engine.incremental.state import NoState, State, StateError

WAIT_S = 60.0
"""So long a run waits for another one that uses the same state."""


@dataclass(frozen=True, slots=True)
class StateKey:
    """A commit, and a digest of what its relations are made with: rules, extractor, what is scanned."""

    commit: str
    rules: str


def rules_digest(book: Rulebook, config: Config, prefix: str) -> str:
    """Return a digest of all that the relations of a commit depend on, but the commit."""
    digest = hashlib.blake2b(digest_size=16)
    for module in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(module.read_bytes())
    selected = (prefix, config.exclude, config.include_vendored, config.max_file_kb, facts.version())
    digest.update(repr(selected).encode("utf-8", "surrogatepass"))
    for source in book.sources:
        digest.update(repr((source.name, source.text)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class States:
    """The states in a directory, at most `max_bytes` of them. `warnings` say what could not be kept or used."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.warnings: list[str] = []

    def commits(self, rules: str) -> list[str]:
        """Return the commits that there are states of, the last one used first."""
        found = [(used_at(place), place.name) for place in self._places() if place.parent.name == rules]
        return [commit for _, commit in sorted(found, reverse=True)]

    def load(self, key: StateKey, program: Prepared, tree: GitTree, reader: Reader) -> Follower | None:
        """Return the relations saved for a commit, whose tree is given; None if they cannot be used."""
        place = self._place(key)
        if not place.is_dir():
            return None
        state = State(place, program)
        try:
            with opened(state):
                view = state.load(threads=reader.threads, bound=bound(0))
            os.utime(place)
            snapshot = restored(state.notes["snapshot"], tree, reader.config)
        except (NoState, StateError, OSError) as error:
            self.warnings.append(f"{error}; evaluated anew")
            return None
        follower = Follower(Maintainer(view, Predicted(), History.restored(state.notes["history"])), snapshot)
        follower.laid_out = follower.lay_out(snapshot)
        return follower

    def save(self, key: StateKey, follower: Follower) -> None:
        """Keep the relations of a commit, and drop what has not been used for long."""
        state = State(self._place(key), follower.view.prepared)
        state.notes = {
            "snapshot": recorded(follower.snapshot),
            "history": follower.maintainer.history.notes(),
        }
        try:
            with opened(state):
                state.save(follower.view)
        except StateError as error:
            self.warnings.append(str(error))
        self.evict()

    def evict(self) -> None:
        """Drop the states that have not been used for longest, until the others fit."""
        held = sorted((used_at(place), size_of(place), place) for place in self._places())
        total = sum(size for _, size, _ in held)
        for _, size, place in held:
            if total <= self.max_bytes:
                return
            shutil.rmtree(place, ignore_errors=True)
            total -= size

    def _place(self, key: StateKey) -> Path:
        return self.path / key.rules / key.commit

    def _places(self) -> list[Path]:
        return [place for place in self.path.glob("*/*") if place.is_dir()]


@contextmanager
def opened(state: State) -> Iterator[None]:
    """Keep other processes out of a state. Raises StateError."""
    state.open(WAIT_S)
    try:
        yield
    finally:
        state.close()


def used_at(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


def size_of(place: Path) -> int:
    try:
        return sum(file.stat().st_size for file in place.iterdir())
    except OSError:
        return 0
