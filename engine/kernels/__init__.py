"""Numba kernels: all work per tuple happens here.

`hashing` (tables of rows, partitioning), `distribution` (rows on their way to partitions), `runs` (arrangements),
`columns` (scan, filter, aggregate), `classes` (equivalences), `admission` (choice domains), `text` (files). Kernels
take column-major 2-D arrays, any number of columns, and release the GIL. They are compiled once per machine and kept in
a directory per user whose name is a hash of all kernel sources: Numba does not notice a changed callee by itself.
Import this package before numba: it sets that directory.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path


def source_hash() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """The directory for compiled kernels: in the user's cache or, where that cannot be written, a temporary one."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    directory = base / "analyze" / "kernels" / source_hash()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError as error:
        warnings.warn(f"kernels are compiled anew in each process: {directory} is not writable ({error})", stacklevel=2)
        return Path(tempfile.mkdtemp(prefix="analyze-kernels-"))


def use_cache() -> None:
    """Point Numba at the cache directory, also when something else has imported it before."""
    directory = str(cache_directory())
    os.environ["NUMBA_CACHE_DIR"] = directory
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = directory


use_cache()

from numba import njit  # noqa: E402  (the cache directory must be set first)

KERNELS: list[Callable] = []


def kernel(function: Callable) -> Callable:
    """Compile `function` on first use for the types it is called with; kept on disk, runs without the GIL."""
    compiled = njit(nogil=True, cache=True, error_model="numpy")(function)
    KERNELS.append(compiled)
    return compiled
