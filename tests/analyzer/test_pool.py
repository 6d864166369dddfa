"""Workers that crash, hang or raise cost their own task only."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.pool import Pool, Task

TOP = Path(__file__).resolve().parents[2]


def outcomes(function, arguments, jobs=2, timeout_s=60.0):
    pool = Pool(function, jobs, timeout_s)
    return {outcome.key: (outcome.value, outcome.error) for outcome in pool.run(Task(a, (a,), 1) for a in arguments)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_gets_its_answer(jobs):
    numbers = [str(n) for n in range(500)]
    assert outcomes(int, numbers, jobs) == {number: (int(number), "") for number in numbers}


def test_an_exception_is_an_error_of_its_task():
    answers = outcomes(int, ["1", "x", "3"])
    assert answers["1"] == (1, "") and answers["3"] == (3, "")
    assert answers["x"][1].startswith("ValueError: invalid literal")


def test_a_worker_that_dies_costs_only_the_task_that_killed_it():
    programs = ["pass", "import os; os.abort()", "1 + 1"]
    answers = outcomes(exec, programs)
    assert answers == {"pass": (None, ""), programs[1]: (None, "the extractor crashed"), "1 + 1": (None, "")}


def test_a_task_that_takes_too_long_is_ended():
    started = time.monotonic()
    assert outcomes(time.sleep, [600], timeout_s=0.5) == {600: (None, "took longer than 0.5 s")}
    assert time.monotonic() - started < 30


def test_children_do_not_import_from_their_working_directory():
    assert outcomes(os.getenv, ["PYTHONSAFEPATH"]) == {"PYTHONSAFEPATH": ("1", "")}


def test_ctrl_c_does_not_reach_the_workers():
    answers = outcomes(exec, ["import os, signal; os.kill(os.getpid(), signal.SIGINT)"])
    assert [error for _, error in answers.values()] == [""]


def test_workers_that_never_answer_end_the_run():
    with pytest.raises(ChildProcessError, match="died before one answered"):
        outcomes(os._exit, range(100))


def test_children_do_not_import_the_main_module(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from analyzer.pool import Pool, Task\nprint('main')\n"
        "print([outcome.value for outcome in Pool(int, 1, 60.0).run([Task('k', ('7',), 1)])])\n"
    )
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True)
    assert done.stdout == b"main\n[7]\n"
