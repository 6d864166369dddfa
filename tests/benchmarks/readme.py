#!/usr/bin/env python3
"""Measure what README states about scans and the engine, and write it there, with the commit it is of.

    readme.py REPO … [--souffle PATH] [--cspa DIR] [--runs N] [--only scans|engine]

On an idle machine: minutes, and half an hour with Soufflé. Each REPO is a row: seconds of `analyze scan` with an empty
fact cache, and again (the median of --runs), and the peak of resident memory. The engine's rows are what
`evaluation.py` prints; without --souffle they have no ratio.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scan import keep_kernels, scan

TOP = Path(__file__).resolve().parents[2]
README = TOP / "README.md"
GIB = 2**30


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", nargs="+", type=Path, metavar="REPO")
    parser.add_argument("--souffle", type=Path)
    parser.add_argument("--cspa", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=("scans", "engine"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--analyze", default=str(Path(sys.executable).with_name("analyze")))
    options = parser.parse_args()
    if options.only != "engine":
        rows = [scans(repo, options) for repo in options.repos]
        write("scans", of_commit(options) + table(("what", "facts cold", "warm", "peak memory"), rows))
    if options.only != "scans":
        head = ("program", "tuples", "seconds", "Soufflé takes", "bytes a tuple")
        write("engine", of_commit(options) + table(head, map(program, evaluation(options))))


def of_commit(options):
    """Say whose figures a table has."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.strip()
    return f"Of commit {commit}, on {options.jobs} cores:\n\n"


def scans(repo, options):
    """Return the row of a repository."""
    options.repo = repo
    with tempfile.TemporaryDirectory() as cache:
        keep_kernels(Path(cache))
        scan(options, cache)  # Compiles kernels and rules where this machine has not yet.
        shutil.rmtree(Path(cache, "analyze/facts"))
        cold_s, cold_bytes, stats, _ = scan(options, cache)
        warm = [scan(options, cache) for _ in range(options.runs)]
    peak_bytes = max(cold_bytes, *(run[1] for run in warm))
    what = f"`analyze scan` of {repo.resolve().name} ({stats['files']:,} files, {stats['lines']:,} lines)"
    return what, f"{cold_s:.1f} s", f"{statistics.median(run[0] for run in warm):.1f} s", f"{peak_bytes / GIB:.1f} GB"


def evaluation(options):
    """Return what `evaluation.py` measures."""
    with tempfile.NamedTemporaryFile(suffix=".json") as found:
        command = [
            sys.executable,
            Path(__file__).with_name("evaluation.py"),
            "--runs",
            options.runs,
            "--json",
            found.name,
        ]
        for name in ("souffle", "cspa"):
            command += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
        subprocess.run(list(map(str, command)), check=True)
        return json.loads(Path(found.name).read_text())


def program(measured):
    """Return the row of a workload, on two threads."""
    ours = measured["ours"]["2"]
    peer = measured["peers"].get("Soufflé -j1", {}).get("elapsed_s")
    times = f"{peer / ours['elapsed_s']:.1f} times as long" if peer else "not measured"
    per_tuple = ours["peak_bytes"] / max(1, ours["derived"])
    return measured["name"], f"{ours['derived'] / 1e6:.1f} M", f"{ours['elapsed_s']:.2f}", times, f"{per_tuple:.0f}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(name, text):
    """Put the text between README's marks of that name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    old = README.read_text(encoding="utf-8")
    new, found = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", old, flags=re.DOTALL)
    if found != 1:
        sys.exit(f"README.md has {found} places '{begin.strip()}'")
    README.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
