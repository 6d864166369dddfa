#!/usr/bin/env python3
"""Time queries by magic sets against full evaluation, as Figure 8 of McSherry et al., Shared arrangements (2020).

    queries.py [--queries N] [--graphs NAME,NAME] [--budget SECONDS]

Prints for each query and graph the median and the largest latency of N random arguments on a view of the graph: asked
once, from the text of the query to its rows, and of a prepared query, which leaves the rows of the argument before.
Beside them stand the seconds of full evaluation, and the paper's figures (32 workers). What takes longer than the
budget is left out: of a full evaluation that is estimated by the number of rows (sg on the tree has 2.1 G), of queries
the rest of the arguments is.
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
RULES = {"tc": TC, "sg": SG}
GRAPHS = {
    "tree-11": lambda: graphs.tree(71_391),
    "grid-150": lambda: graphs.grid(151),
    "gnp1": lambda: graphs.gnp(10_000, 0.001),
}
QUERIES = {"tc(x,?)": "tc(k, y)", "tc(?,x)": "tc(y, k)", "sg(x,?)": "sg(k, y)"}
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
    for text in QUERIES.values():
        latencies(graphs.grid(10), text, 5, options.budget)
    titles = f"{'asked once':>20} {'prepared':>20} {'rows':>8} {'full':>9}"
    print(f"{'query':8} {'graph':9} {titles}   paper: median / largest, full")
    for graph in options.graphs.split(","):
        arcs, full_s = GRAPHS[graph](), {}
        for query, text in QUERIES.items():
            name = text[:2]
            if name not in full_s:
                full_s[name] = full(arcs, graph, name, options.budget)
            once, prepared, rows = latencies(arcs, text, options.queries, options.budget)
            print(
                f"{query:8} {graph:9} {shown(once)} {shown(prepared)} {statistics.median(rows):8.0f} "
                f"{full_s[name]:>9}   {PAPER[query, graph]}",
                flush=True,
            )


def shown(seconds):
    return f"{statistics.median(seconds) * 1000:6.1f} / {max(seconds) * 1000:6.1f} ms".rjust(20)


def latencies(arcs, text, n, budget):
    """Return the seconds of up to n queries with random arguments, asked once and prepared, and their answers."""
    rng = np.random.default_rng(7)
    nodes = rng.integers(0, arcs.max() + 1, n + 1).tolist()
    rules = [engine.Source("rules.dl", RULES[text[:2]])]
    with engine.View(engine.compile([ARC]), engine.Database(relations={"arc": arcs})) as view:
        once, rows = timed(lambda node: view.ask(text.replace("k", str(node)), rules), nodes, budget)
        with view.query(text, rules, {"k": "number"}) as query:
            prepared, found = timed(query.answers, nodes, budget)
    assert all(a == b for a, b in zip(rows, found, strict=False))
    return once, prepared, rows


def timed(ask, nodes, budget):
    """Return the seconds of queries and the numbers of their answers, without the first one."""
    seconds, rows, end = [], [], time.perf_counter() + budget
    for node in nodes:
        begin = time.perf_counter()
        answers = ask(node)
        seconds.append(time.perf_counter() - begin)
        rows.append(answers.relations[engine.ANSWERS].shape[1])
        if time.perf_counter() > end:
            break
    return seconds[1:] or seconds, rows[1:] or rows


def full(arcs, graph, name, budget):
    """The seconds of full evaluation as text."""
    if ROWS.get(graph, {}).get(name, 0) > budget * ROWS_PER_SECOND:
        return "–"
    program = engine.compile([ARC + RULES[name]])
    begin = time.perf_counter()
    engine.evaluate(program, engine.Database(relations={"arc": arcs}))
    return f"{time.perf_counter() - begin:.2f} s"


if __name__ == "__main__":
    main()
