"""The pipeline of a batch: list → commits → one task per repository on Spark → data sets → database, page, summary."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException

from analyzer.batch import repository_task, result_database
from analyzer.batch.batch_plan import Plan, Target, digests
from analyzer.batch.batch_request import BatchRequest, Watch
from analyzer.batch.batch_summary import Summary, summarise
from analyzer.batch.lost_attempts import in_rounds
from analyzer.batch.repository_list import read_listing
from analyzer.batch.resolve_commits import resolve_all
from analyzer.batch.result_files import publish, write_failure
from analyzer.batch.scan_job import Job, Limits
from analyzer.batch.summary_page import render_page
from analyzer.batch.workspace import RunCosts, Timings, Workspace, failed_in, is_finished, opened
from analyzer.cache_entries import write_atomically
from analyzer.errors import AnalyzeError
from analyzer.evaluation.rulebook import build_rulebook, files_on_disk
from analyzer.extraction.collect_facts import Progress
from analyzer.state_directory import StateDirectory
from engine import EvaluationError
from engine.spark import ExecutorMemory, cause, memory_of_executors, session
from rules.catalogue import TIERS

LOOK_EVERY_S = 0.5


def run(request: BatchRequest, progress: Progress, watch: Watch) -> Summary:
    """Scan the remaining repositories, and complete the output. Raises AnalyzeError."""
    began = time.monotonic()
    state = StateDirectory(request.cache / "analyze" if request.cache else None)
    try:
        if state.warning:
            raise AnalyzeError("A003", state.warning, help="name a directory for facts with --cache")
        plan = planned(request, state.path, progress)
        output = request.output.absolute()
        if is_finished(output, plan) and not failed_in(output):
            return summarise(output, output)
        limits = Limits(request.timeout_s, request.memory_bytes, request.retries)
        with opened(output, plan, [limits.timeout_s, limits.memory_bytes, limits.retries]) as workspace:
            took = scan_missing(workspace, request, limits, state.path.parent, watch)
            return completed(workspace, took, began, progress)
    finally:
        state.close()


def planned(request: BatchRequest, state: Path, progress: Progress) -> Plan:
    """Resolve the list. Raises AnalyzeError, also R002 for unknown selected checks."""
    listed = read_listing(request.listing)
    build_rulebook(files_on_disk(request.models, request.rules_dirs), request.flags.get("rules", ()), TIERS)
    names = digests(request.models, request.rules_dirs)
    targets = resolve_all(listed, state / "clones", request.timeout_s, progress)
    return Plan(tuple(targets), {name: value for name, value in request.flags.items() if value is not None}, names)


def scan_missing(workspace: Workspace, request: BatchRequest, limits: Limits, cache: Path, watch: Watch) -> RunCosts:
    """Scan the repositories without results, largest first. Return the costs of the run."""
    for target in workspace.missing():
        if target.problem:
            publish_failure(workspace.directory, target)
    missing = workspace.missing()
    if not missing:
        return {"scanned": 0}
    common = partial(
        Job,
        workspace=str(workspace.directory),
        cache=str(cache.absolute()),
        limits=limits,
        flags=workspace.plan.flags,
        models=tuple(str(path.absolute()) for path in request.models),
        rules_dirs=tuple(str(path.absolute()) for path in request.rules_dirs),
    )
    with watched(workspace, len(workspace.plan.targets), watch):
        took = on_spark(request.master, request.conf, missing_jobs(workspace, common))
    left = sorted({target.name for target in missing} - workspace.finished())
    if left:
        message = f"Spark ended without results of {', '.join(left[:5])}{', …' * (len(left) > 5)}"
        help = f"all executors must reach {workspace.directory} and {cache} under these paths"
        raise AnalyzeError("B008", message, help=help)
    known = workspace.costs()
    costs = [known[target.name] for target in missing]
    took["busy_s"] = round(sum(cost["elapsed_s"] for cost in costs), 3)
    took["processor_s"] = round(sum(cost["processor_s"] for cost in costs), 3)
    took["scanned"] = len(missing)
    return took


def missing_jobs(workspace: Workspace, common: Callable[..., Job]) -> list[Job]:
    return [common(target, n_lost=workspace.n_lost(target.name)) for target in workspace.missing()]


def publish_failure(workspace: Path, target: Target) -> None:
    """Publish the failure to resolve a repository."""
    with repository_task.directory_for(workspace, target.name) as attempt:
        write_failure(target, target.problem, attempt)
        publish(attempt, target.name, workspace)


def on_spark(master: str, conf: Mapping[str, str], jobs: Sequence[Job]) -> RunCosts:
    """Run a task per job in rounds, in this order as slots become free. Raises AnalyzeError B007."""
    os.environ["PYTHONSAFEPATH"] = "1"  # Spark's own children inherit it.
    began = time.monotonic()
    try:
        # In a thread, so that Ctrl-C finds this one waiting, and not in the midst of an answer of Spark's.
        with ThreadPoolExecutor(1) as thread, session(master, conf) as spark:
            started, work = time.monotonic(), partial(run_job, memory_of_executors(spark))

            def stage(part: Sequence[Job]) -> None:
                thread.submit(spark.sparkContext.parallelize(part, len(part)).foreach, work).result()

            in_rounds(jobs, stage, repository_task.give_up)
            ended = time.monotonic()
            slots = spark.sparkContext.defaultParallelism
    except EvaluationError as error:
        raise AnalyzeError("B007", str(error)) from None
    except (PySparkException, Py4JError) as error:
        help = "run the command again: completed repositories are kept"
        raise AnalyzeError("B007", f"Spark failed: {cause(str(error))}", help=help) from None
    return {"session_s": round(started - began, 3), "tasks_s": round(ended - started, 3), "slots": slots}


def run_job(memory: ExecutorMemory, job: Job) -> None:
    """Run the task of a repository, with as many threads as Spark gives it cores.

    It ignores Ctrl-C, which is for the driver, which ends the tasks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    context = TaskContext.get()
    repository_task.run(replace(job, share_bytes=memory.share()), context.cpus() if context else 1)


@contextmanager
def watched(workspace: Workspace, total: int, watch: Watch) -> Iterator[None]:
    """Report the progress of tasks to `watch` periodically."""
    over = threading.Event()

    def look() -> None:
        while True:
            watch(len(workspace.finished()), total, workspace.running())
            if over.wait(LOOK_EVERY_S):
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def completed(workspace: Workspace, took: RunCosts, began: float, progress: Progress) -> Summary:
    """Write the database and page from all results, and turn the workspace into the output."""
    progress("Merging", 0, None)
    merge_began = time.monotonic()
    result_database.merge(workspace.directory, [target.name for target in workspace.plan.targets])
    ended = time.monotonic()
    took["merge_s"], took["elapsed_s"] = round(ended - merge_began, 3), round(ended - began, 3)
    timings: Timings = {"run": took, "repositories": workspace.costs()}
    summary = summarise(workspace.directory, workspace.output, timings)
    write_atomically(workspace.directory / "summary.html", render_page(summary).encode("utf-8", "backslashreplace"))
    workspace.finish(timings)
    return summary
