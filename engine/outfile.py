"""Files that are whole: written beside their place, and moved there. A full disk or a kill leaves the old, or none."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced(path: Path | str) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the place of the one at `path` if all goes well. Raises OSError.

    Links are followed. The permissions are those of the file before, or up to the umask. A device or a pipe is written
    to as it is.
    """
    place = Path(os.path.realpath(path))
    before = place.stat() if place.exists() else None
    if before and not stat.S_ISREG(before.st_mode):
        with open(place, "wb") as file:
            yield file
        return
    beside = place.parent / f".tmp-{secrets.token_hex(8)}"
    descriptor, has_name = _open_new(beside)
    try:
        try:
            with open(descriptor, "wb", closefd=False) as file:
                if before:
                    os.chmod(beside if has_name else descriptor, stat.S_IMODE(before.st_mode))
                yield file
            if not has_name:
                # Python follows the link of /proc only where a directory is given, which an absolute path ignores.
                os.link(f"/proc/self/fd/{descriptor}", beside, src_dir_fd=descriptor)
        finally:
            os.close(descriptor)
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _open_new(path: Path) -> tuple[int, bool]:
    """Open a new file for writing: without a name where the system can, else at `path`. Return whether it has a name.

    A file without a name goes with its process, however that ends.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # Not every file system can.
            return os.open(path.parent, os.O_WRONLY | os.O_TMPFILE, 0o666), False
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), True
