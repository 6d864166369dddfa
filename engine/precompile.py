"""Kernels compiled ahead of their use, in processes beside the first scan on a machine.

Numba compiles a kernel where it is first called, and keeps it. On a machine without any, a scan would do so for many
seconds while other cores are idle. `common_signatures.txt` lists what scans call, in the order of first calls:
a module, a function, and the names of its arguments' types (`kernels/compiled_kernel.py`). What it does not list is
compiled when called. `tests/benchmarks/kernel_signatures.py` writes it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from engine.kernel_directory import SUFFIX, cache_directory
from engine.operating_system import end_with

LIST = Path(__file__).parent / "common_signatures.txt"
MAX_PROCESSES = 3


@contextmanager
def compiling_kernels(jobs: int) -> Iterator[None]:
    """Compile the common kernels in other processes while the block runs, if there are none, on all but one of `jobs`.

    They end with the block, or with this process.
    """
    if jobs < 2 or next(cache_directory().glob(f"*{SUFFIX}"), None):
        yield
        return
    processes = started(min(jobs - 1, MAX_PROCESSES))
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def compile_kernels(jobs: int) -> bool:
    """Compile the common kernels in as many processes as there are jobs; return whether all could be."""
    return not any([process.wait() for process in started(min(jobs, MAX_PROCESSES))])


def started(shares: int) -> list[subprocess.Popen[bytes]]:
    """Return processes that compile a share of the kernels each, and end with this one."""
    # Without -P, Python would import modules of the current directory, which may be the scanned one.
    command = [sys.executable, "-P", "-m", "engine.precompile", str(os.getpid()), str(shares)]
    silent = subprocess.DEVNULL
    return [
        subprocess.Popen([*command, str(share)], stdin=silent, stdout=silent, stderr=silent) for share in range(shares)
    ]


def compile_share(share: int, shares: int) -> None:
    """Compile every `shares`-th of the kernels listed, for all types that are listed for it."""
    kernels: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for line in LIST.read_text().splitlines():
        module, function, *types = line.split()
        kernels.setdefault((module, function), []).append(tuple(types))
    for (module, function), signatures in list(kernels.items())[share::shares]:
        kernel = getattr(import_module(module), function)
        for signature in signatures:
            kernel.compile(signature)


if __name__ == "__main__":
    parent, shares, share = map(int, sys.argv[1:])
    end_with(parent)
    compile_share(share, shares)
