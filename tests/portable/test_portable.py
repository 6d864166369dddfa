"""Calls that macOS or Windows lacks are named in one module, and everything works without them."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from analyzer.batch.isolated_process import run_isolated
from analyzer.extraction.cache_locks import Claims
from engine import operating_system, trusted_directories

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
PACKAGES = ("analyzer", "cli", "engine", "facts", "rules")

# Attributes of os, signal, select and socket, and of what they return, that one of the three systems has not; modules;
# beginnings of paths.
NAMES = set(
    """
    sched_getaffinity sched_setaffinity sched_yield pidfd_open pidfd_send_signal posix_fallocate posix_fadvise
    posix_spawn posix_spawnp memfd_create eventfd splice sendfile copy_file_range getrandom getxattr setxattr listxattr
    fork forkpty register_at_fork setsid setpgid getpgid getsid killpg nice wait3 wait4 waitid WNOHANG
    geteuid getuid getegid getgid getgroups getlogin setuid setgid setresuid chown lchown fchown fchmod lchmod chroot
    pread pwrite preadv pwritev readv writev mkfifo mknod major minor statvfs fstatvfs fdatasync sync sysconf confstr
    uname getloadavg openpty ttyname ctermid pipe2 lockf set_blocking get_blocking
    O_NOFOLLOW O_DIRECTORY O_NONBLOCK O_CLOEXEC O_TMPFILE O_PATH O_SYNC O_DSYNC O_BINARY supports_dir_fd supports_fd
    SIGKILL SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGCHLD SIGSTOP SIGCONT SIGPIPE SIGQUIT alarm setitimer pause sigwait
    pthread_sigmask pthread_kill siginterrupt poll epoll kqueue AF_UNIX AF_NETLINK socketpair st_blocks st_rdev
    st_birthtime
    """.split()
)
MODULES = {"ctypes", "fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "select", "msvcrt", "winreg"}
PLACES = ("/proc", "/sys/", "/dev/", "/tmp", "/etc/", "/usr/", "/var/")
OWN = {
    "engine/operating_system.py": NAMES | MODULES | {"/proc/self", "/sys/fs/cgroup"},
    "analyzer/extraction/sandbox.py": NAMES | {"ctypes"},  # A table of calls of Linux.
    # Both ways of opening files stand together, and the other one is used where these names are missing.
    "analyzer/sources/safe_open.py": {"O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "supports_dir_fd", "supports_fd"},
}
OF_SYSTEM = {"os", "signal", "select", "socket", "stat", "status", "before", "found", "s"}


ANY = re.compile(rf"\b({'|'.join(NAMES | MODULES)})\b|[\"'](?:{'|'.join(PLACES)})")


def particular(path):
    """The names in a module that not every system knows."""
    text = path.read_text(encoding="utf-8")
    if not ANY.search(text):
        return
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=of), attr=name) if of in OF_SYSTEM and name in NAMES:
                yield name
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name.partition(".")[0] in MODULES)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from ([module] if module.partition(".")[0] in MODULES else [])
                yield from (alias.name for alias in names if module in OF_SYSTEM and alias.name in NAMES)
            case ast.Constant(value=str(text)) if id(node) not in docs:
                yield from ([text] if text in NAMES and "_" in text or text.startswith(PLACES) else [])


def test_one_module_names_what_not_every_system_has():
    found = {}
    for package in PACKAGES:
        for path in sorted((TOP / package).rglob("*.py")):
            place = path.relative_to(TOP).as_posix()
            if names := set(particular(path)) - OWN.get(place, set()):
                found[place] = names
    assert found == {}


# ---- each portable way by itself


def without(monkeypatch, module, *names):
    for name in names:
        monkeypatch.delattr(module, name)


def refuse(name):
    return None


def test_cores(monkeypatch):
    without(monkeypatch, os, "sched_getaffinity")
    assert operating_system.n_cores() == os.cpu_count()


HOLDS = """
from engine import operating_system
operating_system.proc_text, operating_system.resource = lambda name: None, None
before = operating_system.private_bytes()
held = b"x" * (64 << 20)
print(operating_system.private_bytes() - before, operating_system.peak_bytes(), operating_system.machine_bytes())
"""


def test_memory_of_the_process_and_of_the_machine():
    """In a process that has no free memory of its own to reuse."""
    done = subprocess.run([sys.executable, "-c", HOLDS], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True)
    more, peak, machine = map(int, done.stdout.split())
    assert 0.9 * (64 << 20) < more < 1.5 * (64 << 20)
    assert peak > 64 << 20
    assert machine == psutil.virtual_memory().total


def test_room_for_a_file(monkeypatch, tmp_path):
    without(monkeypatch, os, "posix_fallocate")
    monkeypatch.setattr(operating_system, "PIECE_BYTES", 1000)
    with (tmp_path / "file").open("w+b") as file:
        operating_system.allocate(file.fileno(), 3500)
        assert file.read() == b"" and file.seek(0) == 0
        assert file.read() == bytes(3500)
    assert (tmp_path / "file").stat().st_blocks
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError):
        operating_system.allocate(full.fileno(), 3500)


def test_files_of_which_less_is_known(monkeypatch, tmp_path):
    assert operating_system.stored_bytes(SimpleNamespace(st_size=5)) == 5
    monkeypatch.setattr(operating_system, "proc_text", refuse)
    monkeypatch.setattr(operating_system, "PROC", tmp_path)
    assert not operating_system.is_in_memory(Path("/dev/shm"))
    without(monkeypatch, os, "O_DIRECTORY")
    operating_system.sync_directory(tmp_path / "none")


def test_everybody_may_extract_everything_where_bytes_cannot_be_locked(monkeypatch, tmp_path):
    monkeypatch.setattr(operating_system, "fcntl", None)
    claims = Claims(tmp_path)
    with pytest.raises(OSError):
        operating_system.lock_byte(claims._file, 0, wait=False)
    assert claims.claim(("python", "a"))
    claims.wait(("python", "a"))
    claims.release(("python", "a"))


def test_directories_without_owners_are_trusted(monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    assert trusted_directories.why_distrusted(tmp_path)
    without(monkeypatch, os, "geteuid")
    assert trusted_directories.why_distrusted(tmp_path) == ""


@pytest.mark.slow
def test_processes_are_ended_with_what_they_have_started(monkeypatch, tmp_path):
    without(monkeypatch, os, "pidfd_open", "killpg", "wait4")
    code = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
    quick = run_isolated([sys.executable, "-c", "raise SystemExit(3)"], tmp_path, os.environ, 60)
    assert quick.failure == "ended with exit code 3"
    ended = run_isolated([sys.executable, "-c", code], tmp_path, os.environ, 2.0)
    assert ended.failure == "took longer than 2 s"
    child = int((tmp_path / "stderr").read_text())
    monkeypatch.undo()  # Waiting for other processes is psutil's.
    psutil.wait_procs([process for process in map(existing, [child]) if process], 30)
    assert not operating_system.is_running(child)


def existing(pid):
    return psutil.Process(pid) if psutil.pid_exists(pid) else None


def test_a_process_ends_after_its_parent(tmp_path):
    child = """
