"""Fixtures that several parts share."""

import gc
import inspect
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, settings

from analyzer.report import Check, Coverage, Finding, Place, Problem, Report, SourceFile, Step, Suppression
from cli import cli
from engine.language import compiler

TOP = Path(__file__).resolve().parents[1]
POSIX = r"fcntl|\bresource\b|chown|mkfifo|AF_UNIX|killpg|SIGKILL|SIGSTOP|os\.fork|chmod|/bin/sh|/dev/|symlink_to"
LINUX = r"/proc|pidfd|posix_fallocate|/dev/full|O_DIRECTORY|sched_getaffinity|tmpfs|Landlock|sandbox"
LACKING = {"linux": "(?!)", "darwin": LINUX, "win32": f"{LINUX}|{POSIX}"}
"""Names in the sources of tests that are not for a system."""
IDENTITY = {f"GIT_{role}_{key}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
HOST = "127.0.0.1"
EXECUTOR = "CoarseGrainedExecutorBackend"

THRESHOLD = 200_000
"""Of the garbage collector, for compiled rules are many objects that live long; the command has one as well."""
gc.set_threshold(THRESHOLD)

# Of each property so many examples, or multiples; the same in each run. More of them: `EXAMPLES=1000 pytest FILE`.
settings.register_profile(
    "ours",
    max_examples=int(os.environ.get("EXAMPLES", 15)),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("ours")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out, and count as deselected, tests that name what this system has not.

    Tests that share a fixture of their module run in one process, which makes it once.
    """
    lacking = re.compile(LACKING.get(sys.platform, LINUX))
    gone = [item for item in items if lacking.search(item.path.stem) or lacking.search(source_of(item))]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in set(gone)]
    for item in items:
        fixtures = [made[-1] for made in item._fixtureinfo.name2fixturedefs.values()]
        if any(made.scope == "module" for made in fixtures) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


def pytest_collection_finish(session):
    """Groups of pytest-xdist 3.8 do not hold with pytest 9.2, silently."""
    if getattr(session.config.option, "loadgroup", False):
        grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
        assert all("@" in item.nodeid for item in grouped), "tests of a group would run in several processes"


@pytest.fixture(autouse=True)
def collector():
    """Live processes set the threshold of theirs, which is that of all tests here; none leaves the collector off."""
    yield
    gc.set_threshold(THRESHOLD)
    assert gc.isenabled()


def source_of(item):
    return inspect.getsource(item.function) if hasattr(item, "function") else ""


@pytest.fixture(scope="session")
def damaged():
    """Return what yields bytes with a flipped bit, and cut somewhere, so many times."""

    def each(data, count, seed):
        choose = random.Random(seed)
        for _ in range(count):
            changed = bytearray(data)
            changed[choose.randrange(len(changed))] ^= 1 << choose.randrange(8)
            yield bytes(changed)
            yield data[: choose.randrange(len(data))]

    return each


@pytest.fixture
def full_disk():
    """Return a context in which files stop growing: as on a full disk, what is written first goes well."""
    import resource

    @contextmanager
    def full(at_bytes=1 << 14):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (at_bytes, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return full


@pytest.fixture(scope="session")
def shared_state():
    """The state directory of the command; what tests compile is kept there for the other runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"


@pytest.fixture
def state_directory(shared_state, tmp_path_factory, monkeypatch):
    """A state directory of the test's own; compiled kernels and programs are shared with the other runs."""
    state = tmp_path_factory.mktemp("cache") / "analyze"
    state.mkdir()
    for name in ("kernels", "programs"):
        (shared_state / name).mkdir(parents=True, exist_ok=True)
        (state / name).symlink_to(shared_state / name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(state.parent))
    return state


@pytest.fixture
def analyze(state_directory):
    """Run a command in this process, and return its result; its exit code must be `code`."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert code in (None, result.exit_code), result.output
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def read(monkeypatch):
    """The names of the sources that are parsed."""
    names = []

    def parse(name, text, report):
        names.append(name)
        return parsed(name, text, report)

    parsed = compiler.parse
    monkeypatch.setattr(compiler, "parse", parse)
    return names


@pytest.fixture
def spawn(state_directory):
    """Run a command in a process of its own."""

    def run(*arguments, cwd=None, env=None):
        command = [sys.executable, "-P", "-c", "from cli import main; main()", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(TOP)} | (env or {})
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)

    return run


def git(path, *arguments):
    command = ["git", "-C", str(path), *arguments]
    environment = os.environ | IDENTITY | {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


class History:
    """A repository to which commits are added: each sets files, None removing one."""

    git = staticmethod(git)

    def __init__(self, path):
        self.path = path
        git(path.parent, "init", "-q", "-b", "main", path.name)

    def commit(self, files=None):
        """Commit what is in the working tree, with these files; return the commit."""
        for name, text in (files or {}).items():
            path = self.path / name
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        git(self.path, "add", "-A")
        git(self.path, "commit", "-q", "--allow-empty", "-m", "next")
        return git(self.path, "rev-parse", "HEAD")


@pytest.fixture
def history(tmp_path):
    (tmp_path / "repo").mkdir()
    return History(tmp_path / "repo")


@pytest.fixture
def sample_report():
    """A hand-made report with a path, a suppressed finding, a partly parsed and an unreadable file."""
    sql = Check(
        id="sql-injection",
        name="SQL query built from user-controlled data",
        severity="error",
        precision="high",
        message="This SQL query depends on {source}.",
        help="A user who controls part of a query can read or change any data.\n\nPass values as parameters.",
        summary="A user who controls part of a query can read or change any data.",
        cwe=(89,),
        security_severity="8.8",
        tags=("security",),
    )
    unused = Check("unused-import", "Unused import", "note", "very-high", "{name} is imported and never used.")
    code = ["def user():", '    name = request.args["name"]', '    cur.execute("SELECT * FROM t WHERE n=\'" + name)']
    sink, source = Place("app/db.py", 42, 5, 42, 53), Place("app/db.py", 41, 12, 41, 32)
    path = (Step(source, "a request parameter enters here", code[1]), Step(sink, "", code[2]))
    findings = (
        Finding(sql.id, "This SQL query depends on a request parameter.", sink, path, "f1", "a:1", tuple(code), 40),
        Finding(unused.id, "os is imported and never used.", Place("app/é [x].py", 1, 8, 1, 10), (), "f2", "b:1"),
        Finding(
            unused.id, "re is imported and never used.", Place("app/z.py", 1, 8, 1, 10), (), "f3", "c:1",
            suppression=Suppression("app/z.py", 1, (unused.id,), "kept for users"),
        ),
    )  # fmt: skip
    coverage = Coverage(
        parsed=81, lines=12345, languages={"python": 82}, unparsed={"app/bad.py": (3, 4)},
        skipped={"over 1 MB": ("big.py",), "vendored": ("vendor/a.py", "vendor/b.py")}, generated={"app/api_pb2.py": 3},
        n_weaker=7, calls_resolved=1204, calls_by_name=180, calls_unresolved=200,
    )  # fmt: skip
    return Report(
        target="repo",
        revision="c" * 40,
        prefix="sub/",
        checks=(sql, unused),
        findings=findings,
        coverage=coverage,
        files=(SourceFile("app/db.py", "python", "0" * 40, 120), SourceFile("app/bad.py", "python", "1" * 40, 9)),
        problems=(Problem("cannot be read: Permission denied", "app/secret.py"),),
        unused_suppressions=(Suppression("app/db.py", 7, ("py/xss",), ""),),
    )


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


class Daemon:
    """A process of Spark's, from the line of its log that says it is ready until it is ended."""

    def __init__(self, arguments, ready, environment):
        self.process = subprocess.Popen(
            [str(Path(find_spec("pyspark").origin).parent / "bin" / "spark-class"), *arguments],
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
    """A standalone cluster on loopback: a master and two workers, with an executor each in processes of their own.

    `master` is its URL; `directories[i]` holds all local files of worker i and its executors.
    """

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
