"""Repositories that take their executor with them: they fail alone, last, and all others are scanned."""

import os
import signal
import subprocess
import threading
from functools import partial

import pytest

from analyzer.batch import repository_task, result_files
from analyzer.batch.batch_pipeline import completed, missing_jobs
from analyzer.batch.batch_plan import Plan, Target
from analyzer.batch.isolated_process import Ended
from analyzer.batch.lost_attempts import REASON, in_rounds, n_lost, set_lost
from analyzer.batch.scan_job import Job, Limits
from analyzer.batch.workspace import failed_in, opened
from analyzer.report import Report

LIMITS = Limits(60.0, 2**30, 1)
AS_LIST = [60.0, 2**30, 1]
DIGESTS = {"tool": "1", "rules": ""}
SIZES = {"a": 1, "b": 9, "k": 5}
PLAN = Plan(tuple(Target(name, name, "", "c" * 40, n) for name, n in SIZES.items()), {}, DIGESTS)


@pytest.fixture
def executors(monkeypatch):
    """Run jobs as executors do that are killed by repository `k`, as long as that is in `deadly`.

    `begun` holds the names of what they have begun, a list for each stage.
    """

    def attempted(job, attempt, threads):
        if job.target.name in run.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        result_files.write(Report(job.target.source, job.target.commit), job.target, "warning", attempt)
        return Ended("", 0.0, 0.0, 0), {"contents": 0}

    monkeypatch.setattr(repository_task, "attempted", attempted)

    def run(jobs):
        run.stages.append([job.target.name for job in jobs])
        for job in jobs:
            for _ in range(4):  # As often as Spark tries a task.
                if (child := os.fork()) == 0:
                    try:
                        repository_task.run(job, 1)
                        os._exit(0)
                    finally:
                        os._exit(1)
                if os.waitpid(child, 0)[1] == 0:
                    break
            else:
                raise AssertionError("Spark would end the stage")

    run.stages, run.deadly = [], {"k"}
    return run


def batch(output, run):
    """What a batch does, from its workspace to its output."""
    with opened(output, PLAN, AS_LIST) as workspace:
        jobs = missing_jobs(workspace, partial(Job, workspace=str(workspace.directory), cache="", limits=LIMITS))
        in_rounds(jobs, run, repository_task.give_up)
        return completed(workspace, {}, 0.0, lambda *_: None)


def test_one_that_is_killed_with_its_executor_fails_alone_and_comes_last(tmp_path, executors):
    summary = batch(tmp_path / "out", executors)
    # The largest first; who has been lost in company is tried again alone.
    assert executors.stages == [["b", "k", "a"], ["k"]]
    assert {item.name: (item.status, item.reason) for item in summary.repositories} == {
        "a": ("complete", ""),
        "b": ("complete", ""),
        "k": ("failed", REASON),
    }
    assert (summary.exit_code, summary.costs["k"]["attempts"]) == (3, 2)

    # The next run tries it again, alone.
    assert failed_in(tmp_path / "out")
    executors.stages.clear()
    assert batch(tmp_path / "out", executors).exit_code == 3
    assert executors.stages == [["k"]]
    executors.stages.clear()
    executors.deadly = set()
    assert batch(tmp_path / "out", executors).exit_code == 0
    assert executors.stages == [["k"]]


def test_who_was_lost_next_to_another_is_scanned(tmp_path, executors):
    with opened(tmp_path / "out", PLAN, AS_LIST) as workspace:
        set_lost(workspace.directory, "b", 1)  # On the same executor as k.
    summary = batch(tmp_path / "out", executors)
    assert executors.stages == [["k", "a"], ["k"], ["b"]]
    assert [item.name for item in summary.by_status("failed")] == ["k"]


def test_a_machine_that_is_lost_with_the_driver_is_remembered(tmp_path, executors):
    """As where all runs in one container: there is nobody who could try again."""
    for attempt in (1, 2):
        with pytest.raises(SystemExit), opened(tmp_path / "out", PLAN, AS_LIST) as workspace:
            set_lost(workspace.directory, "k", attempt)
            raise SystemExit
    summary = batch(tmp_path / "out", executors)
    assert executors.stages == [["b", "a"]]
    assert [item.reason for item in summary.by_status("failed")] == [REASON]


def test_an_interrupted_batch_has_lost_nothing(tmp_path, executors):
    def interrupted(jobs):
        set_lost(workspace.directory, "b", 1)
        raise KeyboardInterrupt

    with opened(tmp_path / "out", PLAN, AS_LIST) as workspace:
        common = partial(Job, workspace=str(workspace.directory), cache="", limits=LIMITS)
        with pytest.raises(KeyboardInterrupt):
            in_rounds(missing_jobs(workspace, common), interrupted, repository_task.give_up)
        assert n_lost(workspace.directory, "b") == 0


def test_an_attempt_that_ends_by_an_exception_has_ended(tmp_path, monkeypatch):
    def attempted(job, attempt, threads):
        assert n_lost(tmp_path, "a") == 1
        raise OSError("no space left on device")

    monkeypatch.setattr(repository_task, "attempted", attempted)
    with pytest.raises(OSError):
        repository_task.run(Job(PLAN.targets[0], str(tmp_path), "", LIMITS), 1)
    assert n_lost(tmp_path, "a") == 0


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_batch_goes_on_when_executors_are_killed(repositories, cluster, analyze, tmp_path):
    for name in ("one", "two", "deadly"):
        repositories.make(name, {"app.py": "import os\n" * (9 if name == "deadly" else 1)})
    unfinished, over = tmp_path / "out.unfinished", threading.Event()

    def kill():
        """Kill all executors whenever an attempt at one repository has begun."""
        seen = 0
        while not over.wait(0.01):
            n = n_lost(unfinished, "deadly")
            if n > seen:
                for directory in cluster.directories:
                    for pid in (*cluster.python_workers(directory), *cluster.executors(directory)):
                        os.kill(pid, signal.SIGKILL)
            seen = n

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        arguments = ("--master", cluster.master, "-o", tmp_path / "out", "--rules", "unused-import")
        done = subprocess.run(**analyze("batch", repositories.top, *arguments))
    finally:
        over.set()
        killer.join()
    assert done.returncode == 3, done.stderr
    assert "3: 2 complete, 0 incomplete, 1 failed" in done.stdout
    (row,) = result_files.read(tmp_path / "out", "deadly", "coverage")
    assert (row["status"], row["reason"]) == ("failed", REASON)
