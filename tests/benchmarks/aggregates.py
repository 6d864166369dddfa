#!/usr/bin/env python3
"""Time one change of a view whose relations aggregate: aggregates.py [--runs N] [--threads N] [--scale S]

Shortest paths from one node (the least in recursion) over 200 K arcs with weights; degrees, by an aggregate in a head
and in a body, over 500 K arcs; sums of floats; and a group that holds everything. One arc is deleted and inserted, many
times: medians and the worst in milliseconds, user and system time of the process beside them, and the seconds of the
bootstrap.
"""

import argparse
import statistics
import time

import numpy as np

import engine
from engine.incremental.maintained_program import MaintainedProgram

ARC = ".decl arc(x: number, y: number, w: number)\n"
PROGRAMS = {
    "shortest paths": (
        200_000,
        """.decl sp(x: number, d: number)
           sp(0, min<0>).
           sp(y, min<d>) :- sp(x, c), arc(x, y, w), d = c + w.""",
    ),
    "counts, in heads": (500_000, ".decl out(x: number, n: number)  out(x, count<(y, w)>) :- arc(x, y, w)."),
    "counts, in bodies": (
        500_000,
        ".decl out(x: number, n: number)  out(x, n) :- arc(x, _, _), n = count : { arc(x, _, _) }.",
    ),
    "least, in heads": (500_000, ".decl out(x: number, n: number)  out(x, min<w>) :- arc(x, _, w)."),
    "sums of floats": (
        500_000,
        ".decl out(x: number, n: float)  out(x, sum<(y, v)>) :- arc(x, y, w), v = to_float(w) / 7.0.",
    ),
    "one group of all": (500_000, ".decl all(n: number)  all(n) :- n = count : { arc(_, _, _) }."),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    print(f"{'':20}   bootstrap, s   deleted: median, worst, CPU, ms   inserted")
    for name, (n, rules) in PROGRAMS.items():
        measure(name, int(n * options.scale), rules, options)


def measure(name, n, rules, options):
    program = engine.compile([engine.Source(name, ARC + rules)])
    random = np.random.default_rng(1)
    n_nodes = max(2, n // 10)
    arc = np.stack([random.integers(0, n_nodes, n), random.integers(0, n_nodes, n), random.integers(1, 100, n)])
    arc = np.unique(arc.astype(program_dtype(program)), axis=1)
    view = MaintainedProgram(program, engine.Database(), threads=options.threads)
    begin = time.perf_counter()
    view.bootstrap({"arc": arc})
    bootstrap_s = time.perf_counter() - begin
    taken = {"deleted": [], "inserted": []}
    for run in range(options.runs + 5):
        at = int(random.integers(0, arc.shape[1]))
        rows = {"arc": np.ascontiguousarray(arc[:, at : at + 1])}
        for sign, change in (("deleted", ({}, rows)), ("inserted", (rows, {}))):
            begin, used = time.perf_counter(), time.process_time()
            view.update(*change)
            if run >= 5:  # The first ones plan, and load kernels.
                taken[sign].append((time.perf_counter() - begin, time.process_time() - used))
    cells = "".join(
        f"{1000 * statistics.median(wall):10.2f} {1000 * max(wall):8.1f} {1000 * statistics.median(cpu):8.2f}"
        for wall, cpu in (zip(*found, strict=True) for found in taken.values())
    )
    print(f"{name:20} {bootstrap_s:10.2f}     {cells}", flush=True)
    view.close()


def program_dtype(program):
    return np.int64 if program.number_bits == 64 else np.int32


if __name__ == "__main__":
    main()
