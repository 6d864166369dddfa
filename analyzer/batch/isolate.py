"""A process of its own for work that may crash, hang or exhaust memory, and what it cost."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import system


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
        in_time = system.has_ended(process, timeout_s)
    finally:  # Also when we are interrupted: nothing of it goes on.
        system.kill_session(process)
        processor_s, peak_bytes = system.reaped(process)
    failure = said(process.returncode) if in_time else f"took longer than {timeout_s:g} s"
    return Ended(failure, time.monotonic() - started, processor_s, peak_bytes)


def said(code: int) -> str:
    """Why a process ended, by its exit code."""
    if code >= 0:
        return f"ended with exit code {code}" if code else ""
    return f"crashed ({signal.Signals(-code).name})"


def confine(memory_bytes: int, parent: int) -> None:
    """Called by the process itself, before it does anything: it lives no longer than its parent, within a limit.

    What is limited is the data of each process: memory that files back, as of spilled arrays, does not count.
    """
    system.limit_data(memory_bytes)
    system.end_with(parent)
