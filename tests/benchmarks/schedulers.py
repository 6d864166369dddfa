#!/usr/bin/env python3
"""Compare schedulers on job traces in simulated time, as Tables II and III of Singh et al. (2020) do.

    schedulers.py [--only N …] [--workers P]

The traces of the paper are not public: these are made to Table I (see `traces.py`). Times of tasks are scaled so that
LevelBased takes what the paper says, so that column says nothing; the figures of the paper stand below ours. A step
of a scheduler is charged with what LevelBased takes for one on trace 10 of the paper, an ancestor query with what the
scheduler of LogicBlox takes for one on trace 6, if all active nodes are asked against all. Interval lists are made
beforehand, which is not charged.
"""

import argparse
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import NamedTuple

from simulation import Trace, simulate
from traces import TABLE_1, of_table_1, tight

from engine.schedule.hybrid import Hybrid
from engine.schedule.interval_lists import IntervalList
from engine.schedule.level_based import LevelBased, LookAhead
from engine.schedule.signal_propagation import SignalPropagation

STEP_S = 0.159e-3 / (1936 + 171)
QUERY_S = 21.69 / 126979**2
TABLE_2 = {
    1: (26.5, 57.74, 36.72, 33.09, 31.25, 30.99),
    2: (9736, 20979.3, 11906.9, 9846.16, 9866.64, 9860.42),
    3: (187, 448.4, 299.34, 285.91, 230.22, 229.34),
    4: (303, 866.66, 576.49, 490.15, 444.67, 426.22),
    5: (23, 29.32, 24.52, 24.52, 24.52, 24.52),
}
"""Makespans by LogicBlox, LevelBased, and LBL for k = 5, 10, 15 and 20."""
TABLE_3 = {
    6: ((33.24, 21.69), (0.49, 0.027), (21.93, 10.89)),
    7: ((155.77, 0.109), (348.35, 0.038e-3), (187.08, 0.077)),
    8: ((28.69, 0.022), (28.29, 0.009e-3), (25.52, 0.020)),
    9: ((0.048, 0.0107), (0.037, 0.013e-3), (0.041, 0.009)),
    10: ((9893.29, 0.327), (20897.9, 0.159e-3), (10123.74, 0.289)),
    11: ((688.38, 21.03), (694.24, 0.042), (630.01, 7.47)),
}
"""Makespan and overhead by LogicBlox, LevelBased and Hybrid."""
SCHEDULERS = {
    "interval": IntervalList,
    "level": LevelBased,
    **{f"lbl({k})": partial(LookAhead, k=k) for k in (5, 10, 15, 20)},
    "hybrid": Hybrid,
    "signals": SignalPropagation,
}


class Figures(NamedTuple):
    makespan_s: float
    overhead_s: float
    n_steps: int
    n_queries: int


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="*", default=list(TABLE_1), metavar="N", help="numbers of traces")
    parser.add_argument("--workers", type=int, default=8, metavar="P")
    options = parser.parse_args()
    figures = {number: compare(number, options.workers) for number in options.only}
    print(f"\nmakespan s, on {options.workers} workers; in the second line those of the paper")
    table(figures, "makespan_s", {n: paper_makespans(n) for n in figures})
    print("\nscheduling overhead s, part of the makespan")
    table(figures, "overhead_s", {n: paper_overheads(n) for n in figures})
    print("\nsteps, with messages, and ancestor queries")
    table(figures, "n_steps", {n: {name: run.n_queries for name, run in runs.items()} for n, runs in figures.items()})
    figure = tight(100)
    print("\nFigure 2 with 100 levels on 100 workers")
    for name, make in SCHEDULERS.items():
        print(f"{name:>9} {simulate(figure, make(figure.dag), 100).clock}")


def compare(number: int, n_workers: int) -> dict[str, Figures]:
    """Run a trace with each scheduler; say what the trace is like."""
    job = scaled(of_table_1(number), paper_makespans(number)["level"], n_workers)
    begin = perf_counter()
    n_intervals = job.dag.ancestors.n_intervals
    elapsed_s = perf_counter() - begin
    print(
        f"trace {number}: {job.dag.n} nodes, {job.dag.n_edges} edges, {len(job.initial)} initial, "
        f"{len(job.active())} active, {job.dag.n_levels} levels; w/P {job.work() / n_workers:.4g} s; "
        f"{n_intervals:,} intervals ({elapsed_s:.1f} s to make)",
        flush=True,
    )
    runs = {name: simulate(job, make(job.dag), n_workers, STEP_S, QUERY_S) for name, make in SCHEDULERS.items()}
    return {name: Figures(run.clock, run.overhead_s, *run.spent()) for name, run in runs.items()}


def scaled(job: Trace, makespan_s: float, n_workers: int) -> Trace:
    """Return the trace with times such that LevelBased takes as long as given, its overhead apart."""
    factor = makespan_s / simulate(job, LevelBased(job.dag), n_workers).clock
    return replace(job, times={node: time * factor for node, time in job.times.items()})


def paper_makespans(number: int) -> dict[str, float]:
    if number in TABLE_2:
        return dict(zip(SCHEDULERS, TABLE_2[number], strict=False))
    return dict(zip(("interval", "level", "hybrid"), (makespan for makespan, _ in TABLE_3[number]), strict=True))


def paper_overheads(number: int) -> dict[str, float]:
    overheads = (overhead for _, overhead in TABLE_3.get(number, ()))
    return dict(zip(("interval", "level", "hybrid"), overheads, strict=False))


def table(figures: dict[int, dict[str, Figures]], column: str, below: dict[int, dict[str, float]]) -> None:
    """Print a column of the figures by trace and scheduler, and other numbers below it."""
    line = "{:>6}" + " {:>12}" * len(SCHEDULERS)
    print(line.format("trace", *SCHEDULERS))
    for number, runs in figures.items():
        print(line.format(number, *(f"{getattr(runs[name], column):.6g}" for name in SCHEDULERS)))
        print(line.format("", *(f"{below[number][name]:.6g}" if name in below[number] else "" for name in SCHEDULERS)))


if __name__ == "__main__":
    main()
