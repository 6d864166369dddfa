#!/usr/bin/env python3
"""Time the engine on transitive closure and CSPA, and the start-up costs that every command pays.

    evaluation.py [--threads N] [--runs N] [--cspa DIR] [--peer NAME=COMMAND …]

Prints seconds of evaluation (load excluded, median of runs), tuples, and the peak of resident memory so far. A peer is
a command that takes the directory of facts as its last argument: `--peer g5k="./tc.exe -F"`; its time and the ratio
stand beside ours. `--cspa` names a directory with Assign.facts and Dereference.facts.
"""

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import engine

CLOSURE = """
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
"""
CSPA = """
.decl Assign(x: number, y: number)
.decl Dereference(x: number, y: number)
.decl ValueFlow(x: number, y: number)
.decl ValueAlias(x: number, y: number)
.decl MemoryAlias(x: number, y: number)
ValueFlow(y, x) :- Assign(y, x).
ValueFlow(x, x) :- Assign(x, _).
ValueFlow(x, x) :- Assign(_, x).
ValueFlow(x, y) :- Assign(x, z), MemoryAlias(z, y).
ValueFlow(x, y) :- ValueFlow(x, z), ValueFlow(z, y).
ValueAlias(x, y) :- ValueFlow(z, x), ValueFlow(z, y).
ValueAlias(x, y) :- ValueFlow(z, x), MemoryAlias(z, w), ValueFlow(w, y).
MemoryAlias(x, x) :- Assign(_, x).
MemoryAlias(x, x) :- Assign(x, _).
MemoryAlias(x, w) :- Dereference(y, x), ValueAlias(y, z), Dereference(z, w).
"""
SMALL = """
.type Pair = [x: number, y: symbol]
.decl arc(x: number, y: number, z: symbol)
arc(1, 2, "a"). arc(2, 3, "b"). arc(3, 1, "c").
.decl reach(x: number, y: number)
reach(x, y) :- arc(x, y, _).
reach(x, z) :- reach(x, y), reach(y, z).
.decl named(p: Pair, n: number)
named([x, cat(s, "!")], x + y) :- arc(x, y, s), reach(y, x), !arc(y, x, s), x < y.
.decl total(x: number, n: number)
total(x, n) :- arc(x, _, _), n = sum y : { reach(x, y) }.
"""


def gnp(n, p):
    """Each of the n² arcs with probability p, as in BigDatalog's G5K and G10K."""
    rng = np.random.default_rng(1)
    arcs = np.unique(rng.integers(0, n * n, rng.binomial(n * n, p)))
    return np.stack([arcs // n, arcs % n]).astype(np.int32)


def grid(k):
    """A k × k grid with arcs right and down: (k(k+1)/2)² − k² pairs are connected."""
    at = np.arange(k * k, dtype=np.int32).reshape(k, k)
    right, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()]) for a, b in (right, down)], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cspa", type=Path)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    options = parser.parse_args()
    peers = dict(peer.split("=", 1) for peer in options.peer)
    start_up()
    measure("g5k", CLOSURE, {"arc": gnp(5000, 0.001)}, options, peers)
    measure("grid151", CLOSURE, {"arc": grid(151)}, options, peers)
    if options.cspa:
        facts = {name: read(options.cspa / f"{name}.facts") for name in ("Assign", "Dereference")}
        measure("cspa", CSPA, facts, options, peers)


def read(path):
    return np.ascontiguousarray(np.loadtxt(path, dtype=np.int32).T)


def start_up():
    """Run a small program that needs most kernels, with an empty kernel cache and then from it."""
    program = f"import engine; engine.evaluate(engine.compile([engine.Source('a', {SMALL!r})]), engine.Database())"
    with tempfile.TemporaryDirectory() as cache:
        for state in ("cold", "warm"):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "XDG_CACHE_HOME": cache})
            print(f"start-up with {state} kernels: {time.perf_counter() - begin:.2f} s", flush=True)


def measure(name, text, facts, options, peers):
    program = engine.compile([engine.Source(name, text)])
    seconds = []
    for _ in range(options.runs):
        begin = time.perf_counter()
        result = engine.evaluate(program, engine.Database(relations=facts), threads=options.threads)
        seconds.append(time.perf_counter() - begin)
    ours = statistics.median(seconds)
    tuples = sum(result.relation(r).shape[1] for r in result.relations if r not in facts)
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{name}: {tuples:,} tuples, {ours:.2f} s on {options.threads} threads, peak {peak_gb:.1f} GB", flush=True)
    if name in peers:
        theirs = run_peer(peers[name], facts)
        print(f"{name}: peer {theirs:.2f} s, {theirs / ours:.1f} times ours", flush=True)


def run_peer(command, facts):
    """Return the seconds of a command on facts in a directory, load included."""
    with tempfile.TemporaryDirectory() as folder:
        for name, columns in facts.items():
            np.savetxt(Path(folder, f"{name}.facts"), columns.T, fmt="%d", delimiter="\t")
        begin = time.perf_counter()
        subprocess.run([*shlex.split(command), folder], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
