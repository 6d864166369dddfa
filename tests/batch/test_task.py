"""What is done for one repository, without Spark around it."""

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import facts
from analyzer.batch import repository_task, result_files
from analyzer.batch.batch_plan import Target
from analyzer.batch.isolated_process import Ended
from analyzer.batch.repository_list import parse
from analyzer.batch.resolve_commits import resolve
from analyzer.batch.scan_job import Job, Limits
from analyzer.extraction.cache_locks import Claims
from analyzer.extraction.fact_cache import FactCache
from analyzer.extraction.worker import extract
from analyzer.sources.git import blob_hash

CHECK = "sql-injection"
APP = """\
import sqlite3
from flask import request

def user():
    sqlite3.connect("users.db").cursor().execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
"""
VENDORED = "def shared(x):\n    return x + 1\n"
HEADER = "// @id x/own\n// @name own\n// @severity note\n// @precision low\n// @message m\n"
# Rules that a repository brings along: one that counts without end in sight, one that doubles a text.
ENDLESS = (
    HEADER
    + '.decl n(x: number)\nn(0).\nn(x + 1) :- n(x), x < 2000000000.\nsuspect("x/own", c, "") :- call(c, _, _), n(_).\n'
)
GREEDY = HEADER + (
    ".decl n(x: number)\nn(range(0, 64)).\n"
    f".decl p({', '.join(f'x{i}: number' for i in range(16))})\n"
    f"p({', '.join('abcd' * 4)}) :- n(a), n(b), n(c), n(d).\n"
    'suspect("x/own", c, "") :- call(c, _, _), p(_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _).\n'
)


@pytest.fixture
def run(repositories, state_directory, tmp_path):
    """Scan a repository of the directory; return its row of coverage and what it cost."""
    workspace = tmp_path / "workspace"

    def run(line, timeout_s=120.0, memory_bytes=2**31, retries=0, rules=(CHECK,)):
        target = resolve(parse(f"{repositories.top}/{line}"), tmp_path, 60)
        limits = Limits(timeout_s, memory_bytes, retries)
        repository_task.run(Job(target, str(workspace), str(state_directory.parent), limits, {"rules": rules}), 1)
        (row,) = result_files.read(workspace, target.name, "coverage")
        assert not list((workspace / "attempts").iterdir()) and not list((workspace / "running").iterdir())
        return row, json.loads((workspace / "costs" / f"{target.name}.json").read_text())

    run.workspace = workspace
    return run


@pytest.mark.slow
def test_a_repository_gets_the_bytes_of_its_own_scan_and_shares_facts(run, repositories, analyze, tmp_path):
    commit = repositories.make("app", {"app.py": APP, "lib/a.py": VENDORED, "lib/b.py": VENDORED})
    repositories.make("fork", {"main.py": "import lib\n", "lib/c.py": VENDORED})
    row, costs = run("app")
    assert (row["status"], row["commit_hash"], row["findings"], row["exit_code"]) == ("complete", commit, 1, 1)
    assert (costs["contents"], costs["extracted"], costs["attempts"]) == (2, 2, 1)
    assert run("fork")[1]["extracted"] == 1
    repositories.commit("fork", {"more.py": "y = 1\n"})
    (run.workspace / result_files.part("fork", "coverage")).unlink()
    assert run("fork")[1]["extracted"] == 1
    (finding,) = result_files.read(run.workspace, "app", "findings")
    assert (finding["rule"], finding["file"], finding["line"]) == (CHECK, "app.py", 5)
    files = result_files.read(run.workspace, "app", "files")
    assert [(file["path"], file["status"]) for file in files] == [
        (path, "parsed") for path in ("app.py", "lib/a.py", "lib/b.py")
    ]
    by_itself = ("scan", repositories.top / "app", "--rev", "HEAD", "--rules", CHECK, "--format", "sarif")
    subprocess.run(**analyze(*by_itself, "-o", tmp_path / "own.sarif"))
    assert (tmp_path / "own.sarif").read_bytes() == (run.workspace / "sarif" / "app.sarif").read_bytes()


def test_what_another_process_extracts_just_now_is_waited_for(run, repositories, state_directory):
    repositories.make("app", {"a.py": "x = 1\n", "lib.py": VENDORED})
    data = VENDORED.encode()
    own = FactCache(state_directory, facts.version()).path("python", blob_hash(b"x = 1\n"))
    claims = Claims(state_directory)
    assert claims.claim(("python", blob_hash(data)))

    def finish_when_only_that_is_missing():
        deadline = time.monotonic() + 60
        while not own.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        FactCache(state_directory, facts.version()).save("python", blob_hash(data), extract("python", data))
        claims.release(("python", blob_hash(data)))

    with ThreadPoolExecutor() as pool:
        pool.submit(finish_when_only_that_is_missing)
        row, costs = run("app")
    claims.close()
    assert (row["status"], row["reason"], row["files_parsed"]) == ("complete", "", 2)
    assert (costs["contents"], costs["extracted"]) == (2, 1)


