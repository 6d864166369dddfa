"""A standalone cluster on loopback: a master and two workers, with an executor each in processes of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest

HOST = "127.0.0.1"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
EXECUTOR = "CoarseGrainedExecutorBackend"


class Daemon:
    """A process of Spark's, from the line of its log that says it is ready until it is ended."""

    def __init__(self, arguments, ready, environment):
        self.process = subprocess.Popen(
            [str(SPARK_CLASS), *arguments],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if ready in line:
                break
        else:
            raise RuntimeError("".join(lines))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """`master` is its URL; `directories[i]` holds all local files of worker i and its executors."""

    def __init__(self, folder, stack):
        with socket.create_server((HOST, 0)) as free:
            port = free.getsockname()[1]
        self.master = f"spark://{HOST}:{port}"
        self.events = folder / "events"
        self.events.mkdir()
        self.directories = [folder / f"worker-{i}" for i in range(2)]
        quiet = {"SPARK_NO_DAEMONIZE": "1", "PYSPARK_PYTHON": sys.executable}
        arguments = ["org.apache.spark.deploy.master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0"]
        stack.callback(Daemon(arguments, "New state: ALIVE", quiet).end)
        for directory in self.directories:
            arguments = ["org.apache.spark.deploy.worker.Worker", self.master, "--host", HOST, "--webui-port", "0"]
            arguments += ["--cores", "1", "--memory", "1g", "--work-dir", str(directory / "work")]
            local = {**quiet, "SPARK_LOCAL_DIRS": str(directory / "local")}
            stack.callback(Daemon(arguments, "Successfully registered with master", local).end)

    def failed_tasks(self):
        """Why tasks have ended that did not succeed."""
        reasons = []
        for file in self.events.rglob("*"):
            for line in file.read_text().splitlines() if file.is_file() else ():
                if '"SparkListenerTaskEnd"' in line:
                    reason = json.loads(line)["Task End Reason"]["Reason"]
                    reasons += [reason] * (reason != "Success")
        return reasons

    def executors(self, directory):
        """The executors whose files are in a worker's directory."""
        return [pid for pid, line in processes().items() if EXECUTOR in line and is_in(pid, directory)]

    def python_workers(self, directory):
        """The workers of Python of these executors: children of their daemon."""
        above, owners = parents(), set(self.executors(directory))
        return [pid for pid, parent in above.items() if above.get(parent) in owners]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


@pytest.fixture(scope="session")
def spark(cluster):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(cluster.master)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", cluster.events.as_uri())
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.eventLog.compress", "false")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .getOrCreate()
    )
    yield session
    session.stop()


def processes():
    """The command line of each process, by its id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def parents():
    found = {}
    for pid in processes():
        try:
            found[pid] = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


@pytest.fixture
def python_workers_below():
    """The workers of Python that a process has started through Spark: children of their daemon."""

    def found(pid):
        above, lines = parents(), processes()
        below = {pid}
        for _ in range(8):
            below |= {child for child, parent in above.items() if parent in below}
        daemons = {process for process in below if "pyspark.daemon" in lines.get(process, "")}
        return [process for process in daemons if above[process] in daemons]

    return found


def is_in(pid, directory):
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(directory)
    except OSError:
        return False
