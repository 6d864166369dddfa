"""Compiled kernels on disk: verified when they are read, and not kept where they cannot be written.

Those that a wheel has brought come first. A file holds the code for one kernel and one choice of types, and ends with
a digest. One whose digest is wrong is compiled anew, and replaced. A full disk or a directory that is read-only costs
the time to compile, no more. Who compiles a kernel claims it by a lock on one byte of a file, which ends with the
process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path
from types import FunctionType

import msgpack

from engine.atomic_file import replaced
from engine.kernel_directory import SHIPPED, SUFFIX
from engine.kernels.machine_code import MachineCode, abi, processor
from engine.kernels.numba_extensions import VERSION
from engine.operating_system import lock_byte

SEAL_BYTES = 16
CLAIMS = "claims"


def seal(content: bytes) -> bytes:
    return blake2b(content, digest_size=SEAL_BYTES).digest()


def code_file(directory: Path, function: FunctionType, types: tuple[str, ...]) -> Path:
    """Return the file for the code of a kernel, for arguments of some types."""
    made_for = repr((types, VERSION, abi(), processor()))
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    return directory / f"{name}-{seal(made_for.encode()).hex()}{SUFFIX}"


def load(file: Path) -> MachineCode | None:
    """Return the code that a file holds, or that of its name which was shipped, if it is what has been written."""
    for place in (SHIPPED / file.name, file):
        with suppress(OSError):
            stored = place.read_bytes()
            content = stored[:-SEAL_BYTES]
            if seal(content) == stored[-SEAL_BYTES:]:
                *parts, constants = msgpack.unpackb(content)
                return MachineCode(*parts, tuple(constants))
    return None


def save(file: Path, code: MachineCode) -> None:
    content = msgpack.packb(astuple(code))
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replaced(file) as opened:
            opened.write(content + seal(content))


@contextmanager
def claimed(file: Path, *, wait: bool) -> Iterator[bool]:
    """Give whether the kernel of a file is this process's to compile while the block runs.

    Another process that compiles it is waited for, if `wait`. Where bytes of files cannot be locked, all may compile.
    """
    descriptor, is_ours = -1, True
    with suppress(OSError):
        descriptor = os.open(file.parent / CLAIMS, os.O_RDWR | os.O_CREAT, 0o600)
        is_ours = lock_byte(descriptor, int.from_bytes(seal(file.name.encode())[:7]), wait=wait)
    try:
        yield is_ours
    finally:
        with suppress(OSError):
            os.close(descriptor)
