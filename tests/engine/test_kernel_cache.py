"""Compiled kernels on disk: damaged ones are compiled anew, and those that cannot be written are not kept."""

import os
from pathlib import Path

import pytest

from engine import kernels


def add(a, b):
    return a + b


@pytest.fixture
def place(tmp_path):
    before = os.environ["NUMBA_CACHE_DIR"]
    kernels.use_cache(tmp_path)
    yield tmp_path
    kernels.use_cache(Path(before))


def is_read():
    """Call a kernel as a new process does; return whether it was read from disk."""
    compiled = kernels.kernel(add)
    kernels.KERNELS.remove(compiled)
    assert compiled(2, 3) == 5
    return bool(compiled.stats.cache_hits)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_kernel_is_compiled_anew(ending, damaged, place):
    assert not is_read()
    assert is_read()
    [file] = place.rglob(f"*.{ending}")
    for content in damaged(file.read_bytes(), 3, seed=1):
        file.write_bytes(content)
        assert not is_read()
        assert is_read()


def test_on_a_full_disk_kernels_are_not_kept(full_disk, place):
    with full_disk(at_bytes=1 << 10):
        assert not is_read()
    assert not [file for file in place.rglob("*") if file.suffix == ".nbc" or ".tmp" in file.name]
    assert not is_read()
    assert is_read()
