"""Compiled kernels on disk: verified when they are read, and not kept where they cannot be written.

Numba keeps an index and a file of machine code for each kernel. Both end with a digest here; one whose digest is wrong
is compiled anew, and replaced. A full disk or a directory that is read-only costs the time to compile, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

SEAL_BYTES = 16


def seal(content: bytes) -> bytes:
    return blake2b(content, digest_size=SEAL_BYTES).digest()


def is_sound(path: str) -> bool:
    """Is a file there, and what has been written?"""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return seal(content[:-SEAL_BYTES]) == content[-SEAL_BYTES:]


class SealedFiles(IndexDataCacheFile):
    """The files of a kernel. Unpickling ends where the digest begins."""

    def _load_index(self) -> dict[Any, str]:
        return super()._load_index() if is_sound(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        if not is_sound(path := self._data_path(name)):
            raise OSError(f"{path} is damaged")  # To Numba this is a file that is gone.
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[BytesIO]:
        with super()._open_for_write(path) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + seal(content.getvalue()))


class KernelCache(FunctionCache):
    """The compiled forms of a kernel, by the types of its arguments."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = SealedFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, compiled)
