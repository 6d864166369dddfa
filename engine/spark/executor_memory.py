"""The memory of executors: found out by the task that runs there, for the driver's machine tells nothing of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import SparkSession

from engine.operating_system import machine_bytes, n_cores
from engine.storage.memory import DEFAULT_SHARE

UNITS = {"": 1 << 20, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class Settings(Protocol):
    def get(self, key: str, defaultValue: str | None = None) -> str | None: ...


@dataclass(frozen=True)
class ExecutorMemory:
    """The settings of executors: bytes of the JVM's heap, and maybe bytes for Python and concurrent tasks."""

    heap_bytes: int
    python_bytes: int | None
    slots: int | None

    @staticmethod
    def of(conf: Settings, master: str) -> ExecutorMemory:
        """Return what the settings of a session say."""
        heap = conf.get("spark.driver.memory" if is_one_process(master) else "spark.executor.memory", "1g")
        python, cores = conf.get("spark.executor.pyspark.memory"), conf.get("spark.executor.cores")
        if is_one_process(master):
            inside = master.partition("[")[2].partition("]")[0].split(",")[0]
            cores = inside if inside.isdigit() else "1" if master == "local" else None
        slots = None if cores is None else max(1, int(cores) // int(conf.get("spark.task.cpus", "1")))
        return ExecutorMemory(size_of(heap), None if python is None else size_of(python), slots)

    def share(self, n_tasks: int | None = None) -> int:
        """Return the bytes that one of the tasks that run here together may take; called on the executor.

        They share what the machine or the container leaves beside the heap, or what is set for Python.
        """
        n_tasks = n_tasks or self.slots or n_cores()
        whole = machine_bytes()
        python = self.python_bytes or max(whole - self.heap_bytes, whole // 2)
        return int(DEFAULT_SHARE * min(python, whole) / n_tasks)


def memory_of_executors(spark: SparkSession) -> ExecutorMemory:
    return ExecutorMemory.of(spark.sparkContext.getConf(), spark.sparkContext.master)


def is_one_process(master: str) -> bool:
    """Return True if tasks run on this machine, in the process of the driver."""
    return master == "local" or master.startswith("local[")


def size_of(text: str) -> int:
    """Return a size as Spark writes it, in megabytes where it has no unit."""
    found = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().lower())
    return int(found[1]) * UNITS[found[2]] if found else 1 << 30
