"""`analyze hook` on one staged edit, in a fresh process, against `analyze scan`.

    python tests/benchmarks/hook.py REPOSITORY [--runs 3]

Works on a clone. Seconds are by the clock and of processor time, of whole processes; phases are by the clock, `start`
is what is in no phase: the interpreter, imports, printing, the end of the process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

TOP = Path(__file__).resolve().parents[2]
PROGRAM = """
import gc, json, sys
gc.set_threshold(200_000)
from contextlib import ExitStack
from pathlib import Path
from analyzer.{module} import {function}
from analyzer.outputs.sarif import render_sarif
with ExitStack() as stack:
    result = {call}
    sarif = render_sarif(result.report, "")
print(json.dumps([result.phases_s, result.report.coverage.lines, len(result.report.findings)]))
"""
SCAN = {"module": "scan", "function": "ScanRequest, scan", "call": "scan(ScanRequest(Path('.')))"}
HOOK = {"module": "history.hook", "function": "scanned_index", "call": "stack.enter_context(scanned_index({}))[0]"}
EDIT = "\n\ndef added(path):\n    return open(path).read()\n"


def run(clone, environment, what):
    """Run in a process of its own; return the seconds by the clock and of the processor, phases, lines, findings."""
    begin, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PROGRAM.format(**what)]
    done = subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True, text=True)
    elapsed_s, after = perf_counter() - begin, getrusage(RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return elapsed_s, cpu_s, *json.loads(done.stdout)


def show(name, found):
    elapsed_s, cpu_s, phases_s, lines, findings = found
    phases = {"start": elapsed_s - sum(phases_s.values())} | phases_s
    told = " · ".join(f"{phase} {seconds:.2f}" for phase, seconds in phases.items())
    print(
        f"{name:32} {elapsed_s:7.2f} s {cpu_s:7.2f} s of cpu   {lines:,} lines, {findings} findings   ({told})",
        flush=True,
    )


def git(clone, *arguments):
    command = ["git", "-C", clone, "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def by_size(clone):
    """The Python files that hold functions, by size."""
    files = [clone / path for path in git(clone, "ls-files", "*.py").splitlines()]
    return sorted((f for f in files if "def " in f.read_text(errors="replace")), key=lambda f: f.stat().st_size)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cache", type=Path, help="a cache directory to keep")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        clone = Path(directory, "clone")
        subprocess.run(["git", "clone", "-q", options.repository, clone], check=True)
        cache = str(options.cache or Path(directory, "cache"))
        environment = os.environ | {"PYTHONPATH": str(TOP), "XDG_CACHE_HOME": cache}
        run(clone, environment, SCAN)  # Facts and kernels are in the cache from here on.
        show("scan", run(clone, environment, SCAN))
        show("hook, without a state", run(clone, environment, HOOK))
        files = by_size(clone)
        for number in range(options.runs):
            edited = files[len(files) * (number + 1) // (options.runs + 1)]
            with edited.open("a") as file:
                file.write(EDIT)
            git(clone, "add", "-A")
            show(f"hook, {edited.name} staged", run(clone, environment, HOOK))
            git(clone, "reset", "-q", "--hard")


if __name__ == "__main__":
    main()
