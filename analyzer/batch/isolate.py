"""A process of its own for work that may crash, hang or exhaust memory, and what it cost."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: `failure` says why it was not by itself with exit code 0, or is ""."""

    failure: str
    elapsed_s: float
    processor_s: float
    peak_bytes: int


def run_isolated(command: Sequence[str], directory: Path, environment: Mapping[str, str], timeout_s: float) -> Ended:
    """Run a command in a session of its own, and end it with all it has started when its time is over.

    What it writes to standard error goes to the file `stderr` in `directory`, where it runs.
    """
    started = time.monotonic()
    with open(directory / "stderr", "wb") as errors:
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
        in_time = has_ended(process.pid, timeout_s)
    finally:  # Also when we are interrupted: nothing of it goes on.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    failure = said(process.returncode) if in_time else f"took longer than {timeout_s:g} s"
    processor_s = usage.ru_utime + usage.ru_stime
    return Ended(failure, time.monotonic() - started, processor_s, usage.ru_maxrss * 1024)


def has_ended(pid: int, timeout_s: float) -> bool:
    """Wait for a child, which is left to be waited for; return whether it ended in time."""
    descriptor = os.pidfd_open(pid)
    try:
        readable, _, _ = select.select([descriptor], [], [], timeout_s)
        return bool(readable)
    finally:
        os.close(descriptor)


def said(code: int) -> str:
    """Why a process ended, by its exit code."""
    if code >= 0:
        return f"ended with exit code {code}" if code else ""
    return f"crashed ({signal.Signals(-code).name})"


def confine(memory_bytes: int, parent: int) -> None:
    """Called by the process itself, before it does anything: it lives no longer than its parent, within a limit.

    What is limited is the data of each process: memory that files back, as of spilled arrays, does not count.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It ended before it could be watched.
        os._exit(1)
