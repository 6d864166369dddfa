#!/usr/bin/env python3
"""Measure arrangements that outlive a program: attaching, joining, and merging as rows arrive.

    arrangements.py [--keys N] [--batch N] [--batches N]

Prints the time in which a second program is answered from a live arrangement against one that builds its own; the time
of joins of n rows with N keys; and, for eager, default and lazy merging, how long batches take to arrive, how often
their rows are moved, and how long a join takes on what is there in the end.
"""

import argparse
import time

import numpy as np

import engine
from engine.storage.relation import Relation
from engine.storage.spine import DEFAULT, EAGER, LAZY
from engine.storage.trace import Trace

QUERY = """
.decl edge(x: number, y: number)
.decl start(x: number)
.decl answer(x: number, y: number)
answer(x, y) :- start(x), edge(x, y).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--batches", type=int, default=4000)
    options = parser.parse_args()
    warm_up()
    attach_and_join(options.keys)
    merge(options.batch, options.batches)


def warm_up():
    """Compile the kernels, or load them."""
    session = session_with(100)
    answer(session, 10)
    for change in (session.insert, session.remove):
        change("edge", np.array([[1, 2, 500], [1, 7, 1]]))
        answer(session, 10)


def session_with(n_keys):
    rng = np.random.default_rng(0)
    edge = np.stack([rng.permutation(n_keys), rng.integers(0, n_keys, n_keys)]).astype(np.int32)
    return engine.Session(engine.Database(relations={"edge": edge}))


def answer(session, n):
    """Return the seconds of a query that joins n rows, from a compiled program to its rows."""
    if session.holds("start"):
        session.drop("start")
    session.give("start", np.arange(0, 3 * n, 3, dtype=np.int32)[None, :])
    program = engine.compile([QUERY])
    begin = time.perf_counter()
    found = session.evaluate(program).relation("answer").shape[1]
    assert found >= n or n > 1000
    return time.perf_counter() - begin


def attach_and_join(n_keys):
    session = session_with(n_keys)
    first = answer(session, 10)
    second = min(answer(session, 10) for _ in range(5))
    print(f"{n_keys:,} keys: {first * 1e3:.1f} ms with the arrangement to build, {second * 1e3:.2f} ms with a live one")
    print(f"attaching takes 1/{first / second:.0f} of building")
    small = session_with(1000)
    answer(small, 10)
    for n in (10, 1000, 100_000, min(1_000_000, n_keys // 4)):
        large = min(answer(session, n) for _ in range(3))
        print(f"join of {n:,} rows with {n_keys:,} keys: {large * 1e3:.2f} ms", flush=True)
    few = min(answer(small, 10) for _ in range(5))
    print(f"join of 10 rows: {second / few:.1f} times as long with {n_keys:,} keys as with 1,000")
    session.insert("edge", np.array([[n_keys], [0]]))
    answer(session, 10)
    print(f"join of 10 rows after a change: {min(answer(session, 10) for _ in range(5)) * 1e3:.2f} ms", flush=True)


def merge(n_rows, n_batches):
    print(f"{n_batches:,} batches of {n_rows:,} rows: ms for a batch (median, 99 %, most), moves of a row, "
          f"batches at the end, ms to join {n_rows:,} rows")  # fmt: skip
    for name, effort in (("eager", EAGER), ("default", DEFAULT), ("lazy", LAZY)):
        rng = np.random.default_rng(0)
        trace = Trace(Relation("r", 2, np.int32), effort)
        taken = []
        for _ in range(n_batches):
            rows = rng.integers(0, 2**31 - 1, (2, n_rows)).astype(np.int32)
            begin = time.perf_counter()
            trace.insert(rows)
            taken.append(time.perf_counter() - begin)
        middle, late, most = (np.quantile(taken, q) * 1e3 for q in (0.5, 0.99, 1))
        spine = next(iter(trace.spines.values()))
        print(f"  {name:8} {middle:8.2f} {late:8.2f} {most:8.2f}   {spine.moved_rows / trace.n:5.1f} moves   "
              f"{len(spine.all()):3} batches   {join(trace, n_rows):.2f} ms", flush=True)  # fmt: skip


def join(trace, n):
    """Return the milliseconds to join n rows with a trace by its first column."""
    with trace.open() as handle:
        by = handle.relation.arrangement((0,), payload=True, old=False)
        keys = handle.relation.columns()[:1, :n].copy()
        zero, out, taken = np.zeros(1, np.int64), np.empty((2, 1 << 14), np.int32), []
        for _ in range(10):
            begin = time.perf_counter()
            found = sum(by.pairs(keys, n, zero, 0, zero, np.ones(1, np.int64), out))
            taken.append(time.perf_counter() - begin)
        assert found >= n
        return min(taken) * 1e3


if __name__ == "__main__":
    main()
