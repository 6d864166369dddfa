"""A session of Spark for a command, and what to say when there can be none."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import getLogger
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.database import EvaluationError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
WAIT = "spark.analyze.wait"
WAIT_S = 600.0
"""Default of `WAIT`, the seconds to wait for executors."""
PATIENCE_S = 10.0
"""Seconds of waiting after which a warning says what for."""
LOOK_EVERY_S = 0.1
ATTEMPTS = 4
"""Number of attempts of a task on this machine, as on a cluster."""


NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@contextmanager
def session(master: str, conf: Mapping[str, str] = NO_SETTINGS) -> Iterator[SparkSession]:
    """A session on a master that has executors, ended with the block; `conf` overrides our settings.

    Raises EvaluationError that says what is missing.
    """
    need_java()
    need_master(master)
    wait_s = seconds(conf.get(WAIT, f"{WAIT_S}"))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONSAFEPATH"] = "1"  # On this machine workers inherit it.
    logging = Path(__file__).with_name("log4j2.properties")
    os.environ.setdefault("SPARK_SUBMIT_OPTS", f"-Dlog4j2.configurationFile={logging.as_uri()}")
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(lasting(master)).appName("analyze")
    for name, value in {**SETTINGS, **conf}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        told = [line for line in str(error).splitlines() if "Exception: " in line] or [str(error)]
        raise EvaluationError(f"no Spark session on {master}: {told[0].strip()[:300]}") from None
    try:
        await_executors(spark, master, wait_s)
        yield spark
    finally:
        spark.stop()


def seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise EvaluationError(f"{WAIT}={text} is not a number of seconds") from None


def await_executors(spark: SparkSession, master: str, wait_s: float) -> None:
    """Return when there is an executor; say so when that takes long. Raises EvaluationError when it takes too long."""
    began, is_told = time.monotonic(), False
    while not n_slots(spark):
        waited_s = time.monotonic() - began
        reason = f"no executor on {master} yet: other applications hold its cores, or it has less than is asked for"
        help = "end these, or ask for less (--conf spark.executor.memory=…, spark.cores.max=…)"
        if waited_s > wait_s:
            raise EvaluationError(f"{reason}; {help}, or wait longer (--conf {WAIT}=SECONDS)")
        if waited_s > PATIENCE_S and not is_told:
            getLogger(__name__).warning("%s; waiting for up to %g s", reason, wait_s)
            is_told = True
        time.sleep(LOOK_EVERY_S)


def n_slots(spark: SparkSession) -> int:
    """Return how many tasks the executors that there are can run at once, busy or not."""
    context = spark.sparkContext._jsc.sc()
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())


def members_of(spark: SparkSession, members: int | None) -> int:
    """Return how many members a group has: all that can run at once, unless told. Raises EvaluationError.

    Spark would wait for the slots that are missing, and then end the stage, and with it the context of a notebook.
    """
    slots = n_slots(spark)
    if not slots or members is not None and members > slots:
        wanted = f"{members} members need as many cores at once" if members else "members need a core each"
        message = f"{wanted}, and the executors have {slots}: take fewer (--members), or more executors"
        raise EvaluationError(message)
    return members or slots


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
        message = f"'{master}' is not a Spark master: write local[2], spark://HOST:PORT, yarn or k8s://URL"
        raise EvaluationError(message)
