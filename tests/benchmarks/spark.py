#!/usr/bin/env python3
"""Time programs on Spark beside the local engine, and beside what Spark itself offers for recursion.

    spark.py [--only NAME …] [--scale S] [--cores N] [--runs N] [--cspa DIR] [--no-loops]

All on `local[N]`, in one run. Seconds of Spark hold facts through its shuffle and evaluation, but no output; those of
the local engine evaluation alone. The session's start is printed by itself. Then the supersteps of programs that need
many, a join of which one key makes most, and transitive closure of 4,000 arcs by DataFrames: as textbooks have it, and
as well as we could (base relation cached and broadcast, new rows by an anti-join, lineage cut, two shuffle partitions).
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import graphs
import numpy as np
import pyarrow
from workloads import WORKLOADS, cspa

import engine
from engine.evaluation.execution import Options
from engine.spark import driver
from engine.spark.barrier_task import Files
from engine.spark.spark_session import session

LINE = "{:22} {:>13} {:>9} {:>9} {:>7} {:>11} {:>11} {:>13}"
HEAD = """
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
.decl reach(x: number)
"""
CHAINS = {
    "linear": "tc(x, y) :- arc(x, y). tc(x, z) :- tc(x, y), arc(y, z).",
    "non-linear": "tc(x, y) :- arc(x, y). tc(x, z) :- tc(x, y), tc(y, z).",
    "one start": "reach(0). reach(y) :- reach(x), arc(x, y).",
}
TWO = "tc(x, z) :- arc(x, y), arc(y, z)."
SIXTY_FOUR = Options(exchange_bits=6)


def main():
    options = parse()
    workloads = {w.name: w for w in WORKLOADS + (cspa(options.cspa) if options.cspa else ())}
    names = options.only or ["tc-g10k", "tc-grid151", *(["cspa100k"] if options.cspa else []), "sg-g2k"]
    began = time.perf_counter()
    with session(f"local[{options.cores}]") as spark:
        print(f"session: {time.perf_counter() - began:.1f} s")
        warm_up(spark, options)
        print(LINE.format("workload", "rows", "local s", "spark s", "ratio", "supersteps", "iterations", "sent"))
        for name in names:
            facts = workloads[name].facts(options.scale)
            compare(spark, name, workloads[name].source(), facts, options)
        nodes = np.arange(round(10_000 * options.scale), dtype=np.int32)
        chain = {"arc": np.stack([nodes[:-1], nodes[1:]])}
        for name, rule in CHAINS.items():
            compare(spark, f"chain, {name}", HEAD + rule, chain, options)
        hub(spark, options)
        if not options.no_loops:
            loops(spark, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cspa", type=Path, help="a directory with Graspan's facts")
    parser.add_argument("--no-loops", action="store_true", help="leave out the loops over DataFrames")
    return parser.parse_args()


def frame_of(spark, rows):
    return spark.createDataFrame(pyarrow.table({f"c{i}": column for i, column in enumerate(rows)}))


def on_spark(spark, program, frames, folder, **how):
    """Return the seconds of one run, and what the members report."""
    began = time.perf_counter()
    reports = driver.write(program, spark, frames, Files((), folder, "parquet"), options=SIXTY_FOUR, **how)
    return time.perf_counter() - began, reports


def warm_up(spark, options):
    """Start the worker processes and load the kernels: both are part of the start of a session."""
    began = time.perf_counter()
    program = engine.compile([HEAD + CHAINS["non-linear"]])
    arcs = graphs.gnp(300, 0.01)
    with tempfile.TemporaryDirectory() as folder:
        on_spark(spark, program, {"arc": frame_of(spark, arcs)}, folder)
    engine.evaluate(program, engine.Database(relations={"arc": arcs}), threads=options.cores)
    print(f"first run: {time.perf_counter() - began:.1f} s")


def hub(spark, options):
    """Paths of two arcs in a graph where a tenth of the arcs meet one node, too large to be everywhere."""
    n = round(4000 * options.scale)
    rest = graphs.gnp(20 * n, 0.0000112 * 4000 / n)
    nodes, none = np.arange(1, n + 1, dtype=np.int32), np.zeros(n, np.int32)
    arcs = np.unique(np.concatenate([rest, np.stack([nodes, none]), np.stack([none, nodes])], axis=1), axis=1)
    into, out = (np.bincount(column, minlength=20 * n) for column in (arcs[1], arcs[0]))
    pairs = into.astype(np.int64) * out
    facts, folder = {"arc": arcs}, tempfile.TemporaryDirectory()
    with folder:
        program, frame = engine.compile([HEAD + TWO]), frame_of(spark, arcs)
        _, reports = on_spark(spark, program, {"arc": frame}, folder.name, replicated_rows=n)
    shares = [sum(r.produced for s in report.statistics for r in s.rules if r.relation == "tc") for report in reports]
    if sum(shares) != pairs.sum():
        raise SystemExit(f"hub: {sum(shares)} pairs of arcs joined, there are {pairs.sum()}")
    compare(spark, "hub, two arcs", HEAD + TWO, facts, options, replicated_rows=n)
    told = [line for s in reports[0].statistics for line in s.divided]
    hub_share, busiest = pairs.max() / pairs.sum(), max(shares) / sum(shares)
    print(f"hub: {hub_share:.0%} of the pairs of arcs meet there; the busiest member joins {busiest:.0%} of all pairs")
    print(f"     {'; '.join(told)}", flush=True)


def compare(spark, name, source, facts, options, **how):
    program = engine.compile([source])
    frames = {relation: frame_of(spark, rows).cache() for relation, rows in facts.items()}
    for frame in frames.values():
        frame.count()
    here, there = [], []
    for _ in range(options.runs):
        began = time.perf_counter()
        local = engine.evaluate(program, engine.Database(relations=facts), threads=options.cores)
        here.append(time.perf_counter() - began)
        with tempfile.TemporaryDirectory() as folder:
            seconds, reports = on_spark(spark, program, frames, folder, **how)
        there.append(seconds)
    rows = sum(s.rows for s in local.statistics if any(r not in facts for r in s.relations))
    found = sum(n for relation, n in reports[0].n_rows.items() if relation not in facts)
    if rows != found:
        raise SystemExit(f"{name}: {found} rows on Spark, {rows} locally")
    supersteps = sum(n for s in reports[0].statistics for n in s.rounds)
    sent = sum(s.tuples_sent for report in reports for s in report.statistics)
    iterations = max(s.iterations for s in local.statistics)
    one, other = statistics.median(here), statistics.median(there)
    cells = (f"{one:.2f}", f"{other:.2f}", f"{other / one:.1f}", supersteps, iterations, f"{sent:,}")
    print(LINE.format(name, f"{rows:,}", *cells), flush=True)
    for frame in frames.values():
        frame.unpersist()


# ---- what Spark offers


def textbook(arcs):
    """Semi-naive evaluation as in textbooks: join, distinct, subtract, union, and the lineage cut each time."""
    closure = delta = arcs.localCheckpoint()
    while delta.count():
        step = delta.withColumnRenamed("c1", "m").join(arcs.toDF("m", "c1"), "m").select("c0", "c1").distinct()
        delta = step.subtract(closure).localCheckpoint()
        closure = closure.union(delta).localCheckpoint()
    return closure.count()


def tuned(arcs):
    """The same with all that helps: the base broadcast, an anti-join on co-partitioned rows, one action a round."""
    from pyspark.sql.functions import broadcast

    base = broadcast(arcs.toDF("m", "c1").cache())
    parts = [arcs.distinct().repartition("c0").localCheckpoint()]
    while True:
        known = parts[0]
        for part in parts[1:]:
            known = known.union(part)
        step = parts[-1].withColumnRenamed("c1", "m").join(base, "m").select("c0", "c1").distinct()
        delta = step.join(known, ["c0", "c1"], "left_anti").localCheckpoint()
        n = delta.count()
        if not n:
            return sum(part.count() for part in parts)
        parts.append(delta)
        if len(parts) > 8:
            parts = [known.localCheckpoint(), delta]


def loops(spark, options):
    """Transitive closure of 4,000 arcs."""
    arcs = graphs.gnp(round(2000 * options.scale**0.5), 0.001 / options.scale**0.5)
    frame = frame_of(spark, arcs)
    program = engine.compile([HEAD + CHAINS["linear"]])
    with tempfile.TemporaryDirectory() as folder:
        ours, reports = on_spark(spark, program, {"arc": frame}, folder)
    rows = reports[0].n_rows["tc"]
    print(f"closure of {arcs.shape[1]:,} arcs, {rows:,} rows: {ours:.2f} s")
    for loop in (textbook, tuned):
        began = time.perf_counter()
        if loop(frame) != rows:
            raise SystemExit(f"{loop.__name__} finds other rows")
        seconds = time.perf_counter() - began
        print(f"{loop.__name__} loop over DataFrames: {seconds:.1f} s, {seconds / ours:.0f} times ours", flush=True)


if __name__ == "__main__":
    main()
