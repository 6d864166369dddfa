"""Files that are whole: written beside their place, and moved there. A full disk or a kill leaves the old, or none."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engine.operating_system import give_name, open_nameless


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
    descriptor = open_nameless(place.parent)
    if has_name := descriptor is None:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        try:
            with open(descriptor, "wb", closefd=False) as file:
                if before:
                    os.chmod(beside if has_name else descriptor, stat.S_IMODE(before.st_mode))
                yield file
            if not has_name:
                give_name(descriptor, beside)
        finally:
            os.close(descriptor)
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
