"""Lost attempts: begun and never ended, because their executor or machine was lost.

A file counts an attempt from its begin to its end, however it ends. Attempts counted while nothing runs were lost. A
repository that lost an attempt may be the cause, or a victim of another one: it is retried last and alone, where the
cause is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from analyzer.batch.result_files import part
from analyzer.batch.scan_job import Job
from analyzer.cache_entries import write_atomically

BEGUN = "begun"
REASON = "every attempt was lost with its executor, which was killed or ran out of memory"


def n_lost(workspace: Path, name: str) -> int:
    """Return the number of attempts at a repository that began and did not end."""
    try:
        return int((workspace / BEGUN / name).read_text())
    except (OSError, ValueError):
        return 0


def set_lost(workspace: Path, name: str, n: int) -> None:
    if n:
        write_atomically(workspace / BEGUN / name, str(n).encode())
    else:
        (workspace / BEGUN / name).unlink(missing_ok=True)


@contextmanager
def begun(workspace: Path, name: str) -> Iterator[None]:
    """Count an attempt as lost while the context is active."""
    before = n_lost(workspace, name)
    set_lost(workspace, name, before + 1)
    try:
        yield
    finally:
        set_lost(workspace, name, before)


def in_rounds(jobs: Sequence[Job], run: Callable[[Sequence[Job]], None], give_up: Callable[[Job], None]) -> None:
    """Run jobs concurrently, then those that have lost an attempt one at a time.

    A job that loses an attempt alone is given up when it has no retries left. An interrupted batch loses nothing.
    """
    try:
        together = [job for job in jobs if not lost_by(job)]
        if together:
            run(together)
        for job in jobs:
            while not is_published(job) and (n := lost_by(job)):
                if n > max(1, job.limits.retries):
                    give_up(job)
                    break
                run([replace(job, n_lost=n)])
                if lost_by(job) == n:
                    break  # It was not even begun.
    except KeyboardInterrupt:
        for job in jobs:
            set_lost(Path(job.workspace), job.target.name, min(job.n_lost, lost_by(job)))
        raise


def lost_by(job: Job) -> int:
    return n_lost(Path(job.workspace), job.target.name)


def is_published(job: Job) -> bool:
    return (Path(job.workspace) / part(job.target.name, "coverage")).exists()
