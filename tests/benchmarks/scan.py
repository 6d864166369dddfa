#!/usr/bin/env python3
"""Time `analyze scan` on a repository, with cold and with warm facts.

    scan.py REPO [--jobs N] [--runs N] [--analyze COMMAND]

Cold facts: the fact cache is empty, compiled kernels and programs are kept. Warm facts: the same again, the median of
`--runs`. Prints files, lines, seconds in all and by phase, and the peak of resident memory summed over all processes.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TICK_S = 0.05
SHARE = 0.02  # Of the time, what is spent on reading memory: the kernel walks the pages of a process for it.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--analyze", default=str(Path(sys.executable).with_name("analyze")))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        keep_kernels(Path(cache))
        scan(arguments, cache)  # Compiles kernels and the program where this machine has not yet.
        shutil.rmtree(Path(cache, "analyze/facts"))
        show("cold facts", [scan(arguments, cache)])
        show("warm facts", [scan(arguments, cache) for _ in range(arguments.runs)])


def keep_kernels(cache):
    """Let a cache directory share the compiled kernels and programs of the user's own."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"
    (cache / "analyze").mkdir()
    for name in ("kernels", "programs"):
        (own / name).mkdir(parents=True, exist_ok=True)
        (cache / "analyze" / name).symlink_to(own / name)


def scan(arguments, cache):
    """Return (seconds, peak bytes, statistics, exit code) of one run."""
    stats = Path(cache, "stats.json")
    command = [arguments.analyze, "scan", arguments.repo, "--jobs", arguments.jobs, "--stats", stats, "-o", os.devnull]
    began = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), env=os.environ | {"XDG_CACHE_HOME": cache})
    peak = Peak(process.pid)
    code = process.wait()
    elapsed_s = time.perf_counter() - began
    if code not in (0, 1, 3):
        sys.exit(f"exit code {code}")
    return elapsed_s, peak.stop(), json.loads(stats.read_text()), code


class Peak:
    """Watches the resident memory of a process and its descendants."""

    def __init__(self, pid):
        self.pid, self.peak_bytes, self.done = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        pause_s = TICK_S
        while not self.done.wait(pause_s):
            began = time.perf_counter()
            self.peak_bytes = max(self.peak_bytes, sum(map(resident_bytes, family(self.pid))))
            pause_s = max(TICK_S, (time.perf_counter() - began) / SHARE)

    def stop(self):
        self.done.set()
        self.thread.join()
        return self.peak_bytes


def family(pid):
    """Yield the process and its descendants."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def resident_bytes(pid):
    """Return the memory of a process; of pages that processes share, each has its part."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))


def show(title, runs):
    elapsed_s, peak_bytes, stats, code = sorted(runs, key=lambda run: run[0])[len(runs) // 2]
    phases = " ".join(f"{name} {seconds:.2f}" for name, seconds in stats["phases_s"].items())
    median_s = statistics.median(run[0] for run in runs)
    print(f"{title}: {median_s:.2f} s  peak {peak_bytes / 2**20:,.0f} MiB  exit {code}")
    print(f"  files {stats['files']:,}  extracted {stats['files_extracted']:,}  lines {stats['lines']:,}")
    print(f"  seconds by phase: {phases}")


if __name__ == "__main__":
    main()
