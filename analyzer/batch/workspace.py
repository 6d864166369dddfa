"""The workspace of a batch: OUT.unfinished, which is renamed to OUT at the end. If OUT exists, it is complete.

A killed batch is resumed in its workspace. A finished one with failures is reopened to retry them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from filelock import FileLock, Timeout

from analyzer.batch import result_files
from analyzer.batch.batch_plan import Plan, Target, reconciled
from analyzer.batch.lost_attempts import BEGUN, n_lost, set_lost
from analyzer.batch.repository_task import ATTEMPTS, COSTS, RUNNING, Costs
from analyzer.cache_entries import write_atomically
from analyzer.errors import AnalyzeError

PLAN, TIMINGS = "batch.json", "timings.json"


class RunCosts(TypedDict, total=False):
    """The costs of the last run of a batch: its parts, and the repositories scanned on so many slots at once."""

    scanned: int
    slots: int
    session_s: float
    tasks_s: float
    busy_s: float
    processor_s: float
    merge_s: float
    elapsed_s: float


class Timings(TypedDict, total=False):
    """The record of a batch beside its results."""

    run: RunCosts
    repositories: Mapping[str, Costs]


@dataclass(slots=True)
class Workspace:
    """The partial results in `directory` of the batch `plan`; locked against other processes."""

    output: Path
    plan: Plan
    directory: Path = field(init=False)

    def __post_init__(self) -> None:
        self.directory = unfinished(self.output)

    def finished(self) -> set[str]:
        """Return the repositories whose results are published."""
        names = (target.name for target in self.plan.targets)
        return {name for name in names if (self.directory / result_files.part(name, "coverage")).exists()}

    def coverage(self, name: str) -> dict[str, Any]:
        return result_files.read(self.directory, name, "coverage")[0]

    def costs(self) -> dict[str, Costs]:
        """Return the costs of each repository, in this and earlier runs."""
        found = read_json(self.directory / TIMINGS).get("repositories", {})
        for path in (self.directory / COSTS).glob("*.json"):
            found[path.stem] = read_json(path)
        return {name: found[name] for name in sorted(found)}

    def missing(self) -> list[Target]:
        """Return the repositories without results, in scan order: large ones first, to avoid a long tail.

        Those that have failed or lost an attempt come last.
        """
        done, costs = self.finished(), self.costs()
        missing = (target for target in self.plan.targets if target.name not in done)
        return sorted(missing, key=lambda t: (self.n_lost(t.name), t.name in costs, -t.n_bytes, t.name))

    def n_lost(self, name: str) -> int:
        """Return the number of lost attempts at a repository."""
        return n_lost(self.directory, name)

    def running(self) -> dict[str, float]:
        """Return the start times of the repositories being scanned."""
        found = {}
        for path in (self.directory / RUNNING).glob("[!.]*"):
            try:
                found[path.name] = float(path.read_text())
            except (OSError, ValueError):
                continue
        return found

    def forget(self, name: str, costs: Costs | None) -> None:
        """Unpublish a repository, its coverage first. If it lost attempts, one stays recorded."""
        set_lost(self.directory, name, min(1, costs.get("lost", 0) if costs else 0))
        for table in reversed(result_files.TABLES):
            (self.directory / result_files.part(name, table)).unlink(missing_ok=True)

    def finish(self, timings: Timings) -> None:
        """Rename the workspace to OUT."""
        write_atomically(self.directory / TIMINGS, (json.dumps(timings, indent=1) + "\n").encode())
        for name in (ATTEMPTS, BEGUN, COSTS, RUNNING):
            shutil.rmtree(self.directory / name, ignore_errors=True)
        os.replace(self.directory, self.output)


def unfinished(output: Path) -> Path:
    return output.with_name(output.name + ".unfinished")


def failed_in(output: Path) -> bool:
    """Return True if a finished batch has failures to retry."""
    plan = read_json(output / PLAN)
    names = [row["name"] for row in plan.get("repositories", ())]
    return any(result_files.read(output, name, "coverage")[0]["status"] == "failed" for name in names)


def is_finished(output: Path, plan: Plan) -> bool:
    """Return True if OUT holds this batch. Raises AnalyzeError B005 if it holds something else."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    try:
        recorded = (output / PLAN).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        help = "choose another directory (-o), or remove it"
        raise AnalyzeError("B005", f"{output} exists and is not a batch", help=help) from None
    difference = reconciled(recorded, plan)[1]
    if difference:
        help = "choose another directory (-o), or remove it; cached facts are reused"
        raise AnalyzeError("B005", f"{output} holds another batch: {difference}", help=help)
    return True


@contextmanager
def opened(output: Path, plan: Plan, limits: list[float | None]) -> Iterator[Workspace]:
    """Yield the locked workspace of a batch, new or resumed.

    Failures are retried if the batch had finished, or if they had other limits. Raises AnalyzeError: A003 if nothing
    can be written, B005 if another batch was left unfinished there, B006 if one is running.
    """
    directory = unfinished(output)
    has_ended = (output / PLAN).exists()
    if has_ended and directory.exists():
        raise AnalyzeError("B005", f"{output} is complete, but {directory} exists too", help="remove one of them")
    try:
        if has_ended:
            os.replace(output, directory)
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory.with_name(directory.name + ".lock"))
        lock.acquire(blocking=False)
    except Timeout:
        help = "wait for it, or choose another directory (-o)"
        raise AnalyzeError("B006", f"another batch is running in {directory}", help=help) from None
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {directory}: {error.strerror}") from None
    try:
        workspace = Workspace(output, agreed(directory, plan))
        clear(directory)
        write_atomically(directory / PLAN, workspace.plan.to_json().encode())
        forget_failures(workspace, None if has_ended else limits)
        yield workspace
    finally:
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def clear(directory: Path) -> None:
    """Remove the leftovers of killed processes."""
    for name in (ATTEMPTS, RUNNING):
        shutil.rmtree(directory / name, ignore_errors=True)
    for path in (path for name in ("", BEGUN, COSTS) for path in (directory / name).glob(".tmp-*")):
        path.unlink(missing_ok=True)


def agreed(directory: Path, plan: Plan) -> Plan:
    """Return the plan to use in a directory that holds a part of the same batch, or no results."""
    path = directory / PLAN
    if not path.exists():
        if any(not path.name.startswith(".tmp-") for path in directory.iterdir()):
            raise AnalyzeError("B005", f"{directory} exists and is not a batch", help="remove it")
        return plan
    plan, difference = reconciled(path.read_text(encoding="utf-8", errors="replace"), plan)
    if difference and any(directory.glob("coverage/*/*")):
        message = f"{directory} holds another batch, not finished: {difference}"
        raise AnalyzeError("B005", message, help="remove it, or choose another directory (-o)")
    return plan


def forget_failures(workspace: Workspace, limits: list[float | None] | None) -> None:
    """Unpublish the failures to retry: all, or those under other limits than these."""
    costs = workspace.costs()
    for target in workspace.plan.targets:
        if target.name in workspace.finished() and workspace.coverage(target.name)["status"] == "failed":
            cost = costs.get(target.name)
            if limits is None or worth_another_try(target, cost, limits):
                workspace.forget(target.name, cost)


def worth_another_try(target: Target, costs: Costs | None, limits: list[float | None]) -> bool:
    """Return True if a retry may succeed: under other limits, or if an untried repository now has a commit."""
    return not target.problem if costs is None else costs.get("limits") != limits


def read_json(path: Path) -> Any:
    """Return the object that a file holds, an empty one where it holds none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
