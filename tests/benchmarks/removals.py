#!/usr/bin/env python3
"""Time the removal of one fact from a finished analysis of C: McSherry et al. (2020), Figure 9c.

    removals.py DIR... [--analysis dataflow|pointer] [--removals 1000] [--threads 2]

Of the C files in each DIR Graspan's graph is made, as `analyze cfl` makes it, and a view holds the analysis. Of
`dataflow` the first null assignments are removed, of `pointer` the first assignments, one a commit. Prints the median
and the greatest latency of a commit, and the pairs that went. In the end the view must hold what an evaluation from
scratch of the edges left derives.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP)]

import engine  # noqa: E402
from analyzer.graphs.cfl import export_program, read_problem  # noqa: E402

REMOVED = {"dataflow": "edge_n", "pointer": "edge_a"}
PAPER = "paper, dataflow: httpd 18.1 / 201 ms, psql 143 / 1,210 ms, linux (kernel only) 1.05 / 7.34 ms"


def removals(root, analysis, n, threads):
    """Return the seconds of each removal, the edges before, and the pairs before and after."""
    with tempfile.TemporaryDirectory() as place:
        export_program(read_problem(Path(analysis), root, None, [], None, lambda *_: None), Path(place))
        program = engine.compile_file(Path(place) / "cfl.dl")
        facts = engine.load(program, Path(place))
    name, seconds = REMOVED[analysis], []
    rows = facts.relations[name][:, :n]
    result = f"path_{'N' if analysis == 'dataflow' else 'M'}"
    with engine.View(program, facts, threads=threads) as view:
        n_before = view.relations[result].shape[1]
        for at in range(rows.shape[1]):
            view.delete(name, [*rows[:, at : at + 1]])
            begin = time.perf_counter()
            commit = view.commit()
            seconds.append(time.perf_counter() - begin)
            assert commit.strategy == "update", commit.reason
        left = {**facts.relations, name: facts.relations[name][:, n:]}
        anew = engine.evaluate(program, engine.Database(facts.symbols, facts.records, left))
        held = view.relations[result]
        assert np.array_equal(np.unique(held, axis=1), np.unique(anew.relations[result], axis=1))
    return seconds, sum(each.shape[1] for each in facts.relations.values()), n_before, held.shape[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", type=Path, nargs="+")
    parser.add_argument("--analysis", choices=list(REMOVED), default="dataflow")
    parser.add_argument("--removals", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print(PAPER)
    for root in options.directories:
        seconds, n_edges, before, after = removals(root, options.analysis, options.removals, options.threads)
        print(
            f"{root.name} {options.analysis}: {n_edges:,} edges, {len(seconds)} removed: median "
            f"{1000 * median(seconds):.2f} ms, largest {1000 * max(seconds):.1f} ms; pairs {before:,} -> {after:,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