import os, sys, time
from engine import operating_system
operating_system.libc = lambda: None
operating_system.end_with(int(sys.argv[1]))
print(os.getpid(), flush=True)
time.sleep(600)
"""
    parent = """
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())])
time.sleep(600)
"""
    command, environment = [sys.executable, "-c", parent, child], os.environ | {"PYTHONPATH": str(TOP)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
    for found in filter(None, [existing(pid)]):
        psutil.wait_procs([found], 30)
    assert not operating_system.is_running(pid)


HOLD = """
import sys
from pathlib import Path
from engine.incremental.file_lock import lock
held = lock(Path(sys.argv[1]), 0)
print(type(held).__name__, flush=True)
input()
"""


def test_a_lock_is_let_go_when_its_holder_is_killed(tmp_path):
    """Also where files cannot be locked: the file names its holder."""
    command = [sys.executable, "-W", "ignore", "-c", HOLD, str(tmp_path / "lock")]
    environment = os.environ | {"PYTHONPATH": f"{HERE}:{TOP}"}
    ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment, "text": True}
    with subprocess.Popen(command, **ends) as first:
        assert first.stdout.readline() == "SoftFileLock\n"
        assert subprocess.run(command, **(ends | {"stdin": subprocess.DEVNULL})).stdout == "NoneType\n"
        first.send_signal(signal.SIGKILL)
    assert subprocess.run(command, **(ends | {"stdin": subprocess.DEVNULL})).stdout == "SoftFileLock\n"


# ---- the whole tool

PROGRAM = """
.decl arc(x: number, y: number)
.input arc
.decl path(x: number, y: number)
.output path
path(x, y) :- arc(x, y).
path(x, z) :- path(x, y), arc(y, z).
"""
HARMLESS = "import os\nfrom flask import request\ndef f():\n    os.system('ls')\n"
HARMFUL = HARMLESS.replace("'ls'", "request.args['x']")


@pytest.fixture
def place(history, tmp_path):
    """A directory with a repository of two commits, one more change that is staged, and a program with facts."""
    history.commit({"app.py": HARMLESS, "other.js": "let x = 1;\n"})
    history.commit({"app.py": HARMFUL})
    (history.path / "more.py").write_text(HARMFUL)
    history.git(history.path, "add", ".")
    (tmp_path / "facts").mkdir()
    (tmp_path / "tc.dl").write_text(PROGRAM)
    (tmp_path / "facts/arc.facts").write_text("1\t2\n2\t3\n3\t4\n")
    (tmp_path / "delta").mkdir()
    (tmp_path / "delta/arc.insert.facts").write_text("4\t5\n")
    return tmp_path


COMMANDS = {
    "scan": [("scan", "repo", "--format", "sarif")],
    "hook": [("hook", "--format", "sarif")],
    "ci": [("ci", "repo", "--base", "HEAD~1", "--format", "json")],
    "run": [("run", "tc.dl", "-F", "facts", "-D", "out")],
    "update": [
        ("update", "tc.dl", "--state", "state", "-F", "facts", "-D", "out"),
        ("update", "tc.dl", "--state", "state", "--delta", "delta", "--policy", "update", "-D", "out"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_the_same_without(spawn, place, command, state_directory):
    here, known = place / "repo" if command == "hook" else place, []
    for taken in (None, {"PYTHONPATH": f"{HERE}:{TOP}", "PYTHONWARNINGS": "ignore"}):
        done = [spawn(*arguments, cwd=here, env=taken) for arguments in COMMANDS[command]]
        assert not any(each.stderr for each in done), done
        out = {path.name: path.read_bytes() for path in (place / "out").glob("*")}
        known.append(([(each.returncode, without_times(each.stdout)) for each in done], out))
        for kept in (place / "state", place / "out", state_directory / "commits", state_directory / "facts"):
            shutil.rmtree(kept, ignore_errors=True)
    assert known[0] == known[1]
    codes, out = known[0]
    assert {code for code, _ in codes} == {0 if command in ("run", "update") else 1}
    assert out if command in ("run", "update") else all("request.args" in str(text) for _, text in codes)


def without_times(text):
    return [line for line in text.splitlines() if " s to " not in line]


@pytest.mark.slow
def test_calls_are_taken_away_from_workers_too(place):
    code = """
import json, os
from analyzer.extraction.pool import Pool, Task
from analyzer.extraction import sandbox
with Pool(sandbox.in_force, 1, 60) as pool:
    (outcome,) = pool.run([Task(0, (), 0)])
print(json.dumps([hasattr(os, "pidfd_open"), outcome.value.decode()]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{HERE}:{TOP}"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [False, "not offered by Linux"]
