"""The memory of executors: what a task takes as its part of it, by what is set and where it runs."""

from types import SimpleNamespace

import pytest

from engine.language.compiler import compile
from engine.spark import executor_memory
from engine.spark.barrier_task import Job
from engine.spark.executor_memory import ExecutorMemory
from engine.spark.socket_communicator import Credentials
from engine.storage.memory import LEDGER

GB = 1 << 30


@pytest.mark.parametrize(
    ("master", "settings", "expected"),
    [
        ("local[4]", {"driver.memory": "2g"}, ExecutorMemory(2 * GB, None, 4)),
        ("local[4,4]", {}, ExecutorMemory(GB, None, 4)),
        ("local", {"executor.memory": "8g"}, ExecutorMemory(GB, None, 1)),
        ("local[*]", {}, ExecutorMemory(GB, None, None)),
        ("spark://h:7077", {"executor.memory": "512m"}, ExecutorMemory(GB // 2, None, None)),
        ("yarn", {"executor.cores": "4", "task.cpus": "2"}, ExecutorMemory(GB, None, 2)),
        ("k8s://h", {"executor.pyspark.memory": "3072"}, ExecutorMemory(GB, 3 * GB, None)),
    ],
)
def test_what_is_set_is_known_to_the_driver(master, settings, expected):
    assert ExecutorMemory.of({f"spark.{name}": value for name, value in settings.items()}, master) == expected


def test_a_task_takes_its_part_of_the_machine_that_it_runs_on(monkeypatch):
    monkeypatch.setattr(executor_memory, "machine_bytes", lambda: 9 * GB)
    monkeypatch.setattr(executor_memory, "n_cores", lambda: 8)
    assert ExecutorMemory(GB, None, 4).share() == int(0.8 * 8 * GB / 4)
    assert ExecutorMemory(GB, None, None).share() == int(0.8 * GB)
    assert ExecutorMemory(GB, 4 * GB, 4).share(2) == int(0.8 * 2 * GB)
    monkeypatch.setattr(executor_memory, "machine_bytes", lambda: GB)  # A container that the heap alone would fill.
    assert ExecutorMemory(GB, None, 1).share() == int(0.8 * GB / 2)


def test_members_of_a_group_share_the_memory_of_their_machine(monkeypatch):
    """A machine that is large beside this process, which ran other tests before and keeps to the limit meanwhile."""
    monkeypatch.setattr(executor_memory, "machine_bytes", lambda: 900 * GB)
    job = Job(compile([".decl a(x: number)"]), {}, Credentials(), ExecutorMemory(100 * GB, None, 1), 0)
    with job.limited(SimpleNamespace(n_here=2)):
        assert LEDGER.limit_bytes == int(0.8 * 400 * GB)
