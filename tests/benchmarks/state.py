"""State on disk: bytes, and seconds to save it whole, to load it, and to save it after one fact has changed.

    python tests/benchmarks/state.py DIRECTORY --tuples 5_000_000 --recursive
    python tests/benchmarks/state.py DIRECTORY --tuples 50_000_000

The first is a transitive closure, the second facts alone (so many take a while to derive). What is measured after
saving is measured in another process. Files were just written, so they are in the memory of the machine.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import engine
from engine.database import Database
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.saved_state import State

RECURSIVE = """
.decl given(x: number, y: number)
.decl path(x: number, y: number)
path(x, y) :- given(x, y).
path(x, z) :- path(x, y), given(y, z).
"""
FLAT = """
.decl given(x: number, y: number)
.decl mark(x: number)
.decl hit(x: number)
hit(y) :- mark(x), given(x, y).
"""
ROUNDS = 3


def timed(what: str, run: Callable[[], object]) -> object:
    begin = perf_counter()
    result = run()
    print(f"  {what:<36}{perf_counter() - begin:8.3f} s", flush=True)
    return result


def facts(tuples: int, recursive: bool) -> dict[str, np.ndarray]:
    """Three random edges a node: 88 % of all pairs are connected then. Or that many random pairs."""
    random = np.random.default_rng(3)
    if recursive:
        nodes = int((tuples / 0.88) ** 0.5)
        return {"given": random.integers(0, nodes, (2, 3 * nodes), np.int32)}
    given = random.integers(0, tuples // 4, (2, tuples), np.int32)
    return {"given": given, "mark": np.array([[5, 7]], np.int32)}


def save(state: State, tuples: int, recursive: bool) -> None:
    view = MaintainedProgram(state.program, Database(), threads=1)
    given = facts(tuples, recursive)
    timed("bootstrap", lambda: view.bootstrap(given))
    timed("save the whole state", lambda: state.save(view))
    for path in state.directory.glob("*.base"):
        n_bytes = path.stat().st_size
        n_tuples = sum(len(relation.present()) for relation in view.relations.values())
        print(f"  {n_tuples:,} tuples, {n_bytes / 1e6:,.0f} MB on disk, {n_bytes / n_tuples:.1f} bytes a tuple")


def go_on(state: State) -> None:
    view = timed("load", lambda: state.load(threads=1))
    one = {"given": np.ascontiguousarray(view.relations["given"].partitions[0].rows[:2, 77:78])}
    for _ in range(ROUNDS):
        timed("delete a fact", lambda: view.update({}, one))
        timed("save", lambda: state.save(view))
        timed("insert it again", lambda: view.update(one, {}))
        timed("save", lambda: state.save(view))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tuples", type=int, default=1_000_000)
    parser.add_argument("--recursive", action="store_true")
    parser.add_argument("--loaded", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    directory = options.directory / "state"
    if not options.loaded:
        shutil.rmtree(directory, ignore_errors=True)
    state = State(directory, engine.compile([RECURSIVE if options.recursive else FLAT]))
    state.open(0)
    if options.loaded:
        go_on(state)
        return
    save(state, options.tuples, options.recursive)
    state.close()
    subprocess.run([sys.executable, *sys.argv, "--loaded"], check=True)


if __name__ == "__main__":
    main()
