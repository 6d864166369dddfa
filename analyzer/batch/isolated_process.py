"""Run work that may crash, hang or exhaust memory in a separate process, and measure its cost."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import operating_system

STDERR = "stderr"
"""The file with the output of a process, in its directory."""

OUT_OF_MEMORY = re.compile(
    r"(?i)memory allocation|out of memory|cannot allocate memory|failed to map segment|bad_alloc|MemoryError"
)


def lacks_memory(message: str) -> bool:
    """Return True for the words of libraries, such as OpenBLAS, LLVM and the dynamic linker, that get no memory."""
    return OUT_OF_MEMORY.search(message) is not None


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a process: `failure` is the reason, or "" for exit code 0."""

    failure: str
    elapsed_s: float
    processor_s: float
    peak_bytes: int


def run_isolated(command: Sequence[str], directory: Path, environment: Mapping[str, str], timeout_s: float) -> Ended:
    """Run a command in a session of its own; on timeout, kill it and all processes that it started.

    It runs in `directory`; its output goes to the file STDERR there.
    """
    started = time.monotonic()
    with open(directory / STDERR, "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )
    try:
        in_time = operating_system.has_ended(process, timeout_s)
    finally:  # Also when we are interrupted: nothing of it goes on.
        operating_system.kill_session(process)
        processor_s, peak_bytes = operating_system.reaped(process)
    failure = said(process.returncode) if in_time else f"took longer than {timeout_s:g} s"
    return Ended(failure, time.monotonic() - started, processor_s, peak_bytes)


def said(code: int) -> str:
    """Return the reason for an exit code, or "" for 0."""
    if code >= 0:
        return f"ended with exit code {code}" if code else ""
    return f"crashed ({signal.Signals(-code).name})"


def confine(memory_bytes: int, parent: int) -> None:
    """Limit the memory of this process, and end it with its parent. Called by the process itself.

    The limit is on the data segment: file-backed memory, as of spilled arrays, does not count.
    """
    operating_system.limit_data(memory_bytes)
    operating_system.end_with(parent)
