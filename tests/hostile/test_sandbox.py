"""Code that a file brings to run in a worker, through a parser's mistake: what it can do there."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer import doctor
from analyzer.extraction.pool import Pool, Task

HERE = Path(__file__)


def connect():
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.sendto(b"secret", ("127.0.0.1", 9))


def listen():
    socket.create_server(("127.0.0.1", 0))


def local_socket():
    socket.socket(socket.AF_UNIX).connect("\0somewhere")


def write():
    Path(os.environ["XDG_CACHE_HOME"], "written").write_text("x")


def overwrite():
    os.open(os.environ["VICTIM"], os.O_WRONLY)


def remove():
    os.unlink(os.environ["VICTIM"])


def rename():
    os.rename(os.environ["VICTIM"], os.environ["VICTIM"] + ".old")


def link():
    os.symlink("/", os.environ["VICTIM"] + ".link")


def change_mode():
    os.chmod(os.environ["VICTIM"], 0o777)


def execute():
    os.execv(sys.executable, [sys.executable, "-c", "pass"])


def start():
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def kill_parent():
    os.kill(os.getppid(), signal.SIGCONT)


ATTACKS = (connect, send, listen, local_socket, write, overwrite, remove, rename, link, change_mode, execute, start,
           kill_parent)  # fmt: skip


def attempted(name):
    """Return what came of an attack."""
    try:
        globals()[name]()
    except PermissionError:
        return b"denied"
    except OSError as error:
        return str(error).encode()
    return b"done"


@pytest.fixture(scope="module")
def confined():
    return doctor._sandbox().ok


@pytest.mark.parametrize("way", ATTACKS, ids=lambda way: way.__name__)
def test_a_worker_that_was_taken_over_can_do_nothing(attack, tmp_path, monkeypatch, confined, way):
    victim = tmp_path / "victim"
    victim.write_text("x")
    monkeypatch.setenv("VICTIM", str(victim))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Pool(attempted, 1, 60.0) as pool:
        (outcome,) = pool.run([Task("", (way.__name__,), 0)])
    # Where the kernel denies nothing, `analyze doctor` says so: `confined` is its word.
    got = outcome.value.decode() if confined else "doctor says that nothing is confined"
    expected = "denied" if confined else "doctor says that nothing is confined"
    attack(f"code in a worker: {way.__name__.replace('_', ' ')}", expected=expected, got=got)


def test_attacks_succeed_without_a_sandbox(tmp_path, monkeypatch):
    """Otherwise the test above would show nothing."""
    victim = tmp_path / "victim"
    victim.write_text("x")
    monkeypatch.setenv("VICTIM", str(victim))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    possible = [way.__name__ for way in (send, listen, write, overwrite, change_mode, link, rename, start, kill_parent)]
    assert {name: attempted(name) for name in possible} == dict.fromkeys(possible, b"done")


def test_doctor_says_where_there_is_no_sandbox(monkeypatch):
    monkeypatch.setattr("analyzer.extraction.sandbox.in_force", no_landlock)
    found = doctor._sandbox()
    assert (found.ok, found.required, found.detail) == (False, False, "files: no Landlock in this kernel")
    assert found.help


def no_landlock():
    return b"files: no Landlock in this kernel"
