#!/usr/bin/env python3
"""Scan many repositories in a batch, and say how much of the time went into scans.

    tests/batch/many.py DIRECTORY [--repositories 30] [--master local[2]] [--from REPOSITORY ...] [--kill]

Slices are made in DIRECTORY from the Python packages of the repositories given with --from (any clones of yours): a
directory of 3 to 400 Python files becomes a repository of its own. With --kill, the batch is killed when half of it is
done, started again, and its output compared with that of the batch that was not.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

TIMED = {"timings.json", "summary.html"}
FEWEST, MOST = 3, 400


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--repositories", type=int, default=30)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--from", dest="sources", type=Path, nargs="+", default=[])
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    slices = arguments.directory / "repositories"
    if not slices.exists():
        make_slices(arguments.sources, slices, arguments.repositories)
    whole = arguments.directory / "whole"
    ended(batch(slices, whole, arguments))
    report(whole)
    if arguments.kill:
        killed = arguments.directory / "killed"
        kill_half_way(batch(slices, killed, arguments), killed, len(list(slices.iterdir())))
        ended(batch(slices, killed, arguments))
        report(killed)
        print("equal bytes:", contents(whole) == contents(killed))


def make_slices(sources, slices, wanted):
    """Make repositories of directories with Python files, of all sources in turn."""
    slices.mkdir(parents=True)
    found = [list(packages(source)) for source in sources]
    chosen = []
    while any(found) and len(chosen) < wanted:
        chosen += [(source, rest.pop(0)) for source, rest in zip(sources, found, strict=True) if rest]
    for number, (source, package) in enumerate(chosen[:wanted]):
        place = slices / f"{number:03}-{source.name}-{package.name}"
        shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        for command in (["init", "-q"], ["add", "--force", "."], ["commit", "-qm", "slice"]):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=place, check=True)


def packages(source):
    """Directories that make a slice, the outermost first."""
    for path in sorted((path for path in source.rglob("*") if path.is_dir()), key=lambda path: len(path.parts)):
        if ".git" not in path.parts and FEWEST <= sum(1 for _ in path.rglob("*.py")) <= MOST:
            yield path


def batch(slices, output, arguments):
    command = [sys.executable, "-P", "-c", "from cli import main; main()", "batch", str(slices), "-o", str(output)]
    command += ["--master", arguments.master, "--cache", str(arguments.directory / "cache")]
    return subprocess.Popen(command)


def ended(process):
    """Wait for a batch; findings and failures are answers, too."""
    if process.wait() not in (0, 1, 3):
        sys.exit(process.returncode)


def kill_half_way(process, output, n):
    """Kill the batch when half of its repositories are done."""
    unfinished = output.with_name(output.name + ".unfinished")
    while process.poll() is None and len(list(unfinished.glob("coverage/*"))) < n // 2:
        time.sleep(0.1)
    process.kill()
    process.wait()


def report(output):
    """Say where the time went. What is neither Spark's start nor a scan is overhead of the driver."""
    run = json.loads((output / "timings.json").read_text())["run"]
    if "tasks_s" not in run:
        return
    capacity = run["slots"] * run["tasks_s"]
    print(f"{run['scanned']} scanned in {run['elapsed_s']:.1f} s")
    print(f"session {run['session_s']:.1f}, tasks {run['tasks_s']:.1f}")
    print(
        f"slots busy {run['busy_s'] / capacity:.1%}; processors {run['processor_s'] / capacity:.1%} of {run['slots']}"
    )
    driver_s = run["elapsed_s"] - run["session_s"] - run["tasks_s"]
    print(f"driver overhead {driver_s:.1f} s, {driver_s / run['elapsed_s']:.1%}")


def contents(directory):
    files = (path for path in directory.rglob("*") if path.is_file() and path.name not in TIMED)
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


if __name__ == "__main__":
    main()
