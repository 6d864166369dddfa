"""Safe access to files of an untrusted tree: opened from its root downwards, without following links.

Each directory is opened relative to the one above, so what is replaced by a link between two steps leads nowhere. Where
the system cannot open relative to a directory, the path must resolve to itself, both before it is used and afterwards,
and what was opened must be what stands there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_BYTES = 256 << 20
"""A larger file is not read."""
BY_STEPS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and os.scandir in os.supports_fd
O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK = (getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"))


def read_beneath(root: Path, path: str) -> bytes:
    """Return the bytes of a regular file. Raises OSError for anything else, and EFBIG beyond `MOST_BYTES`.

    Nobody is waited for: neither who might write into a pipe, nor a device.
    """
    with _parent(root, path) as (place, directory):
        # What is no regular file is not opened, since opening a device may do something; then it is looked at again.
        _must_be_regular(os.stat(place, dir_fd=directory, follow_symlinks=False), path)
        descriptor = os.open(place, os.O_RDONLY | O_NOFOLLOW | O_NONBLOCK, dir_fd=directory)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            _must_be_regular(status, path)
            if directory is None and not os.path.samestat(status, os.stat(place, follow_symlinks=False)):
                raise OSError(errno.ELOOP, "is a symbolic link, which is not followed", path)
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise too_large(path)
    return data


def stat_beneath(root: Path, path: str) -> os.stat_result:
    """Return the status of a path itself. Raises OSError, ELOOP or ENOTDIR where it lies behind a link."""
    with _parent(root, path) as (place, directory):
        return os.stat(place, dir_fd=directory, follow_symlinks=False)


def list_beneath(root: Path, directory: str) -> dict[str, os.stat_result]:
    """Return the entries of a directory by name, with their own status; those that vanish meanwhile are not there.

    Raises OSError.
    """
    with _opened(root, directory) as place, os.scandir(place) as rows:
        return {row.name: status for row in rows if (status := _status(row))}


def too_large(path: str) -> OSError:
    return OSError(errno.EFBIG, f"larger than {MOST_BYTES >> 20} MB", path)


def _status(row: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return row.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _must_be_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, "is a symbolic link, which is not followed", path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", path)


@contextmanager
def _parent(root: Path, path: str) -> Iterator[tuple[str, int | None]]:
    """Open the directory that a path lies in; give the rest, and the directory that it is relative to."""
    above, _, name = path.rpartition("/")
    with _opened(root, above) as directory:
        yield (name, directory) if isinstance(directory, int) else (os.path.join(directory, name), None)


@contextmanager
def _opened(root: Path, directory: str) -> Iterator[int | str]:
    """Open a directory below the root ("" is the root itself); without descriptors of them, give its path."""
    parts = [part for part in directory.split("/") if part]
    if directory.startswith("/") or ".." in parts:
        raise OSError(errno.EINVAL, "lies outside the tree", directory)
    if not BY_STEPS:
        place = os.path.join(root, *parts)
        _must_be_itself(root, place, parts)
        yield place
        _must_be_itself(root, place, parts)
        return
    descriptor = os.open(root, os.O_RDONLY | O_DIRECTORY)
    try:
        for part in parts:
            inner = _step(part, descriptor, directory)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _must_be_itself(root: Path, place: str, parts: list[str]) -> None:
    resolved = os.path.join(os.path.realpath(root), *parts)
    if os.path.normcase(os.path.realpath(place)) != os.path.normcase(resolved):
        raise OSError(errno.ELOOP, "lies behind a symbolic link, which is not followed", "/".join(parts))


def _step(part: str, above: int, directory: str) -> int:
    try:
        return os.open(part, os.O_RDONLY | O_DIRECTORY | O_NOFOLLOW, dir_fd=above)
    except OSError as error:
        if stat.S_ISLNK(os.stat(part, dir_fd=above, follow_symlinks=False).st_mode):
            why = "lies behind a symbolic link, which is not followed"
            raise OSError(errno.ELOOP, why, directory) from None
        raise error
