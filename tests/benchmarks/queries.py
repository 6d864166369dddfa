#!/usr/bin/env python3
"""Time queries by magic sets against full evaluation, as Figure 8 of McSherry et al., Shared arrangements (2020).

    queries.py [--queries N] [--graphs NAME,NAME] [--budget SECONDS]

Prints for each query and graph the median and the largest latency of N random arguments on a session, from the text of
the query to its rows, the seconds of full evaluation, and the paper's figures (32 workers). Full evaluations that take
longer than the budget, estimated by the number of rows, are left out: sg on the tree has 2.1 G rows.
"""

import argparse
import statistics
import time

import graphs
import numpy as np

import engine

ARC = ".decl arc(x: number, y: number)\n"
TC = """
.decl tc(x: number, y: number)
tc(x, y) :- arc(x, y).
tc(x, y) :- tc(x, z), arc(z, y).
"""
SG = """
.decl sg(x: number, y: number)
sg(x, y) :- arc(p, x), arc(p, y), x != y.
sg(x, y) :- arc(a, x), sg(a, b), arc(b, y).
"""
PROGRAMS = {"tc": ARC + TC, "sg": ARC + SG}
GRAPHS = {
    "tree-11": lambda: graphs.tree(71_391),
    "grid-150": lambda: graphs.grid(151),
    "gnp1": lambda: graphs.gnp(10_000, 0.001),
}
QUERIES = {"tc(x,?)": "tc({}, y)", "tc(?,x)": "tc(x, {})", "sg(x,?)": "sg({}, y)"}
PAPER = {
    ("tc(x,?)", "tree-11"): "2.6 / 9.1 ms, full 0.08 s",
    ("tc(x,?)", "grid-150"): "346 / 553 ms, full 6.18 s",
    ("tc(x,?)", "gnp1"): "18 / 25 ms, full 9.45 s",
    ("tc(?,x)", "tree-11"): "16 / 18 ms, full 0.08 s",
    ("tc(?,x)", "grid-150"): "321 / 542 ms, full 6.18 s",
    ("tc(?,x)", "gnp1"): "16 / 24 ms, full 9.45 s",
    ("sg(x,?)", "tree-11"): "68 / 96 ms, full 56.45 s",
    ("sg(x,?)", "grid-150"): "1075 / 2285 ms, full 0.60 s",
    ("sg(x,?)", "gnp1"): "20 / 27 ms, full 19.85 s",
}
ROWS = {"tree-11": {"sg": 2_086_271_974}}
ROWS_PER_SECOND = 20_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--budget", type=float, default=60.0)
    options = parser.parse_args()
    program = engine.compile([ARC + TC + SG])
    latencies(program, graphs.grid(10), "tc({}, y)", 5)
    latencies(program, graphs.grid(10), "sg({}, y)", 5)
    print(
        f"{'query':8} {'graph':9} {'median':>9} {'largest':>9} {'rows':>8} {'full':>9}   paper: median / largest, full"
    )
    for graph in options.graphs.split(","):
        arcs, full_s = GRAPHS[graph](), {}
        for query, text in QUERIES.items():
            name = text[:2]
            if name not in full_s:
                full_s[name] = full(arcs, graph, name, options.budget)
            seconds, rows = latencies(program, arcs, text, options.queries)
            median, largest = statistics.median(seconds), max(seconds)
            print(
                f"{query:8} {graph:9} {median * 1000:6.1f} ms {largest * 1000:6.1f} ms {statistics.median(rows):8.0f} "
                f"{full_s[name]:>9}   {PAPER[query, graph]}",
                flush=True,
            )


def latencies(program, arcs, text, n):
    """The seconds and the number of answers of n queries with random arguments."""
    rng = np.random.default_rng(7)
    session = engine.Session(engine.Database(relations={"arc": arcs}))
    engine.query(program, text.format(0), session)
    seconds, rows = [], []
    for node in rng.integers(0, arcs.max() + 1, n).tolist():
        begin = time.perf_counter()
        result = engine.query(program, text.format(node), session)
        seconds.append(time.perf_counter() - begin)
        rows.append(result.relation(text[:2]).shape[1])
    return seconds, rows


def full(arcs, graph, name, budget):
    """The seconds of full evaluation as text."""
    if ROWS.get(graph, {}).get(name, 0) > budget * ROWS_PER_SECOND:
        return "–"
    program = engine.compile([PROGRAMS[name]])
    begin = time.perf_counter()
    engine.evaluate(program, engine.Database(relations={"arc": arcs}))
    return f"{time.perf_counter() - begin:.2f} s"


if __name__ == "__main__":
    main()
