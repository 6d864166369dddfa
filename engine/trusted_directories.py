"""Trusted directories, to which only the user can write, so that their files can be read back safely.

Compiled kernels are the reason: they are code. A directory is trusted if it is the user's, and if neither it nor a
directory above it can be written by others; it is judged where its links lead to.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from engine.operating_system import user_id

PRIVATE = 0o700
ROOT = 0


def why_distrusted(directory: Path) -> str:
    """Return why a directory is not trusted, with help, or "" if it is. Raises OSError.

    Everything is trusted where the system has no owners of files, as on Windows.
    """
    user, place = user_id(), Path(os.path.realpath(directory))
    if user is None:
        return ""
    status = place.stat()
    if status.st_uid != user:
        return f"{place} belongs to user {status.st_uid}, not to you ({user})"
    if writable_by_others(status):
        return f"{place} can be written by others: chmod go-w {place}"
    named = Path(os.path.realpath(Path(os.path.abspath(directory)).parent))
    for above in dict.fromkeys((*place.parents, named, *named.parents)):
        status = above.stat()
        if status.st_uid not in (user, ROOT):
            return f"{above}, above {place}, belongs to user {status.st_uid}, not to you ({user})"
        if writable_by_others(status) and not status.st_mode & stat.S_ISVTX:
            return f"{above}, above {place}, can be written by others: chmod go-w {above}"
    return ""


def writable_by_others(status: os.stat_result) -> bool:
    """Return True if others may write: everybody, or a group that is not the user's own of the same number."""
    is_shared = not status.st_gid == status.st_uid == user_id() or status.st_uid == ROOT
    return bool(status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and is_shared))


def opened(directory: Path) -> str:
    """Create a private directory unless it exists. Return the reason why it cannot be used, or ""."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=PRIVATE, exist_ok=True)
        if why := why_distrusted(directory):
            return why
        with tempfile.TemporaryFile(dir=directory):
            return ""
    except OSError as error:
        return f"cannot write {directory} ({error.strerror})"
