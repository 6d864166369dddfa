"""The saved relations of HEAD, which a live process shares with `analyze ci` and the hook: where it begins."""

from __future__ import annotations

from pathlib import Path

from analyzer.extraction.discovery import discover
from analyzer.history.commit_update import Follower, Reader
from analyzer.history.hook import tree_of_head
from analyzer.history.states import StateKey, States, scanned_digest
from analyzer.sources.git import Repository
from analyzer.sources.trees import GitTree
from engine.incremental import PreparedProgram

WAIT_S = 5.0
"""Seconds that a live process waits for another one that uses the state."""


class HeadState:
    """The state of the commit that HEAD names, for the directory at `path`; none outside of repositories.

    A state is locked while it is read or written only. `warnings` say why one could not be.
    """

    def __init__(self, path: Path, directory: Path, max_bytes: int) -> None:
        self.path = path
        self._states = States(directory / "commits", max_bytes, WAIT_S)

    @property
    def warnings(self) -> list[str]:
        return self._states.warnings

    def load(self, program: PreparedProgram, reader: Reader) -> tuple[Follower, GitTree] | None:
        """Return the relations of HEAD and its tree, if they are saved."""
        head = self._head()
        if head is None:
            return None
        follower = self._states.load(self._key(head, reader), program, head, reader)
        if follower is None:
            head.close()
            return None
        return follower, head

    def save(self, follower: Follower, reader: Reader) -> bool:
        """Save relations whose files are those of HEAD, unless they are saved. Return True if that has been done."""
        head = self._head()
        if head is None:
            return False
        try:
            key = self._key(head, reader)
            files = {path: head.object(path) for path, _ in discover(head, reader.config).files}
            if self._states.holds(key) or files != follower.snapshot.objects:
                return False
            follower.snapshot.commit = head.revision
            self._states.save(key, follower)
            return True
        finally:
            head.close()

    def _head(self) -> GitTree | None:
        """Return the tree of HEAD below the path, or None where there is no commit."""
        repository = Repository.find(self.path.resolve()) if self.path.is_dir() else None
        return tree_of_head(repository, str(self.path)) if repository else None

    @staticmethod
    def _key(head: GitTree, reader: Reader) -> StateKey:
        return StateKey(head.content, scanned_digest(reader.config, head.prefix))
