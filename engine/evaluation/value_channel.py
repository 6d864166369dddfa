"""A one-way channel between a process and its copy: values stand in a file in memory, and a pipe says where.

The file has no path: nobody else can write it. Sending does not wait for the other side.
"""

from __future__ import annotations

import os
import pickle
import struct
from contextlib import ExitStack
from typing import Any

from engine.operating_system import is_readable, memory_file, read_at, write_at

NOTICE = struct.Struct("<qq")
"""Where a value stands in the file: offset and length in bytes."""
CLOSED = -1


class ValueChannel:
    """Made before the fork; then each side keeps its end."""

    def __init__(self) -> None:
        """Raises OSError."""
        with ExitStack() as opened:
            self._file = memory_file("values")
            opened.callback(os.close, self._file)
            self._reads, self._writes = os.pipe()
            opened.pop_all()
        self._at = 0

    def keep_reading(self) -> None:
        os.close(self._writes)
        self._writes = CLOSED

    def keep_writing(self) -> None:
        os.close(self._reads)
        self._reads = CLOSED

    def send(self, value: Any) -> None:
        """Raises OSError where the other side has ended."""
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        write_at(self._file, self._at, data)
        os.write(self._writes, NOTICE.pack(self._at, len(data)))
        self._at += len(data)

    def receive(self, wait: bool) -> Any:
        """Return the next value; None if there is none yet and the caller does not wait. Raises EOFError at the end."""
        if not is_readable(self._reads, None if wait else 0):
            return None
        notice = os.read(self._reads, NOTICE.size)
        if len(notice) < NOTICE.size:
            raise EOFError
        return pickle.loads(read_at(self._file, *NOTICE.unpack(notice)))

    def close(self) -> None:
        for descriptor in (self._file, self._reads, self._writes):
            if descriptor != CLOSED:
                os.close(descriptor)
        self._file = self._reads = self._writes = CLOSED
