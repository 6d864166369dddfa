#!/usr/bin/env python3
"""Time the coordination policies against one another on the workloads of `evaluation.py`.

    policies.py [--only NAME …] [--scale S] [--threads N …] [--runs N] [--cspa DIR]

The runs of the policies take turns, so that all of them see the same machine; the median counts. The ratio is to the
time under barriers. `rounds` are the local iterations of the busiest worker, `sent` the tuples from one worker to
another; both are empty where the recursion was decomposable.
"""

import argparse
import statistics
import time
from pathlib import Path

from workloads import WORKLOADS, cspa

import engine

POLICIES = {"global": engine.Global(), "ssp 1": engine.Ssp(1), "ssp 4": engine.Ssp(4), "dws": engine.Dws()}
LINE = "{:14} {:>7} {:8} {:>8} {:>6} {:>7} {:>13}"


def main():
    options = parse()
    workloads = {w.name: w for w in WORKLOADS + (cspa(options.cspa) if options.cspa else ())}
    print(LINE.format("workload", "threads", "policy", "seconds", "ratio", "rounds", "sent"))
    for name in options.only:
        for threads in options.threads:
            compare(workloads[name], threads, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=["tc-g5k", "sg-g2k", "cc-1m", "sssp-1m"])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cspa", type=Path, help="a directory with Graspan's facts")
    return parser.parse_args()


def compare(workload, threads, options):
    program, facts = engine.compile([workload.source()]), workload.facts(options.scale)
    seconds, last, rows = {name: [] for name in POLICIES}, {}, set()
    for _ in range(options.runs):
        for name, policy in POLICIES.items():
            began = time.perf_counter()
            last[name] = engine.evaluate(program, engine.Database(relations=facts), threads=threads, policy=policy)
            seconds[name].append(time.perf_counter() - began)
            rows.add(sum(s.rows for s in last[name].statistics))
    if len(rows) > 1:
        raise SystemExit(f"{workload.name}: the policies derive {rows} rows")
    barriers = statistics.median(seconds["global"])
    for name, result in last.items():
        median = statistics.median(seconds[name])
        rounds = max((n for s in result.statistics for n in s.rounds), default="")
        sent = sum(s.tuples_sent for s in result.statistics)
        cells = (f"{median:.2f}", f"{median / barriers:.2f}", rounds, f"{sent:,}" if sent else "")
        print(LINE.format(workload.name, threads, name, *cells).rstrip(), flush=True)


if __name__ == "__main__":
    main()
