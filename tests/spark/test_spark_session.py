"""What is said where there can be no session, and what one on this machine survives."""

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from engine import EvaluationError
from engine.spark import spark_session
from engine.spark.driver import cause
from engine.spark.spark_session import lasting, members_of, need_java, need_master


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
    with pytest.raises(EvaluationError, match="is not a Spark master: write local"):
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


class Executors:
    """A session of Spark whose executors have so many slots, one number after another."""

    def __init__(self, *slots):
        self.slots = list(slots)
        self.sparkContext = SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: self))

    def resourceProfileManager(self):
        return SimpleNamespace(defaultResourceProfile=lambda: None)

    def maxNumConcurrentTasks(self, profile):
        return self.slots.pop(0) if len(self.slots) > 1 else self.slots[0]


def test_executors_are_waited_for_and_that_is_said(monkeypatch, caplog):
    monkeypatch.setattr(spark_session, "PATIENCE_S", 0.0)
    spark_session.await_executors(Executors(0, 0, 2), "spark://h:7077", 60)
    (told,) = caplog.messages
    assert told.startswith("no executor on spark://h:7077 yet: other applications hold its cores")
    assert told.endswith("waiting for up to 60 s")


def test_a_cluster_that_stays_occupied_is_told_with_what_to_do():
    with pytest.raises(EvaluationError, match=r"no executor on yarn yet.*or wait longer \(--conf spark.analyze.wait="):
        spark_session.await_executors(Executors(0), "yarn", 0)
    with pytest.raises(EvaluationError, match="spark.analyze.wait=soon is not a number of seconds"):
        spark_session.seconds("soon")


def test_more_members_than_cores_are_refused_before_spark_waits_for_them():
    assert members_of(Executors(4), None) == 4
    assert members_of(Executors(4), 3) == 3
    with pytest.raises(EvaluationError, match="5 members need as many cores at once, and the executors have 4"):
        members_of(Executors(4), 5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ModuleNotFoundError: No module named 'analyzer'", "the executors lack the package (no module 'analyzer'); "),
        ("ModuleNotFoundError: No module named 'numpy.core'", "the executors lack the package"),
        (
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3"\n\tat org',
            "Spark has no file system for s3://; write s3a://…, and add what reads it",
        ),
        ("Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "Spark has no file system for s3://"),
        ('No FileSystem for scheme "gs"', "Spark has no file system for gs://; add what reads it"),
    ],
)
def test_what_spark_says_is_told_in_one_line_with_what_to_do(text, told):
    assert cause(text).startswith(told) and "\n" not in cause(text)


DIES_ONCE = """
import os, signal, sys
from pathlib import Path
from engine.spark.spark_session import session

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
