"""The Spark task of a repository: attempts, each in a process of its own, until its results are published.

A task never raises because of a repository: errors become the repository's result.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypedDict

import analyzer
from analyzer.batch.isolated_process import STDERR, Ended, lacks_memory, run_isolated
from analyzer.batch.lost_attempts import REASON, begun, is_published, lost_by
from analyzer.batch.result_files import publish, write_failure
from analyzer.batch.scan_job import Job
from analyzer.batch.scan_process import JOB, OUTCOME, Outcome
from analyzer.cache_entries import write_atomically

RUNNING, ATTEMPTS, COSTS = "running", "attempts", "costs"
MAX_DETAIL = 2000
OF_ITS_SHARE = "memory than its share of the executor's; raise it with --memory"


class FailedAttempt(TypedDict):
    """Why an attempt failed, and the last of what it said."""

    reason: str
    stderr: str


class Measured(TypedDict):
    """The costs of all attempts at a repository, and the limits that they had."""

    attempts: int
    elapsed_s: float
    processor_s: float
    peak_bytes: int
    limits: list[float | None]


class Costs(Measured, Outcome, total=False):
    """These, the outcome of the last attempt, and failures of earlier ones; `lost` counts attempts without an end."""

    lost: int
    memory_bytes: int | None
    failed_attempts: list[FailedAttempt]


def run(job: Job, threads: int) -> None:
    """Scan a repository and publish its results, or the failure of its last attempt.

    Do nothing if that is done, or if an attempt was lost since the driver submitted the job, which then decides.
    """
    workspace, name = Path(job.workspace), job.target.name
    if is_published(job) or lost_by(job) > job.n_lost:
        return
    with begun(workspace, name), announced(workspace, name), directory_for(workspace, name) as attempt:
        costs = no_costs(job)
        reason = "not tried"
        while reason and costs["attempts"] <= job.limits.retries:
            ended, outcome = attempted(job, attempt, threads)
            reason, is_final = judged(job, ended, outcome)
            add(costs, ended, outcome, reason, attempt)
            if is_final:
                break
        if reason:
            write_failure(job.target, reason, attempt)
        costs["memory_bytes"] = job.memory_bytes
        save_costs(workspace, name, costs)
        publish(attempt, name, workspace)


def give_up(job: Job) -> None:
    """Publish that all attempts at a repository were lost."""
    workspace, name = Path(job.workspace), job.target.name
    with directory_for(workspace, name) as attempt:
        write_failure(job.target, REASON, attempt)
        n = lost_by(job)
        costs = no_costs(job)
        costs["attempts"] = costs["lost"] = n
        save_costs(workspace, name, costs)
        publish(attempt, name, workspace)


def no_costs(job: Job) -> Costs:
    return {"attempts": 0, "elapsed_s": 0.0, "processor_s": 0.0, "peak_bytes": 0, "limits": limits_of(job)}


def attempted(job: Job, attempt: Path, threads: int) -> tuple[Ended, Outcome]:
    """Run the scan. Return the end of its process, and its outcome."""
    (attempt / OUTCOME).unlink(missing_ok=True)
    job.save(attempt / JOB)
    command = [sys.executable, "-P", "-m", "analyzer.batch.scan_process", str(threads), str(os.getpid())]
    ended = run_isolated(command, attempt, environment(job), job.limits.timeout_s)
    try:
        return ended, json.loads((attempt / OUTCOME).read_text())
    except (OSError, ValueError):
        return ended, {"out_of_memory": True} if lacks_memory(last_words(attempt)) else {}


def last_words(attempt: Path) -> str:
    return (attempt / STDERR).read_bytes()[-MAX_DETAIL:].decode("utf-8", "replace").strip()


def environment(job: Job) -> dict[str, str]:
    """Return the environment of a scan: this installation's code, the batch's cache, single-threaded BLAS."""
    top = str(Path(analyzer.__file__).parents[1])
    path = os.pathsep.join([top, *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"PYTHONSAFEPATH": "1", "PYTHONPATH": path, "XDG_CACHE_HOME": job.cache}
    return {**os.environ, **own, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def judged(job: Job, ended: Ended, outcome: Outcome) -> tuple[str, bool]:
    """Return the reason of an attempt's failure, or "", and True if a retry would fail in the same way."""
    if outcome.get("out_of_memory"):
        given = job.limits.memory_bytes
        return f"needs more {f'than {size_text(given)} of memory' if given else OF_ITS_SHARE}", False
    if error := outcome.get("error"):
        return error, not outcome.get("may_be_tried_again")
    return ended.failure or ("" if outcome else "ended without a result"), False


def add(costs: Costs, ended: Ended, outcome: Outcome, reason: str, attempt: Path) -> None:
    """Add the costs of an attempt to those of the repository."""
    costs["attempts"] += 1
    costs["elapsed_s"] = round(costs["elapsed_s"] + ended.elapsed_s, 3)
    costs["processor_s"] = round(costs["processor_s"] + ended.processor_s, 3)
    costs["peak_bytes"] = max(costs["peak_bytes"], ended.peak_bytes)
    costs |= outcome
    if reason:
        costs.setdefault("failed_attempts", []).append({"reason": reason, "stderr": last_words(attempt)})


def limits_of(job: Job) -> list[float | None]:
    """Return the limits to record with a failure: it is retried under other limits."""
    return [job.limits.timeout_s, job.limits.memory_bytes, job.limits.retries]


def save_costs(workspace: Path, name: str, costs: Costs) -> None:
    write_atomically(workspace / COSTS / f"{name}.json", (json.dumps(costs, sort_keys=True) + "\n").encode())


@contextmanager
def announced(workspace: Path, name: str) -> Iterator[None]:
    """Record in a file that a repository is running, and its start time."""
    path = workspace / RUNNING / name
    write_atomically(path, str(time.time()).encode())
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def directory_for(workspace: Path, name: str) -> Iterator[Path]:
    """Yield a directory for attempts on the file system of the workspace, so that results can be moved."""
    (workspace / ATTEMPTS).mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=workspace / ATTEMPTS))
    try:
        yield path
    finally:
        with suppress(OSError):
            shutil.rmtree(path)


def size_text(n_bytes: int) -> str:
    """Return a number of bytes in the command line's notation."""
    return f"{n_bytes / 2**30:.3g}G" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.3g}M"
