"""The state directory, `$XDG_CACHE_HOME/analyze`: where it is, and whether it may be used."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from engine import operating_system, trusted_directories

CACHE_HOME, NAME = "XDG_CACHE_HOME", "analyze"
KEPT = ("kernels", "programs", "facts", "claims", "commits")
"""The subdirectories of the state directory."""
ROOM_BYTES = 32 << 20
"""Minimum free disk space; with less, a warning says that compiled kernels and programs may not fit in the cache."""


def default_directory() -> Path:
    return Path(os.environ.get(CACHE_HOME) or Path.home() / ".cache") / NAME


class StateDirectory:
    """A directory for caches: the user's, or a private temporary one if that cannot be used.

    `warning` is set in that case, and if there is little space.

    The user's directory must not be writable by others (`engine.trusted_directories`), and must lie outside of the
    scanned `trees`, which could otherwise plant cache entries. Child processes use the temporary directory, too.
    """

    def __init__(self, path: Path | None = None, *, trees: Iterable[Path] = ()) -> None:
        self.path, self.warning = path or default_directory(), ""
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if why := why_unusable(self.path, trees):
            self.warning = f"{why}; nothing is cached for the next run"
            self._temporary = tempfile.TemporaryDirectory(prefix="analyze-")
            self.path = Path(self._temporary.name) / NAME
            self.path.mkdir()
            self._cache_home = os.environ.get(CACHE_HOME)
            os.environ[CACHE_HOME] = self._temporary.name
            leave_kernels()
        elif (left := operating_system.free_bytes(self.path)) < ROOM_BYTES:
            place = f"the disk of {self.path} has {int(left) >> 20} MB left"
            self.warning = f"{place}; what does not fit is recomputed in each run: free some, or set {CACHE_HOME}"

    @property
    def is_kept(self) -> bool:
        """Return True if it is the user's, and there for the next run."""
        return self._temporary is None

    def close(self) -> None:
        if not self._temporary:
            return
        if self._cache_home is None:
            del os.environ[CACHE_HOME]
        else:
            os.environ[CACHE_HOME] = self._cache_home
        leave_kernels()
        self._temporary.cleanup()


def leave_kernels() -> None:
    """Move the cache of kernels, if loaded, to a private directory of this process."""
    if kernels := sys.modules.get("engine.kernels"):
        kernels.use_private_cache()


def why_unusable(path: Path, trees: Iterable[Path]) -> str:
    """Return the reason why a directory cannot hold caches, with help, or "". Create it if it does not exist."""
    tops = {top_of(tree) for tree in trees}
    linked = [child for name in KEPT if (child := path / name).is_symlink()]
    for place in (path, *linked):
        if top := next((top for top in tops if Path(os.path.realpath(place)).is_relative_to(top)), None):
            return f"{place} lies in the scanned tree: set {CACHE_HOME} to a directory outside of {top}"
        if why := trusted_directories.opened(place):
            return f"{why}; or set {CACHE_HOME} to a directory of your own"
    return ""


def top_of(tree: Path) -> Path:
    """Return the top of the checkout that holds a scanned tree, or the tree itself if it is in none."""
    place = Path(os.path.realpath(tree))
    return next((above for above in (place, *place.parents) if (above / ".git").exists()), place)
