"""Takes away what macOS or Windows lacks, in every process that finds this module on its path before it begins."""

import builtins
import ctypes
import io
import os
import signal
import sys

import psutil  # noqa: F401  (that of Linux needs what is taken away)

ABSENT = {
    os: (
        *("sched_getaffinity", "sched_setaffinity", "pidfd_open", "posix_fallocate", "posix_fadvise", "memfd_create"),
        *("geteuid", "getuid", "getegid", "getgid", "killpg", "wait4", "wait3", "waitid", "pread", "pwrite", "mkfifo"),
        *("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_TMPFILE", "statvfs", "fchmod", "major", "minor"),
    ),
    signal: ("pthread_sigmask", "SIGALRM", "setitimer", "alarm"),
}
MODULES = ("fcntl", "resource", "pwd", "grp")
OF_LINUX = ("psutil", "filelock")
"""These have ways of their own for each system, and take that of Linux here."""


def take_away():
    for module, names in ABSENT.items():
        for name in names:
            delattr(module, name)
    os.supports_dir_fd = os.supports_fd = os.supports_follow_symlinks = frozenset()
    for name in MODULES:
        sys.modules[name] = None
    builtins.open = io.open = refusing(io.open)
    ctypes.CDLL.__init__ = without_main_program(ctypes.CDLL.__init__)


def refusing(open):
    def opened(file, *arguments, **options):
        if str(file).startswith(("/proc", "/sys/fs")) and not is_of_linux(sys._getframe(1)):
            raise FileNotFoundError(2, "No such file or directory", file)
        return open(file, *arguments, **options)

    return opened


def is_of_linux(frame):
    return frame.f_globals.get("__name__", "").startswith(OF_LINUX)


def without_main_program(init):
    def made(self, name, *arguments, **options):
        if name is None and not is_of_linux(sys._getframe(1)):
            raise TypeError("there is no main program to take functions of C from")
        init(self, name, *arguments, **options)

    return made


take_away()
