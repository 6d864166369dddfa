"""Numba kernels: all work per tuple happens here.

`hash_tables` (tables of rows, partitioning), `distribution` (rows on their way to partitions), `csr_runs`,
`columns` (scan, filter, aggregate), `union_find` (equivalences), `choice_domains`, `text_lines` (files). Kernels
take column-major 2-D arrays, any number of columns, and release the GIL. They are compiled once per machine and kept in
a directory per user whose name is a hash of all kernel sources: Numba does not notice a changed callee by itself.
Import this package before numba: it sets that directory.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine import trusted_directories


def source_hash() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


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


KERNELS: list[Any] = []


def use_cache(directory: Path) -> None:
    """Point Numba at a directory, also when it has been imported before. Kernels that are compiled stay as they are."""
    os.environ["NUMBA_CACHE_DIR"] = str(directory)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(directory)
    for compiled in KERNELS:
        compiled._cache = KernelCache(compiled.py_func)


use_cache(cache_directory())

from numba import njit  # noqa: E402  (the cache directory must be set first)

from engine.kernels.kernel_cache import KernelCache  # noqa: E402


def kernel(function: Callable) -> Callable:
    """Compile `function` on first use for the types it is called with; kept on disk, runs without the GIL."""
    compiled = njit(nogil=True, error_model="numpy")(function)
    compiled._cache = KernelCache(function)
    KERNELS.append(compiled)
    return compiled
