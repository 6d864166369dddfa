#!/usr/bin/env python3
"""Measure arrangements that outlive a program: attaching, joining, and merging as rows arrive.

    arrangements.py [--keys N] [--batch N] [--batches N]

Prints the time in which a second program is answered from a live arrangement against one that builds its own; the time
of joins of n rows with N keys; and, for eager, default and lazy merging, how long batches take to arrive, how often
their rows are moved, and how long a join takes on what is there in the end; beside them dynamic CSR, which tells rows
apart by a hash table and has no versions.
"""

import argparse
import time

import numpy as np

import engine
from engine.storage.relation import Relation
from engine.storage.spine import DEFAULT, EAGER, LAZY
from engine.storage.trace import Trace

EDGE = ".decl edge(x: number, y: number)\n"
QUERY = """
.decl start(x: number)
.decl answer(x: number, y: number)
start(x) :- x = range(0, {}, 3).
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
    with view_of(100) as view:
        answer(view, 10)
        for change in (view.insert, view.delete):
            change("edge", [(1, 1), (2, 7), (500, 1)])
            view.commit()
            answer(view, 10)


def view_of(n_keys):
    rng = np.random.default_rng(0)
    edge = np.stack([rng.permutation(n_keys), rng.integers(0, n_keys, n_keys)]).astype(np.int32)
    return engine.View(engine.compile([EDGE]), engine.Database(relations={"edge": edge}))


def answer(view, n):
    """Return the seconds of a program that joins n rows, from compiled rules to its rows."""
    program = engine.compile([EDGE + QUERY.format(3 * n)])
    begin = time.perf_counter()
    found = view.evaluate(program).relation("answer").shape[1]
    assert found >= n or n > 1000
    return time.perf_counter() - begin


def attach_and_join(n_keys):
    view = view_of(n_keys)
    first = answer(view, 10)
    second = min(answer(view, 10) for _ in range(5))
    print(f"{n_keys:,} keys: {first * 1e3:.1f} ms with a relation to copy and arrange, then {second * 1e3:.2f} ms")
    print(f"attaching takes 1/{first / second:.0f} of that")
    small = view_of(1000)
    answer(small, 10)
    for n in (10, 1000, 100_000, min(1_000_000, n_keys // 4)):
        large = min(answer(view, n) for _ in range(3))
        print(f"join of {n:,} rows with {n_keys:,} keys: {large * 1e3:.2f} ms", flush=True)
    few = min(answer(small, 10) for _ in range(5))
    print(f"join of 10 rows: {second / few:.1f} times as long with {n_keys:,} keys as with 1,000")
    view.insert("edge", [(n_keys, 0)])
    view.commit()
    answer(view, 10)
    print(f"join of 10 rows after a change: {min(answer(view, 10) for _ in range(5)) * 1e3:.2f} ms", flush=True)
    view.close()
    small.close()


def merge(n_rows, n_batches):
    print(f"{n_batches:,} batches of {n_rows:,} rows: ms for a batch (median, 99 %, most), moves of a row, batches at")
    print(f"the end, ms to join {n_rows:,} rows, ms to join all")
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
        with trace.open() as handle:
            by, keys = handle.relation.arrangement((0,), payload=True, old=False), handle.relation.columns()
            joined = join(by, keys, n_rows), join(by, keys, trace.n)
        report(name, taken, f"{spine.moved_rows / trace.n:5.1f} moves {len(spine.all()):3} batches", *joined)
    dynamic(n_rows, n_batches)


def dynamic(n_rows, n_batches):
    """The same with a relation and its arrangement as evaluation keeps them."""
    rng, relation, taken = np.random.default_rng(0), Relation("r", 2, np.int32), []
    by = relation.arrangement((0,), payload=True, old=False)
    for _ in range(n_batches):
        rows = rng.integers(0, 2**31 - 1, (2, n_rows)).astype(np.int32)
        begin = time.perf_counter()
        relation.insert(rows, 0, n_rows, relation.every)
        for update in relation.advance():
            update()
        taken.append(time.perf_counter() - begin)
    keys = relation.columns()
    report("CSR", taken, "", join(by, keys, n_rows), join(by, keys, relation.n))


def report(name, taken, what, *joins):
    middle, late, most = (np.quantile(taken, q) * 1e3 for q in (0.5, 0.99, 1))
    joined = " ".join(f"{ms:8.2f}" for ms in joins)
    print(f"  {name:8} {middle:8.2f} {late:8.2f} {most:8.2f}   {what:24} {joined}", flush=True)


def join(by, keys, n):
    """Return the milliseconds to join n of some rows with an arrangement by its first column."""
    chunks = [keys[:1, at : at + (1 << 14)].copy() for at in range(0, n, 1 << 14)]
    chunks[-1] = chunks[-1][:, : n - (len(chunks) - 1 << 14)].copy()
    zero, out, taken = np.zeros(1, np.int64), np.empty((2, 1 << 14), np.int32), []
    payload = np.array([by.payload.tolist().index(1)])
    for _ in range(5):
        begin = time.perf_counter()
        found = sum(m for chunk in chunks for m in by.pairs(chunk, chunk.shape[1], zero, 0, zero, payload, out))
        taken.append(time.perf_counter() - begin)
    assert found >= n
    return min(taken) * 1e3


if __name__ == "__main__":
    main()
