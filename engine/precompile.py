"""Kernels compiled ahead of their use, in processes beside the first scan on a machine.

Numba compiles a kernel where it is first called, and keeps it. On a machine without any, a scan would do so for many
seconds while other cores are idle. `common_signatures.txt` lists what scans call, and behind that what `analyze ci`
calls beside it, in the order of first calls: a module, a function, and the names of its arguments' types
(`kernels/compiled_kernel.py`). What it does not list is compiled when called. `tests/benchmarks/kernel_signatures.py`
writes it.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from engine.kernel_directory import SHIPPED, SUFFIX, cache_directory
from engine.operating_system import end_with, lower_priority

LIST = Path(__file__).parent / "common_signatures.txt"
MAX_PROCESSES = 3


@contextmanager
def compiling_kernels(jobs: int) -> Iterator[None]:
    """Compile the common kernels in other processes while the block runs, if there are none; not for a single job.

    They leave the processor to others, claim what they compile, and end with the block, or with this process.
    """
    if jobs < 2 or any(next(place.glob(f"*{SUFFIX}"), None) for place in (SHIPPED, cache_directory())):
        yield
        return
    processes = started(jobs, cache_directory())
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def compile_kernels(jobs: int, directory: Path | None = None) -> bool:
    """Compile the common kernels in as many processes as there are jobs; return whether all could be.

    They are kept in `directory`, by default the user's.
    """
    return not any([process.wait() for process in started(jobs, directory or cache_directory())])


def started(jobs: int, directory: Path) -> list[subprocess.Popen[bytes]]:
    """Return processes that compile the kernels together, and end with this one."""
    # Without -P, Python would import modules of the current directory, which may be the scanned one.
    command = [sys.executable, "-P", "-m", "engine.precompile", str(os.getpid()), str(directory)]
    silent = subprocess.DEVNULL
    return [
        subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent) for _ in range(min(jobs, MAX_PROCESSES))
    ]


def compile_listed() -> None:
    """Compile the kernels that are listed, in turn, but for those that another process compiles."""
    gc.disable()  # Collections would take a fifth of the time.
    for line in LIST.read_text().splitlines():
        module, function, *types = line.split()
        getattr(import_module(module), function).compile(tuple(types), wait=False)


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    lower_priority()
    from engine.kernels import use_cache

    use_cache(Path(sys.argv[2]))
    compile_listed()
