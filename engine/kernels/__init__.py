"""Numba kernels: all work per tuple happens here.

`hash_tables` (tables of rows, partitioning), `distribution` (rows on their way to partitions), `csr_runs`,
`columns` (scan, filter, aggregate), `union_find` (equivalences), `choice_domains`, `text_lines` (files), `atomic`
(memory that threads share). Kernels take column-major 2-D arrays, any number of columns, and release the GIL. They are
compiled once per machine
(`engine.kernel_directory`): `numba_compiler` compiles a kernel, `kernel_cache` keeps its `machine_code`, and
`compiled_kernel` calls it.
"""

from __future__ import annotations

from pathlib import Path
from types import FunctionType

from engine.kernel_directory import cache_directory, private_directory
from engine.kernels.compiled_kernel import Inlined, Kernel

directory = cache_directory()


def use_cache(place: Path) -> None:
    """Keep kernels in another directory from now on. Those that are loaded stay as they are."""
    global directory
    directory = place


def use_private_cache() -> None:
    """Keep kernels in a directory that ends with this process."""
    use_cache(private_directory())


def kernel(function: FunctionType) -> Kernel:
    """Compile `function` on first use for the types it is called with; kept on disk, runs without the GIL."""
    return Kernel(function, lambda: directory)


def variant(original: Kernel, name: str, **meanings: Inlined) -> Kernel:
    """Return a kernel like another one, but for what some names mean that it uses."""
    function = original.function
    changed = FunctionType(function.__code__, {**function.__globals__, **meanings}, name)
    return Kernel(changed, original.directory)


def inlined(function: FunctionType) -> Inlined:
    """Let kernels call a function, and compile it as a part of them."""
    return Inlined(function)
