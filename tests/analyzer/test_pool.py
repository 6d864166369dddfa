"""Workers that crash, hang or raise cost their own task only."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from analyzer.extraction.pool import MAX_FALSE_STARTS, Pool, Task

TOP = Path(__file__).resolve().parents[2]
SPIN = "while True: pass"


def run(code):
    """Return as bytes what `code`, an expression, is, or nothing for statements."""
    if "\n" in code or code.startswith(("import", "while", "pass")):
        exec(code, {})
        return b""
    return str(eval(code)).encode()


def outcomes(function, arguments, jobs=2, limit_s=60.0, size=1):
    tasks = (Task(number, (argument,), size) for number, argument in enumerate(arguments))
    with Pool(function, jobs, limit_s) as pool:
        found = {outcome.key: (outcome.value, outcome.error) for outcome in pool.run(tasks)}
    return [found[number] for number in range(len(found))]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_gets_its_answer(jobs):
    assert outcomes(run, map(str, range(500)), jobs) == [(b"%d" % n, "") for n in range(500)]


def test_an_exception_is_an_error_of_its_task():
    answers = outcomes(run, ["1", "int('x')", "3"])
    assert answers[0] == (b"1", "") and answers[2] == (b"3", "")
    assert answers[1][1].startswith("ValueError: invalid literal")


def test_a_worker_that_dies_costs_only_the_task_that_killed_it():
    answers = outcomes(run, ["1", "import os; os.abort()", "1 + 1"])
    assert answers == [(b"1", ""), (b"", "the extractor crashed"), (b"2", "")]


def test_more_crashes_than_workers_end_nothing():
    answers = outcomes(run, ["import os; os._exit(1)"] * (MAX_FALSE_STARTS + 1) + ["7"], size=1 << 20)
    assert answers == [(b"", "the extractor crashed")] * (MAX_FALSE_STARTS + 1) + [(b"7", "")]


def test_the_limit_is_that_of_a_task_whatever_else_is_in_its_batch():
    answers = outcomes(run, ["1"] * 200 + [SPIN] + ["2"] * 200, jobs=1, limit_s=0.5)
    assert answers == [(b"1", "")] * 200 + [(b"", "took longer than 0.5 s")] + [(b"2", "")] * 200


def test_tasks_over_their_limit_are_no_crashes():
    answers = outcomes(run, [SPIN] * (MAX_FALSE_STARTS + 1) + ["7"], limit_s=0.1)
    assert answers == [(b"", "took longer than 0.1 s")] * (MAX_FALSE_STARTS + 1) + [(b"7", "")]


def test_a_task_over_its_limit_fails_though_it_ends_before_anybody_looks():
    answers = outcomes(run, ["sum(range(20_000))"] * 20, jobs=1, limit_s=1e-6)
    assert answers == [(b"", "took longer than 1e-06 s")] * 20


def test_a_task_that_only_waits_ends_too():
    assert outcomes(run, ["import time; time.sleep(600)"], limit_s=0.05) == [(b"", "took longer than 0.05 s")]


def test_when_time_is_up_all_that_is_left_fails():
    tasks = [Task(number, (SPIN,), 1) for number in range(3)]
    with Pool(run, 1, 60.0, ends_s=time.monotonic() + 0.1) as pool:
        found = list(pool.run(iter(tasks)))
    assert [outcome.key for outcome in found] == [0, 1, 2]
    assert {outcome.error for outcome in found} == {"the scan timed out"}


def test_waiting_costs_no_processor_time():
    """A machine that is busy with something else lets a worker wait."""
    assert outcomes(run, ["__import__('time').sleep(0.5)"], limit_s=0.25) == [(b"None", "")]


def test_children_do_not_import_from_their_working_directory():
    assert outcomes(run, ["__import__('os').environ['PYTHONSAFEPATH']"]) == [(b"1", "")]


@pytest.mark.parametrize("masked", [True, False])
def test_ctrl_c_does_not_reach_the_workers(monkeypatch, masked):
    if not masked:  # As on Windows.
        monkeypatch.delattr("signal.pthread_sigmask")
    assert outcomes(run, ["import os, signal; os.kill(os.getpid(), signal.SIGINT)"]) == [(b"", "")]


def test_workers_that_never_start_end_the_run(monkeypatch):
    module = ModuleType("of_the_parent_only")
    exec("def function(text): pass", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(ChildProcessError, match="died before they had started"):
        outcomes(module.function, map(str, range(100)))


def test_a_worker_cannot_make_its_parent_run_code(tmp_path):
    """What a worker sends is never unpickled."""
    marker = tmp_path / "marker"
    forged = (
        "import gc, pickle\nfrom multiprocessing.connection import Connection\ngc.unfreeze()\n"
        f"class Evil:\n def __reduce__(self): return open, ({str(marker)!r}, 'w')\n"
        "pipe = next(each for each in gc.get_objects() if isinstance(each, Connection) and each.writable)\n"
        "pipe.send_bytes(pickle.dumps(Evil()))\n"
    )
    assert outcomes(run, [forged]) == [(b"", "the extractor crashed")]
    assert not marker.exists()


def test_children_do_not_import_the_main_module(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from analyzer.extraction.pool import Pool, Task\nprint('main')\n"
        "with Pool(bytes, 1, 60.0) as pool: print([outcome.value for outcome in pool.run([Task('k', (b'7',), 1)])])\n"
    )
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True)
    assert done.stdout == b"main\n[b'7']\n"


def test_a_pool_goes_on_with_its_workers():
    with Pool(run, 1, 60.0) as pool:
        pids = {outcome.value for _ in range(3) for outcome in pool.run([Task(0, ("__import__('os').getpid()",), 1)])}
        assert len(pids) == 1
        crashed = [Task(number, ("import os; os._exit(1)",), 1 << 20) for number in range(3)]
        assert {outcome.error for outcome in pool.run(crashed)} == {"the extractor crashed"}
        (outcome,) = pool.run([Task(0, ("__import__('os').getpid()",), 1)])
        assert outcome.value not in pids
    with pytest.raises(ProcessLookupError):
        os.kill(int(outcome.value), 0)


def test_a_worker_that_ended_while_it_had_nothing_to_do_is_replaced():
    with Pool(run, 1, 60.0) as pool:
        pool.start()
        (first,) = pool.run([Task(0, ("__import__('os').getpid()",), 1)])
        os.kill(int(first.value), signal.SIGKILL)
        (second,) = pool.run([Task(0, ("__import__('os').getpid()",), 1)])
        assert second.value not in (b"", first.value)


def test_closing_the_run_ends_the_workers_that_are_at_work():
    with Pool(run, 1, 60.0) as pool:
        running = pool.run([Task(0, ("__import__('os').getpid()",), 1), Task(1, (SPIN,), 1)])
        pid = int(next(running).value)
        running.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_closing_the_pool_ends_the_workers():
    with Pool(run, 1, 60.0) as pool:
        (outcome,) = pool.run([Task(0, ("__import__('os').getpid()",), 1)])
    with pytest.raises(ProcessLookupError):
        os.kill(int(outcome.value), 0)
