"""A session of Spark for a command, and what to say when there can be none."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.database import EvaluationError

OLDEST_JAVA = 17
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # A stage waits for its slots at most this often, some seconds each, before it is said that there are too few.
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "3",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "5s",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    # Members of a barrier stage hold their slots to the end: none may be taken away meanwhile.
    "spark.dynamicAllocation.enabled": "false",
    # No module of the directory that an executor runs in is imported.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
ATTEMPTS = 4
"""How often a task may fail on this machine: as often as on a cluster."""


@contextmanager
def session(master: str) -> Iterator[object]:
    """A session on a master, ended with the block. Raises EvaluationError that says what is missing."""
    need_java()
    need_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONSAFEPATH"] = "1"  # On this machine workers inherit it.
    logging = Path(__file__).with_name("log4j2.properties")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", f"-Dlog4j2.configurationFile={logging.as_uri()}")
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(lasting(master)).appName("analyze")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        told = [line for line in str(error).splitlines() if "Exception: " in line] or [str(error)]
        raise EvaluationError(f"no Spark session on {master}: {told[0].strip()[:300]}") from None
    try:
        yield spark
    finally:
        spark.stop()


def lasting(master: str) -> str:
    """A master of this machine alone with tasks that are tried again: by itself it ends with the first that fails."""
    cores = "1" if master == "local" else master.removeprefix("local[").removesuffix("]")
    is_plain = master == "local" or re.fullmatch(r"local\[(\d+|\*)\]", master)
    return f"local[{cores},{ATTEMPTS}]" if is_plain else master


def need_java() -> None:
    """Raise EvaluationError unless there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    wanted = f"Spark needs Java {OLDEST_JAVA} or newer"
    try:
        found = subprocess.run([java or "java", "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        where = f"JAVA_HOME ({home}) holds none" if home else "there is none on the PATH"
        raise EvaluationError(f"{wanted}, and {where}; on Debian: apt-get install openjdk-17-jre-headless") from None
    version = re.search(r'version "(\d+)', found)
    if version and int(version[1]) < OLDEST_JAVA:
        raise EvaluationError(f"{wanted}, and {java} is Java {version[1]}; set JAVA_HOME to a newer one")


def need_master(master: str) -> None:
    """Raise EvaluationError if a standalone master does not answer: Spark itself would try for minutes."""
    found = re.fullmatch(r"spark://([^:/]+):(\d+)", master)
    if found:
        try:
            socket.create_connection((found[1], int(found[2])), timeout=5).close()
        except OSError as error:
            raise EvaluationError(f"no Spark master answers at {master}: {error}") from None
    elif not re.match(r"(local(-cluster)?\[.*\]|local|yarn|k8s://.*|spark://.*)$", master):
        message = f"'{master}' is no Spark master: write local[2], spark://HOST:PORT, yarn or k8s://URL"
        raise EvaluationError(message)
