"""Measure this engine on one workload, in its own process: `ours.py PROGRAM FACTS.npz THREADS RUNS` prints JSON."""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import engine


def main(program, facts, threads, runs):
    checked = engine.compile([engine.Source(program, Path(program).read_text())])
    with np.load(facts) as stored:
        relations = {name: stored[name] for name in stored.files}
    # Kernels are loaded by a run on a few rows, so that neither time nor memory counts them.
    evaluate(checked, {name: np.ascontiguousarray(rows[:, :50]) for name, rows in relations.items()}, threads)
    reset_peak()
    before, seconds, processor_s, peak = resident("VmRSS"), [], [], 0
    for run in range(runs):
        began, worked = time.perf_counter(), time.process_time()
        result = evaluate(checked, relations, threads)
        seconds.append(time.perf_counter() - began)
        processor_s.append(time.process_time() - worked)
        peak = peak if run else resident("VmHWM") - before
        printed = {s.relation: result.relation(s.relation) for s in checked.printsizes}
        rows = {name: columns.shape[1] for name, columns in printed.items()}
        sums = {name: int(columns[-1].sum()) for name, columns in printed.items() if columns.dtype == np.int32}
        derived = sum(result.relation(name).shape[1] for name in result.relations if name not in relations)
        del result, printed
    print(
        json.dumps(
            {
                "elapsed_s": statistics.median(seconds),
                "processor_s": statistics.median(processor_s),
                "runs_s": seconds,
                "rows": rows,
                "sums": sums,
                "derived": derived,
                "peak_bytes": peak,
            }
        )
    )


def evaluate(checked, relations, threads):
    return engine.evaluate(checked, engine.Database(relations=relations), threads=threads)


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")


def resident(field):
    """A figure of this process's memory in bytes: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
