"""The directories of compiled kernels: one per user and version of the kernels' sources, and what a wheel brings.

Their name is a hash of all these sources: a compiled kernel has in it what it calls.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

from engine import trusted_directories

SUFFIX = ".kernel"
"""Of the files of compiled kernels."""


@cache
def source_hash() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "kernels").glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


SHIPPED = Path(__file__).parent / "compiled_kernels" / source_hash()
"""The kernels in a wheel; a checkout has none there."""


def cache_directory() -> Path:
    """The directory for compiled kernels: in the user's cache or, where that cannot be used, a private one."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "analyze" / "kernels"
    directory = base / source_hash()
    if not (why := trusted_directories.opened(base) or trusted_directories.opened(directory)):
        return directory
    warnings.warn(f"kernels are compiled anew in each process: {why}; or set XDG_CACHE_HOME", stacklevel=2)
    return private_directory()


def private_directory() -> Path:
    """A temporary directory, which is removed when the process ends."""
    directory = Path(tempfile.mkdtemp(prefix="analyze-kernels-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory
