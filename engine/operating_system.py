"""Calls that not every operating system has, each with a portable way beside it.

No other module asks where it runs, but for `analyzer.extraction.sandbox`, which is Linux's own, and
`analyzer.sources.safe_open`, in which both ways stand together.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from threading import Thread
from types import ModuleType

import psutil

try:
    import fcntl
    import resource
except ImportError:  # Windows has neither.
    fcntl = resource = None  # type: ignore[assignment]  # What uses them asks first.

PROC, GROUPS = Path("/proc/self"), Path("/sys/fs/cgroup")
DISKLESS = {"tmpfs", "ramfs"}
BLOCK_BYTES = 512
"""The unit of `st_blocks`. Large pieces of zeros take none, so a file may be much smaller than its size says."""
RSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""The unit of `ru_maxrss`."""
PIECE_BYTES = 1 << 24
NICENESS = 5
POLL_S = 0.05
PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -3, -4, -8
KEEPING = {M_ARENA_MAX: 1, M_MMAP_MAX: 0, M_TRIM_THRESHOLD: (1 << 31) - 1}
"""Options of malloc with which all threads share one heap, nothing is mapped by itself, and what is freed is kept."""
USUAL = {M_ARENA_MAX: 0, M_MMAP_MAX: 1 << 16, M_MMAP_THRESHOLD: 1 << 25, M_TRIM_THRESHOLD: 1 << 26}
"""Those that glibc comes to by itself once large arrays have been freed."""


def after_fork(function: Callable[[], object]) -> None:
    """Call a function in each copy of the process, before anything else there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def libc() -> ctypes.CDLL | None:
    """The C library of Linux."""
    try:
        return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    except (OSError, TypeError):
        return None


def set_pointer(address: int, value: int) -> None:
    """Write a pointer to memory."""
    ctypes.c_void_p.from_address(address).value = value


def proc_text(name: str) -> str | None:
    """Return what Linux tells of this process in a file below /proc; None where there is none."""
    try:
        # Read before each stratum: without what a text file sets up.
        with open(PROC / name, "rb", buffering=0) as file:
            return file.read().decode()
    except OSError:
        return None


# ---- processors and memory


def n_cores() -> int:
    """The cores that this process may use; all of the machine where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resident_bytes() -> int:
    """The resident size of the process: all its pages that are in memory, those of files among them."""
    found = proc_text("statm")
    return psutil.Process().memory_info().rss if found is None else int(found.split()[1]) * mmap.PAGESIZE


def private_bytes() -> int:
    """The memory that the process has to itself: resident pages that are not those of files."""
    found = proc_text("statm")
    if found is None:
        return psutil.Process().memory_full_info().uss
    resident, shared = found.split()[1:3]
    return (int(resident) - int(shared)) * mmap.PAGESIZE


def release_pages(mapping: mmap.mmap) -> None:
    """Give back the pages of a mapped file, where the system takes them: what was written to them stays."""
    if hasattr(mapping, "madvise"):
        mapping.madvise(mmap.MADV_DONTNEED)


def peak_bytes() -> int:
    """The process's largest resident size so far.

    Linux counts what a process was before it ran this program in `ru_maxrss`, such as a large one that started it.
    """
    _, found, size = (proc_text("status") or "").partition("VmHWM:")
    if found:
        return int(size.split(None, 1)[0]) * 1024
    if resource:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_BYTES
    memory = psutil.Process().memory_info()
    return getattr(memory, "peak_wset", memory.rss)


def machine_bytes() -> int:
    """The memory of the machine, or of the control group that the process runs in, or its own limit on data."""
    found = [psutil.virtual_memory().total]
    if limits_data():
        found.append(resource.getrlimit(resource.RLIMIT_DATA)[0])
    for file in control_files():
        text = file.read_text().strip() if file.is_file() else ""
        if text.isdigit():
            found.append(int(text))
    return min(found)


def free_bytes(directory: Path) -> float:
    """Return the free space on the disk of a directory; infinite where the system does not tell."""
    usage = getattr(shutil, "disk_usage", None)
    return usage(directory).free if usage else inf


def control_files() -> Iterator[Path]:
    """The files that may limit the memory of the process's control group, of version 1 or 2, and of those above it."""
    for _, controllers, path in (line.split(":", 2) for line in (proc_text("cgroup") or "").splitlines()):
        root, name = GROUPS, "memory.max"
        if "memory" in controllers.split(","):
            root, name = root / "memory", "memory.limit_in_bytes"
        elif controllers:
            continue
        group = root / path.lstrip("/")
        yield from (above / name for above in (group, *group.parents) if above.is_relative_to(root))


def release_free_memory() -> None:
    """Give memory that has been freed back to the system; glibc keeps it otherwise."""
    if trim := getattr(libc(), "malloc_trim", None):
        trim(0)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Let glibc keep large arrays that are freed meanwhile for those made next, until it is told to release them.

    By default it maps each one anew, and the system clears all pages again. Where data is limited by size, not by what
    is resident, memory that is kept would count: nothing is changed there.
    """
    tune = getattr(libc(), "mallopt", None)
    if tune is None or limits_data():
        yield
        return
    try:
        for option, value in KEEPING.items():
            tune(option, value)
        yield
    finally:
        for option, value in USUAL.items():
            tune(option, value)


def limits_data() -> bool:
    """Return True if the size of this process's data is limited."""
    return resource is not None and resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY


# ---- files


def is_in_memory(directory: Path) -> bool:
    """Return True if files there are known to be memory: they are in a file system of Linux that has no disk."""
    status = os.stat(directory)
    if not hasattr(os, "major"):
        return False
    device = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    mounts = (line.split() for line in (proc_text("mountinfo") or "").splitlines())
    return any(mount[2] == device and mount[mount.index("-") + 1] in DISKLESS for mount in mounts)


def allocate(descriptor: int, n_bytes: int) -> None:
    """Give an empty file so many bytes of the disk. Raises OSError where there is no room for them."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
        return
    zeros = memoryview(bytes(min(n_bytes, PIECE_BYTES)))
    while n_bytes:
        n_bytes -= os.write(descriptor, zeros[:n_bytes])


def open_nameless(directory: Path) -> int | None:
    """Open a new file without a name for writing, which goes with its process, however that ends; None where none can.

    Raises no error: who gets none makes a file with a name, and meets the error there.
    """
    if hasattr(os, "O_TMPFILE") and (PROC / "fd").is_dir():
        with suppress(OSError):  # Not every file system can.
            return os.open(directory, os.O_WRONLY | os.O_TMPFILE, 0o666)
    return None


def give_name(descriptor: int, path: Path) -> None:
    """Give such a file a name."""
    # Python follows the link of /proc only where a directory is given, which an absolute path ignores.
    os.link(PROC / "fd" / str(descriptor), path, src_dir_fd=descriptor)


def stored_bytes(status: os.stat_result) -> int:
    """The room that a file takes on the disk, its holes aside where the system tells of them."""
    blocks = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else min(status.st_size, blocks * BLOCK_BYTES)


def sync_directory(path: Path) -> None:
    """Bring new names in a directory down to the disk, where directories can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_byte(descriptor: int, place: int, *, wait: bool) -> bool:
    """Lock a byte of a file for this process; return whether it has it. Raises OSError where bytes cannot be locked."""
    try:
        _fcntl().lockf(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, place)
    except (BlockingIOError, PermissionError):
        return False
    return True


def unlock_byte(descriptor: int, place: int) -> None:
    _fcntl().lockf(descriptor, fcntl.LOCK_UN, 1, place)


def _fcntl() -> ModuleType:
    if fcntl is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return fcntl


# ---- sockets of one machine


def connected_socket(path: Path) -> socket.socket:
    """Return a connection to a socket of this machine. Raises OSError where nobody listens, or there are no such."""
    return _local_socket(lambda made: made.connect(str(path)))


def listening_socket(path: Path) -> socket.socket:
    """Return a socket of this machine that only the user can reach. Raises OSError."""

    def listen(made: socket.socket) -> None:
        made.bind(str(path))
        os.chmod(path, 0o600)
        made.listen()

    return _local_socket(listen)


def _local_socket(prepare: Callable[[socket.socket], None]) -> socket.socket:
    if not hasattr(socket, "AF_UNIX"):
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        prepare(made)
    except OSError:
        made.close()
        raise
    return made


def user_id() -> int | None:
    """The user that owns what this process makes; None where files have no such owners, as on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else None


# ---- processes


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Processes started here begin with SIGINT blocked, where signals can be."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # Its start would unblock SIGINT for the child that is started with it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def has_ended(process: subprocess.Popen, timeout_s: float) -> bool:
    """Wait for a child, which is left to be waited for; return whether it ended in time."""
    if hasattr(os, "pidfd_open"):
        descriptor = os.pidfd_open(process.pid)
        try:
            return bool(select.select([descriptor], [], [], timeout_s)[0])
        finally:
            os.close(descriptor)
    ends_s = time.monotonic() + timeout_s
    while is_running(process.pid):
        if time.monotonic() >= ends_s:
            return False
        time.sleep(POLL_S)
    return True


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_session(process: subprocess.Popen) -> None:
    """Kill a child that leads a session, and what it has started; without sessions, what still descends from it."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
            return
    with suppress(psutil.NoSuchProcess):
        for child in (*(parent := psutil.Process(process.pid)).children(recursive=True), parent):
            with suppress(psutil.NoSuchProcess):
                child.kill()


def reaped(process: subprocess.Popen) -> tuple[float, int]:
    """Wait for a child; return its processor time and most resident bytes, (0, 0) where the system does not tell."""
    if not hasattr(os, "wait4"):
        process.wait()
        return 0.0, 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_BYTES


def limit_data(n_bytes: int) -> None:
    """Limit the data of this process, and write no image of it should it crash; nothing where that cannot be limited.

    Memory that files back does not count.
    """
    if resource:
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def lower_priority() -> None:
    """Let this process run where others leave the processor to it, where the system knows of that."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def end_with(parent: int) -> None:
    """Let this process end, at once, when its parent has."""
    if library := libc():
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        Thread(target=_end_after, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # It ended before it could be watched.
        os._exit(1)


def _end_after(parent: int) -> None:
    while os.getppid() == parent and psutil.pid_exists(parent):
        time.sleep(POLL_S)
    os._exit(1)


# ---- copies of this process


def can_fork() -> bool:
    """Return True where the system can copy a process, and has files in memory."""
    return hasattr(os, "fork") and hasattr(os, "memfd_create")


def fork() -> int:
    """Copy this process; return 0 in the copy, the number of that process here. Raises OSError."""
    return os.fork()


def has_exited(child: int) -> bool:
    """Return whether a child has ended, and leave it to be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def end_child(child: int) -> None:
    """Kill a child, and wait for it."""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def is_readable(descriptor: int, timeout_s: float | None) -> bool:
    """Wait until there is something to read, or the end; return False where that takes longer."""
    return bool(select.select([descriptor], [], [], timeout_s)[0])


def memory_file(name: str) -> int:
    """Return the descriptor of a file in memory, which has no path. Raises OSError."""
    return os.memfd_create(name)


def write_at(file: int, at: int, data: bytes) -> None:
    """Write all of the bytes at an offset of a file."""
    written = 0
    while written < len(data):
        written += os.pwrite(file, memoryview(data)[written:], at + written)


def read_at(file: int, at: int, n_bytes: int) -> bytearray:
    """Return the bytes of a file from an offset on, all of which are there."""
    data = bytearray(n_bytes)
    got = 0
    while got < n_bytes:
        got += os.preadv(file, [memoryview(data)[got:]], at + got)
    return data
