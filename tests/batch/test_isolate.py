"""A process of its own: how it ends is told, and nothing of it goes on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.batch.isolated_process import run_isolated

TOP = Path(__file__).resolve().parents[2]


def run(code, directory, timeout_s=30.0):
    return run_isolated([sys.executable, "-c", code], directory, os.environ | {"PYTHONPATH": str(TOP)}, timeout_s)


@pytest.mark.parametrize(
    "code, failure",
    [
        ("pass", ""),
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import os; os.abort()", "crashed (SIGABRT)"),
        ("import os; os.kill(os.getpid(), 11)", "crashed (SIGSEGV)"),
    ],
)
def test_how_it_ended_is_said(tmp_path, code, failure):
    ended = run(code, tmp_path)
    assert ended.failure == failure
    assert 0 < ended.processor_s and 0 < ended.elapsed_s and 2**20 < ended.peak_bytes


def test_one_that_hangs_is_ended_with_what_it_has_started(tmp_path):
    code = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child", "w").write(str(child.pid))
time.sleep(600)
"""
    ended = run(code, tmp_path, 3.0)
    assert ended.failure == "took longer than 3 s"
    assert 3 <= ended.elapsed_s < 60
    assert is_gone(int((tmp_path / "child").read_text()))


def test_one_that_exceeds_its_memory_can_say_so(tmp_path):
    import resource

    code = """
import os
from analyzer.batch.isolated_process import confine
confine(200 << 20, os.getppid())
try:
    bytearray(300 << 20)
except MemoryError:
    print("out of memory")
"""
    assert run(code, tmp_path).failure == ""
    assert (tmp_path / "stderr").read_text() == "out of memory\n"
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY


def test_it_does_not_outlive_its_parent(tmp_path):
    child = """
import os, sys, time
from analyzer.batch.isolated_process import confine
confine(1 << 30, int(sys.argv[1]))
print(os.getpid(), flush=True)
time.sleep(600)
"""
    parent = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())], start_new_session=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", parent, child]
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
    assert is_gone(pid)


def is_gone(pid):
    """Whether a process is no more, or soon will be; one that nobody waits for is."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