@pytest.mark.slow
def test_one_that_never_ends_fails_after_its_attempts(run, repositories):
    repositories.make("endless", {"app.py": "print(1)\n", ".analyze/rules/own.dl": ENDLESS})
    began = time.monotonic()
    row, costs = run("endless", timeout_s=2.0, retries=1, rules=("x/own",))
    assert 4.0 <= time.monotonic() - began
    assert (row["status"], row["reason"], row["exit_code"]) == ("failed", "took longer than 2 s", 3)
    assert costs["attempts"] == 2
    log = json.loads((run.workspace / "sarif" / "endless.sarif").read_text())
    assert not log["runs"][0]["invocations"][0]["executionSuccessful"]
    assert result_files.read(run.workspace, "endless", "findings") == []


def test_one_that_exhausts_its_memory_fails_and_says_so(run, repositories):
    repositories.make("app", {"app.py": "print(1)\n"})
    row, costs = run("app", memory_bytes=64 << 20)
    assert (row["status"], row["reason"]) == ("failed", "needs more than 64M of memory")


@pytest.mark.parametrize(
    ("last_words", "reason"),
    [
        (
            "OpenBLAS error: Memory allocation still failed after 10 retries, giving up.\n",
            "needs more than 64M of memory",
        ),
        ("LLVM ERROR: out of memory\n", "needs more than 64M of memory"),
        ("Segmentation fault\n", "ended with exit code 1"),
    ],
)
def test_one_that_a_library_ends_for_lack_of_memory(last_words, reason, run, repositories, monkeypatch):
    def ended(command, directory, environment, timeout_s):
        (directory / "stderr").write_text(last_words)
        return Ended("ended with exit code 1", 0.0, 0.0, 0)

    monkeypatch.setattr(repository_task, "run_isolated", ended)
    repositories.make("app", {"app.py": "print(1)\n"})
    row, _ = run("app", memory_bytes=64 << 20)
    assert (row["status"], row["reason"]) == ("failed", reason)


@pytest.mark.slow
def test_rules_that_exhaust_the_memory_of_a_repository_are_left_out(run, repositories):
    repositories.make("greedy", {"app.py": "print(1)\n", ".analyze/rules/own.dl": GREEDY})
    row, costs = run("greedy", memory_bytes=450 << 20, rules=("x/own",))
    assert row["status"] == "incomplete" and "they need more memory than available" in row["reason"]
    # The rows alone would come to 1 GB. The peak tells nothing: pages of spilled rows are in it until they are written.
    assert costs["attempts"] == 1


def test_without_a_limit_of_its_own_it_has_its_part_of_the_executor(tmp_path):
    """The reason holds no number that differs from executor to executor."""
    job = Job(Target("a", "a"), str(tmp_path), "", Limits(1.0, None, 0), share_bytes=450 << 20)
    job.save(tmp_path / "job.json")
    assert json.loads((tmp_path / "job.json").read_text())["memory_bytes"] == 450 << 20
    assert Job.load(tmp_path / "job.json").memory_bytes == job.memory_bytes
    reason, _ = repository_task.judged(job, Ended("", 0.0, 0.0, 0), {"out_of_memory": True})
    assert reason == "needs more memory than its share of the executor's; raise it with --memory"


def test_one_whose_objects_are_damaged_fails_with_the_words_of_git(run, repositories):
    repositories.make("damaged", {"app.py": "print(1)\n"})
    target = resolve(parse(f"{repositories.top}/damaged"), Path(), 60)
    assert not target.problem
    repositories.damage("damaged")
    row, _ = run_target(run, target)
    assert row["status"] == "failed"
    assert "[G0" in row["reason"]


def run_target(run, target):
    job = Job(target, str(run.workspace), str(run.workspace / "cache"), Limits(60.0, 2**31, 3))
    repository_task.run(job, 1)
    costs = json.loads((run.workspace / "costs" / f"{target.name}.json").read_text())
    assert costs["attempts"] == 1  # What git says will not change.
    return result_files.read(run.workspace, target.name, "coverage")[0], costs


def test_what_is_published_is_not_scanned_again(run, repositories):
    repositories.make("app", {"app.py": "x = 1\n"})
    target = resolve(parse(f"{repositories.top}/app"), Path(), 60)
    attempt = run.workspace / "attempts" / "x"
    attempt.mkdir(parents=True)
    result_files.write_failure(target, "as published", attempt)
    result_files.publish(attempt, "app", run.workspace)
    repository_task.run(Job(target, str(run.workspace), "", Limits(60.0, 2**31, 0)), 1)
    assert result_files.read(run.workspace, "app", "coverage")[0]["reason"] == "as published"


def test_a_wrong_selector_is_said_in_a_line(run, repositories):
    repositories.make("app", {"app.py": "x = 1\n"})
    row, costs = run("app", retries=2, rules=("py/no-such-check",))
    assert row["reason"].endswith("[R002]") and "\n" not in row["reason"]
    assert costs["attempts"] == 1
