"""The place where commands find the live process of a directory: a socket that only its user can reach."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
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


def code_stamp() -> int:
    """Return the time of the last change of the installed code and rules, in nanoseconds."""
    top = Path(analyzer.__path__[0]).parent
    packages = (top / name for name in ("analyzer", "engine", "facts", "rules"))
    files = (file for package in packages for ending in ("*.py", "*.dl") for file in package.rglob(ending))
    return max(file.stat().st_mtime_ns for file in files)
