"""Numba kernels: all work per tuple happens here.

`hash_tables` (tables of rows, partitioning), `distribution` (rows on their way to partitions), `csr_runs`,
`columns` (scan, filter, aggregate), `union_find` (equivalences), `choice_domains`, `text_lines` (files). Kernels
take column-major 2-D arrays, any number of columns, and release the GIL. They are compiled once per machine
(`engine.kernel_directory`). Import this package before numba: it sets Numba's directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.kernel_directory import cache_directory, private_directory

KERNELS: list[Any] = []


def use_cache(directory: Path) -> None:
    """Point Numba at a directory, also when it has been imported before. Kernels that are compiled stay as they are."""
    os.environ["NUMBA_CACHE_DIR"] = str(directory)
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(directory)
    for compiled in KERNELS:
        compiled._cache = KernelCache(compiled.py_func)


def use_private_cache() -> None:
    """Point Numba at a directory that ends with this process."""
    use_cache(private_directory())


use_cache(cache_directory())

from numba import njit  # noqa: E402  (the cache directory must be set first)

from engine.kernels.kernel_cache import KernelCache  # noqa: E402


def kernel(function: Callable) -> Callable:
    """Compile `function` on first use for the types it is called with; kept on disk, runs without the GIL."""
    compiled = njit(nogil=True, error_model="numpy")(function)
    compiled._cache = KernelCache(function)
    KERNELS.append(compiled)
    return compiled
