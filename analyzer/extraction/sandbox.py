"""Sandbox of extraction workers: no writing of files, no network, no other programs.

On Linux: Landlock denies writing and executing any file, and TCP; seccomp denies sockets, new programs, changes of
modes and owners, and known bypasses. Neither needs privileges, and neither can be undone. Files can be read: modules
are imported as they are needed. On other systems, and on kernels without support, workers are not confined; `analyze
doctor` reports it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable, Iterable

from engine import operating_system

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
# Rights that each version of Landlock knows first (linux/landlock.h); all are denied but reading files and folders.
_READING = 1 << 2 | 1 << 3
_FILES = {1: (1 << 13) - 1 & ~_READING, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP = 1 << 0 | 1 << 1
_OUTSIDE = 1 << 0 | 1 << 1  # Abstract sockets, and signals to processes that are not confined.

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
# linux/asm/unistd: (x86_64, aarch64), None where a machine does not have the call.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "io_uring_setup": (425, 425), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "utimensat": (280, 88), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "add_key": (248, 217), "keyctl": (250, 219),
}  # fmt: skip
# Classic BPF: load a word, jump if equal, jump if not below, return.
_LOAD, _IF_EQUAL, _IF_FROM, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE = 0, 4

missing: list[str] = ["not confined"]
"""Restrictions that `confine` could not apply, with reasons; empty if all are in force."""


def confine() -> None:
    """Drop the rights of this process that extraction does not need, as far as the kernel allows; set `missing`."""
    missing.clear()
    if (libc := operating_system.libc()) is None:
        missing.append(f"not offered by {platform.system() or sys.platform}")
        return
    for what, deny in (("files", _deny_files), ("network and programs", _deny_calls)):
        try:
            _call(libc.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            deny(libc)
        except OSError as error:
            missing.append(f"{what}: {error.strerror}")


def in_force() -> bytes:
    """Return the restrictions missing in this process, as text: b"" if it is confined."""
    return "; ".join(missing).encode()


def _call(function: Callable[..., int], *arguments: object) -> int:
    """Call the C library. Raises OSError."""
    result = function(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _deny_files(libc: ctypes.CDLL) -> None:
    """Deny writing, creating, removing and executing files anywhere, TCP, and signals to others."""
    flag = _LANDLOCK_CREATE_RULESET_VERSION
    try:
        version = _call(libc.syscall, _LANDLOCK_CREATE_RULESET, None, 0, flag)
    except OSError as error:
        raise OSError(error.errno, f"no Landlock in this kernel ({error.strerror})") from None
    rights = [0, _TCP if version >= 4 else 0, _OUTSIDE if version >= 6 else 0]
    for since, files in _FILES.items():
        rights[0] |= files if version >= since else 0
    size = 8 * (1 + (version >= 4) + (version >= 6))
    ruleset = _call(libc.syscall, _LANDLOCK_CREATE_RULESET, (ctypes.c_uint64 * 3)(*rights), size, 0)
    try:
        _call(libc.syscall, _LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("on_true", ctypes.c_uint8),
        ("on_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def _deny_calls(libc: ctypes.CDLL) -> None:
    """Let system calls of `_DENIED` fail with EPERM, and all calls by the numbers of another machine."""
    machine = platform.machine()
    if machine not in _AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no list of system calls for {machine}")
    index = list(_AUDIT_ARCH).index(machine)
    numbers = [found for numbers in _DENIED.values() if (found := numbers[index]) is not None]
    code = list(_filter(_AUDIT_ARCH[machine], numbers))
    instructions = (_Instruction * len(code))(*(_Instruction(*each) for each in code))
    program = _Program(len(code), instructions)
    _call(libc.prctl, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)


def _filter(machine: int, numbers: list[int]) -> Iterable[tuple[int, int, int, int]]:
    """Yield the instructions of a filter that denies these calls."""
    yield _LOAD, 0, 0, _MACHINE
    yield _IF_EQUAL, 0, len(numbers) + 3, machine
    yield _LOAD, 0, 0, _NUMBER
    yield _IF_FROM, len(numbers) + 1, 0, _X32
    for position, number in enumerate(numbers):
        yield _IF_EQUAL, len(numbers) - position, 0, number
    yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _FAIL | errno.EPERM
