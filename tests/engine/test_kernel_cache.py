"""Compiled kernels on disk: damaged ones are compiled anew, and those that cannot be written are not kept."""

import subprocess
import sys

import numba
import numpy as np
import pytest
from llvmlite import binding as llvm

from engine import kernels
from engine.kernel_directory import SUFFIX
from engine.kernels import columns, kernel_cache, machine_code
from engine.kernels.compiled_kernel import type_name
from engine.kernels.numba_compiler import compiled, named_type


def add(a, b):
    return a + b


def reverse(rows):
    return rows[:, ::-1].copy()


@pytest.fixture
def place(tmp_path):
    before = kernels.directory
    kernels.use_cache(tmp_path)
    yield tmp_path
    kernels.use_cache(before)


def is_read():
    """Call a kernel as a new process does; return whether it was read from disk."""
    compiled = kernels.kernel(add)
    assert compiled(2, 3) == 5
    return compiled.n_compiled == 0


def test_a_damaged_kernel_is_compiled_anew(damaged, place):
    assert not is_read()
    assert is_read()
    [file] = place.rglob(f"*{SUFFIX}")
    for content in damaged(file.read_bytes(), 3, seed=1):
        file.write_bytes(content)
        assert not is_read()
        assert is_read()


def test_shipped_kernels_are_read_where_the_user_has_none(place, monkeypatch, damaged):
    assert not is_read()
    shipped = place / "shipped"
    shipped.mkdir()
    [file] = place.rglob(f"*{SUFFIX}")
    content = file.read_bytes()
    shipped_file = file.rename(shipped / file.name)
    monkeypatch.setattr(kernel_cache, "SHIPPED", shipped)
    assert is_read() and not list(place.glob(f"*{SUFFIX}"))
    shipped_file.write_bytes(next(iter(damaged(content, 1, seed=1))))
    assert not is_read()
    assert is_read()


def test_kernels_are_made_for_processors_in_general_where_this_one_allows(monkeypatch):
    """Code with the features of all kinds of x86-64-v3, as LLVM knows them, runs where those are."""
    host = llvm.get_host_cpu_features()
    common = (machine_code.COMMON_PROCESSOR, "") if all(map(host.get, machine_code.COMMON_FEATURES)) else None
    found = machine_code.processor()
    assert found == (common or found) == (numba.config.CPU_NAME, numba.config.CPU_FEATURES)
    monkeypatch.setattr(machine_code, "COMMON_FEATURES", ["a feature that none has"])
    machine_code.processor.cache_clear()
    try:
        assert machine_code.processor() == (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    finally:
        machine_code.processor.cache_clear()


@kernels.inlined
def step(a):
    return a + 1


@kernels.inlined
def leap(a):
    return a + 10


@kernels.kernel
def move(a):
    return step(a)


def test_a_variant_of_a_kernel_runs_code_that_is_named_otherwise(place):
    far = kernels.variant(move, "move_far", step=leap)
    assert (move(1), far(1)) == (2, 11)
    # Processes number what they compile from 1 each: only the name tells the code of one kernel from another's.
    assert "move_far" in compiled(far.function, ("int64",))[0].entry


def test_on_a_full_disk_kernels_are_not_kept(full_disk, place):
    with full_disk(at_bytes=1 << 10):
        assert not is_read()
    assert not [file for file in place.rglob("*") if file.is_file() and file.name != kernel_cache.CLAIMS]
    assert not is_read()
    assert is_read()


TYPES = ("<i8:1C", "<i8:1C")
COMPILING = """
import sys
from pathlib import Path
from engine.kernels import columns, kernel_cache, numba_compiler
function, types = columns.gather.function, ("<i8:1C", "<i8:1C")
file = kernel_cache.code_file(Path(sys.argv[1]), function, types)
with kernel_cache.claimed(file, wait=True):
    print("claimed", flush=True)
    sys.stdin.readline()
    code, _ = numba_compiler.compiled(function, types)
    kernel_cache.save(file, code)
"""


def test_a_kernel_that_another_process_compiles_is_left_to_it_and_waited_for(place):
    """Claims are locks of fcntl."""
    command = [sys.executable, "-c", COMPILING, place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"claimed\n"
        gather = kernels.kernel(columns.gather.function)
        gather.compile(TYPES, wait=False)
        assert not gather.code
        other.stdin.write(b"\n")
        other.stdin.flush()
        assert gather(np.arange(5, 9), np.array([2, 0])).tolist() == [7, 5]
    assert gather.n_compiled == 0


def test_a_claim_ends_with_its_process(place):
    """Claims are locks of fcntl."""
    command = [sys.executable, "-c", COMPILING, place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"claimed\n"
        other.kill()
    gather = kernels.kernel(columns.gather.function)
    gather.compile(TYPES, wait=False)
    assert gather.n_compiled == 1


def read_only(array):
    array.flags.writeable = False
    return array


TYPED = [
    (np.arange(6, dtype=np.int32).reshape(2, 3), "<i4:2C"),
    (np.arange(6, dtype=np.int64).reshape(2, 3), "<i8:2C"),
    (np.arange(6, dtype=np.int32).reshape(3, 2).T, "<i4:2F"),
    (np.arange(12, dtype=np.int32).reshape(2, 6)[:, ::2], "<i4:2A"),
    (np.arange(6) > 2, "|b1:1C"),
    (True, "bool"),
    (np.bool_(True), "bool"),
    (7, "int64"),
    (np.int64(7), "int64"),
    (np.uint32(7), "uint32"),
    (0.5, "float64"),
    (np.float64(0.5), "float64"),
    ((1, (np.zeros(2), True), 2.5), "(int64,(<f8:1C,bool),float64)"),
    ((1, 2), "(int64,int64)"),
    (read_only(np.zeros(2)), "<f8:1Cr"),
]


@pytest.mark.parametrize(("value", "name"), TYPED, ids=[str(at) for at in range(len(TYPED))])
def test_types_have_the_names_that_code_is_kept_by(value, name):
    assert type_name(value) == name
    assert named_type(name) == numba.typeof(value)


def test_arrays_that_differ_in_type_get_code_of_their_own(place):
    compiled = kernels.kernel(reverse)
    for value, name in TYPED[:4]:
        for _ in range(2):
            assert compiled(value).tolist() == value[:, ::-1].tolist()
        assert (name,) in compiled.code
    assert compiled.n_compiled == 4


def test_threads_that_ask_for_the_same_code_at_once_are_asked_no_more(place, monkeypatch):
    """A dispatcher that knows code twice takes a call for ambiguous, and asks again at each."""
    compiled = kernels.kernel(add)
    for _thread in range(2):
        compiled._compile_for_args(2, 3)
    asked = []
    monkeypatch.setattr(compiled, "_compile_for_args", lambda *arguments: asked.append(arguments))
    assert compiled(2, 3) == 5
    assert not asked


def test_other_values_are_no_arguments(place):
    with pytest.raises(TypeError, match="no kernel takes a dict"):
        kernels.kernel(add)({}, 1)


WITHOUT_NUMBA = """
import sys
import numpy as np
from engine.kernels.columns import increases, compress
rows, kept = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([True, False, True])
def call():
    assert increases(rows, False) and not increases(rows[:, ::-1].copy(), False)
    chosen = rows.copy()
    assert compress(kept, 3, chosen, np.array([0, 1])) == 2 and chosen[:, :2].tolist() == [[0, 2], [3, 5]]
call()
print("numba" in sys.modules)
import numba
assert numba.njit(lambda array: array[0, 0] + len(array))(rows) == 2
call()
"""


def test_kept_kernels_run_without_numba_and_beside_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said = [
        subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]
