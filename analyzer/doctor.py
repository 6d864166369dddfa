"""Checks of the environment, with help for each that fails."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

from analyzer.errors import AnalyzeError
from analyzer.state_directory import StateDirectory
from engine.operating_system import n_cores

JAVA_FOR_SPARK = 17


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. It fails the command if it is not `ok` and is `required`."""

    name: str
    ok: bool
    detail: str
    help: str = ""
    required: bool = True


def examine() -> Iterator[Check]:
    """Yield the checks, quick ones first."""
    yield _python()
    yield from _packages()
    yield _state_directory()
    yield _program("git", "apt-get install git", required=False)
    yield _java()
    yield _sandbox()
    yield _kernels()


def warm() -> Iterator[Check]:
    """Compile what the first scan and the first update on a machine would, and yield the checks of that."""
    from analyzer.evaluation.program import compile_rulebook, prepare_rulebook
    from analyzer.evaluation.rulebook import build_rulebook
    from engine import compile_kernels

    help = "the state directory must be writable for what is compiled"
    started = time.perf_counter()
    done = compile_kernels(n_cores())
    yield Check("kernels", done, f"compiled in {time.perf_counter() - started:.1f} s", help)
    started, state = time.perf_counter(), StateDirectory()
    try:
        book = build_rulebook([], ())
        compile_rulebook(book, state.path)
        prepare_rulebook(book, state.path)
        yield Check("rules", not state.warning, f"compiled in {time.perf_counter() - started:.1f} s", state.warning)
    finally:
        state.close()


def _python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", sys.version_info >= (3, 11), found, "install Python 3.11 or newer")


def _packages() -> Iterator[Check]:
    for requirement in requires("datalyze") or []:
        extra = re.search(r"extra == ['\"](\w+)['\"]", requirement)
        name = re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]
        if extra and extra[1] != "spark":
            continue
        try:
            yield Check(name, True, version(name), required=not extra)
        except PackageNotFoundError:
            hint = "pip install 'pyspark>=4,<5' pyarrow pandas, to run on Spark" if extra else f"pip install {name}"
            yield Check(name, False, "missing", hint, required=not extra)


def _state_directory() -> Check:
    state = StateDirectory()
    try:
        return Check("state directory", not state.warning, state.warning or str(state.path), "set XDG_CACHE_HOME")
    finally:
        state.close()


def _program(name: str, help: str, *, required: bool) -> Check:
    path = shutil.which(name)
    return Check(name, path is not None, path or "missing", help, required)


def _java() -> Check:
    """Check for Java, which only Spark needs."""
    help = f"only for Spark: install Java {JAVA_FOR_SPARK} (apt-get install openjdk-{JAVA_FOR_SPARK}-jre-headless)"
    if not shutil.which("java"):
        return Check("java", False, "missing", help, required=False)
    words = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)[^"]*"', words)
    if found is None:
        return Check("java", False, words.strip() or "no answer", help, required=False)
    return Check("java", int(found[1]) >= JAVA_FOR_SPARK, found[0].split('"')[1], help, required=False)


def _sandbox() -> Check:
    """Check the restrictions in force in an extraction worker."""
    from analyzer.extraction import sandbox
    from analyzer.extraction.pool import Pool, Task

    with Pool(sandbox.in_force, 1, 60.0) as pool:
        (outcome,) = pool.run([Task("", (), 0)])
    missing = outcome.error or outcome.value.decode()
    help = "scan in a container without network, or on a Linux with Landlock (5.13 or newer) and seccomp"
    return Check("sandbox", not missing, missing or "workers cannot write, connect or run programs", help, False)


def _kernels() -> Check:
    """Evaluate a program of one rule, which compiles kernels or loads them from the cache."""
    from analyzer.evaluation.program import evaluate_text

    started = time.perf_counter()
    try:
        rows = evaluate_text(".decl p(x: number)\n.decl q(x: number)\np(1).\nq(x + 1) :- p(x).\n", "q")
    except (AnalyzeError, OSError, ImportError) as error:
        return Check("engine", False, str(error), "the state directory must be writable for compiled kernels")
    return Check("engine", rows == [[2]], f"a rule evaluated in {time.perf_counter() - started:.1f} s")
