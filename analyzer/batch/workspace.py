"""Where a batch works: OUT.unfinished, which becomes OUT when all is done. OUT is complete whenever it is there.

A batch that was killed is continued in its workspace. One that has ended with failures is opened again, to try those.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from analyzer.batch import results
from analyzer.batch.losses import BEGUN, n_lost, set_lost
from analyzer.batch.plan import Plan, Target, reconciled
from analyzer.batch.task import ATTEMPTS, COSTS, RUNNING
from analyzer.errors import AnalyzeError
from analyzer.state import write_atomically

PLAN, TIMINGS = "batch.json", "timings.json"


@dataclass(slots=True)
class Workspace:
    """`directory` holds what there is so far, `plan` what it is of; nobody else works there."""

    output: Path
    plan: Plan
    directory: Path = field(init=False)

    def __post_init__(self) -> None:
        self.directory = unfinished(self.output)

    def finished(self) -> set[str]:
        """The repositories whose results are published."""
        names = (target.name for target in self.plan.targets)
        return {name for name in names if (self.directory / results.part(name, "coverage")).exists()}

    def coverage(self, name: str) -> dict[str, Any]:
        return results.read(self.directory, name, "coverage")[0]

    def costs(self) -> dict[str, Any]:
        """Return what each repository has cost, in this run and those before it."""
        found = read_json(self.directory / TIMINGS).get("repositories", {})
        for path in (self.directory / COSTS).glob("*.json"):
            found[path.stem] = read_json(path)
        return {name: found[name] for name in sorted(found)}

    def missing(self) -> list[Target]:
        """Return what has no results yet, in the order to scan it: none of the large ones should be left to the end.

        What has failed or lost an attempt before comes last.
        """
        done, costs = self.finished(), self.costs()
        missing = (target for target in self.plan.targets if target.name not in done)
        return sorted(missing, key=lambda t: (self.n_lost(t.name), t.name in costs, -t.n_bytes, t.name))

    def n_lost(self, name: str) -> int:
        """How many attempts at a repository have begun and never ended."""
        return n_lost(self.directory, name)

    def running(self) -> dict[str, float]:
        """The repositories that are being scanned, and the time when that began."""
        found = {}
        for path in (self.directory / RUNNING).glob("[!.]*"):
            try:
                found[path.name] = float(path.read_text())
            except (OSError, ValueError):
                continue
        return found

    def forget(self, name: str, costs: Mapping[str, Any]) -> None:
        """Unpublish a repository, its coverage first. One whose attempts were lost keeps the memory of one."""
        set_lost(self.directory, name, min(1, costs.get("lost", 0)))
        for table in reversed(results.TABLES):
            (self.directory / results.part(name, table)).unlink(missing_ok=True)

    def finish(self, timings: dict[str, Any]) -> None:
        """Leave the workspace as OUT."""
        write_atomically(self.directory / TIMINGS, (json.dumps(timings, indent=1) + "\n").encode())
        for name in (ATTEMPTS, BEGUN, COSTS, RUNNING):
            shutil.rmtree(self.directory / name, ignore_errors=True)
        os.replace(self.directory, self.output)


def unfinished(output: Path) -> Path:
    return output.with_name(output.name + ".unfinished")


def failed_in(output: Path) -> bool:
    """Return True if a batch that has ended has failures to be tried again."""
    plan = read_json(output / PLAN)
    names = [row["name"] for row in plan.get("repositories", ())]
    return any(results.read(output, name, "coverage")[0]["status"] == "failed" for name in names)


def is_finished(output: Path, plan: Plan) -> bool:
    """Return True if OUT holds this batch. Raises AnalyzeError B005 if it is there and holds something else."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return False
    try:
        recorded = (output / PLAN).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        help = "choose another directory (-o), or remove it"
        raise AnalyzeError("B005", f"{output} is there already, and is no batch", help=help) from None
    difference = reconciled(recorded, plan)[1]
    if difference:
        help = "choose another directory (-o), or remove it; facts are taken from the cache all the same"
        raise AnalyzeError("B005", f"{output} holds another batch: {difference}", help=help)
    return True


@contextmanager
def opened(output: Path, plan: Plan, limits: list[float | None]) -> Iterator[Workspace]:
    """A workspace for a batch, new or continued, ours alone to the end of the block.

    Failures are tried again if the batch had ended, or if they were under other limits. Raises AnalyzeError: A003 where
    nothing can be written, B005 if another batch was left unfinished there, B006 if one is at work.
    """
    directory = unfinished(output)
    has_ended = (output / PLAN).exists()
    if has_ended and directory.exists():
        raise AnalyzeError("B005", f"{output} has ended, and {directory} is there too", help="remove one of them")
    try:
        if has_ended:
            os.replace(output, directory)
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory.with_name(directory.name + ".lock"))
        lock.acquire(blocking=False)
    except Timeout:
        help = "wait for its end, or choose another directory (-o)"
        raise AnalyzeError("B006", f"another batch is at work in {directory}", help=help) from None
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
    """Remove what processes that were killed have left behind."""
    for name in (ATTEMPTS, RUNNING):
        shutil.rmtree(directory / name, ignore_errors=True)
    for path in (path for name in ("", BEGUN, COSTS) for path in (directory / name).glob(".tmp-*")):
        path.unlink(missing_ok=True)


def agreed(directory: Path, plan: Plan) -> Plan:
    """The plan to go on with in a directory, which may hold a part of the same batch, or nothing that is done."""
    path = directory / PLAN
    if not path.exists():
        if any(not path.name.startswith(".tmp-") for path in directory.iterdir()):
            raise AnalyzeError("B005", f"{directory} is there already, and is no batch", help="remove it")
        return plan
    plan, difference = reconciled(path.read_text(encoding="utf-8", errors="replace"), plan)
    if difference and any(directory.glob("coverage/*/*")):
        message = f"{directory} holds another batch, not finished: {difference}"
        raise AnalyzeError("B005", message, help="remove it, or choose another directory (-o)")
    return plan


def forget_failures(workspace: Workspace, limits: list[float | None] | None) -> None:
    """Forget failures that are to be tried again: all, or those under other limits than these."""
    costs = workspace.costs()
    for target in workspace.plan.targets:
        if target.name in workspace.finished() and workspace.coverage(target.name)["status"] == "failed":
            cost = costs.get(target.name)
            if limits is None or worth_another_try(target, cost, limits):
                workspace.forget(target.name, cost or {})


def worth_another_try(target: Target, costs: dict[str, Any] | None, limits: list[float | None]) -> bool:
    """Return True if a failure may end otherwise: by other limits, or, of what had not even been tried, by a commit."""
    return not target.problem if costs is None else costs.get("limits") != limits


def read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
