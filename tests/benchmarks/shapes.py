#!/usr/bin/env python3
"""Measure wide, large and skewed relations: seconds, and bytes of memory for each tuple.

    shapes.py [--rows N] [--threads N] [SHAPE …]

`wide`: relations of 1 to 16 columns with the same number of values; `large`: N rows of two columns (200 million take
8 GB and two minutes); `skewed`: a join and a closure where one key holds half of all rows, against ones of equal
output where none does. Each runs in a process of its own, whose peak size is compared with its size before.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

import numpy as np

import engine

SHAPES = ("wide", "skewed", "large")
COPY = ".decl a({0})\n.decl r({0})\nr({1}) :- a({1}), c0 != 7."
JOIN = """
.decl a(x: number, k: number)
.decl b(k: number, y: number)
.decl r(n: number)
r((x + y) % 64) :- a(x, k), b(k, y).
"""
CLOSURE = """
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000_000)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", choices=[*SHAPES, []], default=[])
    options = parser.parse_args()
    if options.case:
        run(*CASES[options.case](options.rows), options.threads)
        return
    for name in CASES:
        if name.split()[0].strip(",") in (options.shapes or SHAPES):
            print(f"{name:28}", end="", flush=True)
            command = [sys.executable, __file__, "--rows", str(options.rows), "--threads", str(options.threads)]
            subprocess.run([*command, "--case", name], check=True)


def run(text, facts, threads):
    """Evaluate a program, print its time and what it held at most beyond the facts."""
    program = engine.compile([text])
    warm = {name: rows[:, :1000].copy() for name, rows in facts.items()}
    engine.evaluate(program, engine.Database(relations=warm), threads=threads)
    before = resident_bytes()
    begin = time.perf_counter()
    result = engine.evaluate(program, engine.Database(relations=facts), threads=threads)
    taken = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = sum(stratum.rows for stratum in result.statistics)
    produced = sum(rule.produced for stratum in result.statistics for rule in stratum.rules)
    more = peak - before
    print(
        f"{rows:13,} rows of {produced:13,} produced {taken:6.2f} s {more / rows:6.1f} bytes/row {more / 1e6:,.0f} MB"
    )


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def wide(arity):
    columns = [f"c{i}" for i in range(arity)]
    text = COPY.format(", ".join(f"{c}: number" for c in columns), ", ".join(columns))
    n = 32_000_000 // arity
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 1 << 20, (arity, n)).astype(np.int32)
    rows[0] = np.arange(n)
    return text, {"a": rows}


def large(n):
    rows = np.empty((2, n), np.int32)
    rows[0], rows[1] = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)[::-1]
    return ".decl a(x: number, y: number)\n.decl r(x: number)\nr(x) :- a(x, y), x = y + 1.", {"a": rows}


def skewed_join(skewed):
    """Half of 20,000 rows on each side have one key; or keys so spread that as many pairs agree."""
    n, half = 20_000, 10_000
    keys = np.arange(n, dtype=np.int32)
    if skewed:
        keys[:half] = 0
    else:
        keys %= n * n // (half * half + half)
    numbers = np.arange(n, dtype=np.int32)
    return JOIN, {"a": np.stack([numbers, keys]), "b": np.stack([keys, numbers])}


def skewed_closure(skewed):
    """2,000 sources and 2,000 targets around one node; or the same closure without it: each source to each target."""
    n = 2000
    if skewed:
        hub = np.zeros(n, np.int32)
        into, out = np.arange(1, n + 1), np.arange(n + 1, 2 * n + 1)
        arcs = np.concatenate([np.stack([into, hub]), np.stack([hub, out])], axis=1)
    else:
        size = int((2 * (n * n + 2 * n)) ** 0.5)
        arcs = np.stack([np.arange(size - 1), np.arange(1, size)])
    return CLOSURE, {"arc": arcs.astype(np.int32)}


CASES = {f"wide, {arity} columns": lambda _, arity=arity: wide(arity) for arity in (1, 2, 3, 4, 8, 16)} | {
    "skewed join": lambda _: skewed_join(True),
    "skewed join, spread": lambda _: skewed_join(False),
    "skewed closure": lambda _: skewed_closure(True),
    "skewed closure, spread": lambda _: skewed_closure(False),
    "large": large,
}


if __name__ == "__main__":
    main()
