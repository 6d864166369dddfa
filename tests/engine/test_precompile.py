"""Kernels compiled ahead: the list names what is there, and processes start only where nothing is compiled."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import psutil
import pytest
from numba import types

from engine import precompile
from engine.kernel_directory import SUFFIX
from engine.kernels.compiled_kernel import Kernel
from engine.kernels.numba_compiler import named_type

MANY = 3
TOP = Path(__file__).parents[2]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A directory of kernels with nothing in it, which other processes use, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def children():
    return {child.pid for child in psutil.Process().children() if "engine.precompile" in child.cmdline()}


def test_the_list_names_kernels_and_types_of_their_arguments():
    for line in precompile.LIST.read_text().splitlines():
        module, function, *names = line.split()
        kernel = getattr(import_module(module), function)
        assert isinstance(kernel, Kernel)
        assert len(names) == kernel.function.__code__.co_argcount
        assert all(isinstance(named_type(name), types.Type) for name in names)


def test_processes_end_with_the_block(empty):
    with precompile.compiling_kernels(MANY):
        assert len(children()) == MANY
    assert children() == set()


def test_none_starts_for_one_core_or_where_kernels_are(empty):
    with precompile.compiling_kernels(1):
        assert children() == set()
    (precompile.cache_directory() / f"kernel{SUFFIX}").write_bytes(b"")
    with precompile.compiling_kernels(MANY):
        assert children() == set()


@pytest.mark.slow
def test_a_scan_compiles_nothing_after_warming(empty):
    tree = empty / "tree"
    tree.mkdir()
    (tree / "app.py").write_text("import os\n\n\ndef run(x):\n    os.system(x)\n\n\nrun(input())\n")
    (tree / "app.js").write_text("const a = (x) => eval(x);\na(process.argv[2]);\n")
    (tree / "App.java").write_text("class App { static int f(int x) { return x > 0 ? f(x - 1) : 0; } }\n")
    (tree / "app.go").write_text('package main\n\nfunc main() { println(len("x")) }\n')
    (tree / "app.c").write_text("int main(void) { int x = 1; return x; }\n")
    python("from cli import main; main()", "doctor", "--warm")
    programs = {file.name for file in empty.rglob("programs/*")}
    compiled = kernels_in(empty)
    assert compiled and programs
    python("from cli import main; main()", "scan", tree, "--fail-on", "never")
    assert kernels_in(empty) == compiled
    assert {file.name for file in empty.rglob("programs/*")} == programs


@pytest.mark.slow
def test_modules_of_the_current_directory_are_not_imported(empty, monkeypatch):
    hostile, taken = empty / "hostile", empty / "taken"
    (hostile / "engine").mkdir(parents=True)
    for name in ("numba.py", "engine/__init__.py", "engine/precompile.py"):
        (hostile / name).write_text(f"open({str(taken)!r}, 'w').close()\n")
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    with precompile.compiling_kernels(2):
        for process in map(psutil.Process, children()):
            process.wait()
    assert kernels_in(empty)
    assert not taken.exists()


def python(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(TOP)}
    subprocess.run(
        [sys.executable, "-P", "-c", code, *map(str, arguments)], env=environment, check=True, capture_output=True
    )


def kernels_in(directory):
    return {file.name for file in directory.rglob(f"*{SUFFIX}")}
