#!/usr/bin/env python3
"""Time the engine on the workloads of Datalog papers and of program analysis, beside peers, and print a table.

    evaluation.py [--all | --only NAME …] [--scale S] [--souffle PATH] [--cspa DIR] [--json FILE]

Times are of evaluation: reading facts is excluded on all sides; the median of --runs. The ratio is the peer's time to
ours on two threads; work is the peer's processor seconds to ours on one. Each measurement runs in a process of its
own; bytes a tuple are the growth of that process's resident memory at its peak over the number of derived tuples.
Without --all, workloads that need minutes or much memory
are left out. `--scale 0.1` makes facts of about a tenth of the size: a quick look. Soufflé's binary is given by path;
DuckDB is used where it is installed. `--cspa` names a directory that holds cspa10k/ and cspa100k/ with Assign.facts
and Dereference.facts.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import start_up
import table
from souffle import Souffle
from workloads import WORKLOADS, cspa

HERE = Path(__file__).parent
TOP = HERE.parents[1]


def main():
    options = parse()
    workloads = WORKLOADS + (cspa(options.cspa) if options.cspa else ())
    if options.only:
        workloads = [w for w in workloads if w.name in options.only]
    elif not options.all:
        workloads = [w for w in workloads if not w.large]
    if not options.only:
        print("start-up: " + ", ".join(f"{state} {s:.2f} s" for state, s in start_up.seconds().items()))
    print(table.heading())
    measured = []
    for workload in workloads:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            found = measure(workload, Path(folder), options)
        if found:
            measured.append(found)
            print(table.row(found), flush=True)
        if options.json:
            options.json.write_text(json.dumps(measured, indent=1))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the large workloads, too")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these workloads only")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peer-runs", type=int, default=1)
    parser.add_argument("--souffle", type=Path, help="the peer's binary")
    parser.add_argument("--cspa", type=Path, help="a directory with Graspan's facts")
    parser.add_argument("--scratch", type=Path, help="keeps compiled peers, holds facts meanwhile")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.scratch:
        options.scratch.mkdir(parents=True, exist_ok=True)
    return options


def measure(workload, folder, options):
    """Return all measurements of a workload, or nothing if our own fails."""
    facts = workload.facts(options.scale)
    program, stored = folder / f"{workload.program}.dl", folder / "facts.npz"
    program.write_text(workload.source())
    np.savez(stored, **facts)
    ours = {}
    for threads in (1, 2):
        ours[str(threads)] = child("ours.py", program, stored, threads, options.runs)
        if "error" in ours[str(threads)]:
            print(f"{workload.name}: {ours[str(threads)]['error']}", flush=True)
            return None
    expected = workload.expected(facts) if workload.expected else {}
    return {
        "name": workload.name,
        "scale": options.scale,
        "facts": sum(rows.shape[1] for rows in facts.values()),
        "ours": ours,
        "peers": peers(workload, facts, stored, folder, options),
        "expected": expected,
        "aim": workload.aim if options.scale == 1 else None,
        "published": workload.published if options.scale == 1 else "",
    }


def peers(workload, facts, stored, folder, options):
    found = {}
    if "souffle" in workload.peers and options.souffle:
        for name, columns in facts.items():
            np.savetxt(folder / f"{name}.facts", columns.T, fmt="%d", delimiter="\t")
        souffle = Souffle(options.souffle, options.scratch or folder)
        for threads in (1, 2):
            measured = souffle.measure(workload.source(), folder, threads, options.peer_runs)
            found[f"Soufflé -j{threads}"] = measured
    if "by_hand" in workload.peers:
        found["by hand"] = child("by_hand.py", workload.program, stored, options.peer_runs)
    if "duckdb" in workload.peers and importlib.util.find_spec("duckdb"):
        found["DuckDB 2 threads"] = child("duck.py", workload.program, stored, 2, options.peer_runs)
    for name, measured in found.items():
        if "error" in measured:
            print(f"{workload.name}, {name}: {measured['error']}", flush=True)
    return {name: measured for name, measured in found.items() if "error" not in measured}


def child(script, *arguments):
    """Run a script of this directory in a process of its own; return what it prints, or the end of its complaints."""
    path = os.pathsep.join([str(TOP), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    if done.returncode:
        return {"error": (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
