"""The place where commands find the live process of a directory: a socket that only its user can reach."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import analyzer
from analyzer import state_directory
from analyzer.errors import AnalyzeError
from engine import trusted_directories
from engine.operating_system import user_id

NAME = "analyze"


@dataclass(frozen=True, slots=True)
class Rendezvous:
    """The socket of the live process of a directory, its lock, which that process holds, and its log."""

    socket: Path
    lock: Path
    log: Path

    @classmethod
    def of(cls, path: Path) -> Rendezvous:
        """Return the place for a directory, this version of the tool and this cache. Raises AnalyzeError L001."""
        parts = (os.path.realpath(path), analyzer.VERSION, str(code_stamp()), str(state_directory.default_directory()))
        name = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=10).hexdigest()
        directory = run_time_directory()
        if why := trusted_directories.opened(directory):
            raise AnalyzeError("L001", f"no live process can be reached: {why}", help="set XDG_RUNTIME_DIR")
        return cls(directory / f"{name}.sock", directory / f"{name}.lock", directory / f"{name}.log")


def run_time_directory() -> Path:
    """Return the user's directory for sockets."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    return Path(given) / NAME if given else Path(tempfile.gettempdir()) / f"{NAME}-{user_id() or 0}"


def may_answer(mode: str | None) -> bool:
    """Return True if a live process may answer: with on it is started, with auto some process of the user's listens.

    Without a mode, it is auto, or off where CI is set.
    """
    mode = mode or ("off" if os.environ.get("CI") else "auto")
    return mode == "on" or (mode == "auto" and any(run_time_directory().glob("*.sock")))


@cache
def code_stamp() -> int:
    """Return the time of the last change of the code and rules that this process began with, in nanoseconds.

    Installed packages are written all at once; in a checkout each file is looked at.
    """
    top = Path(analyzer.__path__[0]).parent
    if not (top / "pyproject.toml").is_file():
        return (top / "analyzer/__init__.py").stat().st_mtime_ns
    return max(time_ns for name in ("analyzer", "engine", "facts", "rules") for time_ns in times_below(top / name))


def times_below(directory: str | Path) -> Iterator[int]:
    """Yield when the sources below a directory were last written."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from times_below(entry.path)
            elif entry.name.endswith((".py", ".dl")):
                yield entry.stat().st_mtime_ns
