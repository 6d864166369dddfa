"""What is said where there can be no session, and what one on this machine survives."""

import socket
import subprocess
import sys

import pytest

from engine import EvaluationError
from engine.spark.session import lasting, need_java, need_master


def test_a_master_that_does_not_answer_is_named():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(EvaluationError, match=rf"no Spark master answers at spark://127.0.0.1:{port}: .*refused"):
        need_master(f"spark://127.0.0.1:{port}")


@pytest.mark.slow
def test_a_master_that_answers_will_do():
    with socket.create_server(("127.0.0.1", 0)) as server:
        need_master(f"spark://127.0.0.1:{server.getsockname()[1]}")
    for master in ("local", "local[2]", "local-cluster[2,1,1024]", "yarn", "k8s://https://cluster:6443"):
        need_master(master)


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("yarn", "yarn"),
    ],
)
def test_tasks_of_one_machine_are_tried_as_often_as_those_of_a_cluster(master, expected):
    assert lasting(master) == expected


@pytest.mark.parametrize("master", ["foo", "localhost:7077", "local[2"])
def test_what_is_no_master_is_told_with_examples(master):
    with pytest.raises(EvaluationError, match="is no Spark master: write local"):
        need_master(master)


def test_java_that_is_missing_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EvaluationError, match=r"needs Java 17 or newer, and JAVA_HOME \(.*\) holds none"):
        need_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvaluationError, match="there is none on the PATH"):
        need_java()


def test_java_that_is_too_old_is_told(monkeypatch, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EvaluationError, match="is Java 11; set JAVA_HOME to a newer one"):
        need_java()


DIES_ONCE = """
import os, signal, sys
from pathlib import Path
from engine.spark.session import session

died = Path(sys.argv[1])

def dies_once(batches):
    if not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield from batches

with session("local[1]") as spark:
    print(spark.range(7).mapInArrow(dies_once, "id long").count())
"""


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_a_task_whose_worker_dies_is_tried_again_on_one_machine(tmp_path):
    command = [sys.executable, "-c", DIES_ONCE, tmp_path / "died"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (tmp_path / "died").exists()
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
