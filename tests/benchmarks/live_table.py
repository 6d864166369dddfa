#!/usr/bin/env python3
"""The aims of the live process beside what is measured.

    live_table.py --small REPO --large REPO --c DIR [--edits 200] [--compare 0] [--readme]

REPO are git directories with history, DIR one of C files; the aims are for flask, sqlalchemy and httpd, on an idle
machine with two cores. Rows are printed as they are measured. What is measured, and how, say `live.py`,
`shared_arrangements.py` and `removals.py`. Prepared queries are asked of a view of the large repository's relations.
With --readme the rows are put into README, too.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from statistics import median, quantiles

import live
import readme
from removals import removals
from shared_arrangements import Graph, compare

import engine

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from analyzer.live.live_repository import LiveRepository  # noqa: E402

ROWS: list[tuple[str, str, str]] = []
"""The rows of the table in README: a name, the figure and the floor."""
HEADER = f"{'what':52}{'measured':>18}{'floor':>16}{'aim':>14}"
CALLS = ".decl call_target(c: number, f: number)\n.decl qualified_name(f: number, name: symbol)\n"


def show(what, unit, measured, floor, aim, least=False):
    """Print a row, with a mark where a figure falls short of its floor."""
    falls_short = any(got < must if least else got > must for got, must in zip(measured, floor, strict=True))
    given = [" / ".join(f"{each:,.4g}" for each in figures) for figures in (measured, floor, aim)]
    units = f"{what} ({unit})" if unit else what
    print(f"{units:52}{given[0]:>18}{given[1]:>16}{given[2]:>14}{'  below its floor' * falls_short}", flush=True)
    ROWS.append((units, given[0], given[1]))


def editing(name, measures, floor, aim):
    taken = [1000 * median(measures.edits), 1000 * quantiles(measures.edits, n=20)[-1]]
    show(f"edit to diagnostics, {name}, median / 95 %", "ms", taken, floor, aim)


def prepared_s(root, n=100):
    """Return the seconds of a prepared query, for values of its parameter that are all different."""
    repository = LiveRepository(root, {}, 1 << 30)
    repository.follow(repository.frozen())
    held = repository.view.result()
    relations = {name: held.relation(name) for name in ("call_target", "qualified_name")}
    names = sorted({*held.symbols.texts(relations["qualified_name"][1])})
    seconds = []
    with engine.View(engine.compile(CALLS), engine.Database(held.symbols, {}, relations)) as view:
        query = view.query("call_target(c, f), qualified_name(f, name)", parameters={"name": "symbol"})
        query.answers(names[0])
        for name in names[1 :: len(names) // n][:n]:
            begin = time.perf_counter()
            query.answers(name)
            seconds.append(time.perf_counter() - begin)
    repository.close()
    return seconds


def sharing():
    """Return how many times as much ten queries take that share nothing: latency of installing them, and memory."""
    compare(Graph(1000, 6000), 2, 10)  # Compiles kernels.
    installing, _, memory, _ = compare(Graph(100_000, 640_000), 20, 100)
    return sum(installing[1]) / sum(installing[0]), memory[1] / memory[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--small", "--large", "--c"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--compare", type=int, default=0)
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    print(HEADER)
    removals(options.c, "dataflow", 10, 2)  # Compiles kernels.
    seconds, *_ = removals(options.c, "dataflow", 1000, 2)
    removed = [1000 * median(seconds), 1000 * max(seconds)]
    show("removal of one fact, dataflow, median / largest", "ms", removed, (18, 201), (3, 50))
    show("ten queries, not shared / shared: time, memory", "", sharing(), (5, 2), (50, 4), least=True)
    small = live.measured(options.small, options.edits, options.compare)
    editing(options.small.name, small, (250, 1000), (100, 400))
    large = live.measured(options.large, options.edits, options.compare)
    editing(options.large.name, large, (1500, 6000), (500, 2000))
    show(f"hook, {options.large.name}", "s", [median(large.hooks)], [0.8], [0.3])
    asked = [1000 * median(large.queries), 1000 * median(prepared_s(options.large))]
    show("bound query, new / prepared", "ms", asked, (300, 20), (100, 5))
    if explained := large.explanations or small.explanations:
        show("explaining a finding", "ms", [1000 * median(explained)], [500], [150])
    show(f"memory, {options.large.name}, at most", "GB", [large.peak_bytes / 1e9], [4], [2.5])
    if options.readme:
        readme.write("live", readme.of_commit(options) + readme.table(("what", "measured", "floor"), ROWS))
    for name, measures in (("small", small), ("large", large)):
        print(f"\n{name}:\n{measures}")


if __name__ == "__main__":
    main()
