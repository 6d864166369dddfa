#!/usr/bin/env python3
"""Scan many repositories in a batch, and say where the time went; with --kill, once more, interrupted half-way.

    tests/batch/many.py REPOS -o DIRECTORY [--master 'local[2]'] [--kill]

REPOS is what `analyze batch` takes. Results are in DIRECTORY/whole. With --kill, a second batch with a cache of its own
is killed (SIGKILL to the driver) when it has half of the bytes behind it, and started again; DIRECTORY/killed must then
equal DIRECTORY/whole, but for seconds, and nothing that was done may have been done again. The exit status says so.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

TIMED = {"timings.json", "summary.html"}
ENDED_WITHIN_S = 60


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    whole = arguments.output / "whole"
    ended(batch(arguments, "whole"))
    report(whole)
    if arguments.kill:
        killed = arguments.output / "killed"
        done = kill_half_way(batch(arguments, "killed"), killed)
        ended(batch(arguments, "killed"))
        report(killed)
        wrong = [*differences(whole, killed), *done_again(killed, done), *extracted_again(whole, killed)]
        print("\n".join(wrong) or "equal, and nothing was done again")
        sys.exit(1 if wrong else 0)


def batch(arguments, name):
    """Start a batch, with a cache of its own."""
    command = [sys.executable, "-P", "-c", "from cli import main; main()", "batch", str(arguments.repos)]
    command += ["--master", arguments.master, "-o", str(arguments.output / name)]
    return subprocess.Popen([*command, "--cache", str(arguments.output / f"cache-{name}")])


def ended(process):
    """Wait for a batch; findings and failures are answers, too."""
    if process.wait() not in (0, 1, 3):
        sys.exit(process.returncode)


def kill_half_way(process, output):
    """Kill the batch when half of its bytes are scanned; return what is published then, when all it started is gone."""
    unfinished = output.with_name(output.name + ".unfinished")
    while not is_half_way(unfinished):
        if process.poll() is not None:
            sys.exit("it ended before it could be killed")
        time.sleep(0.1)
    started = descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + ENDED_WITHIN_S
    while left := [pid for pid, stamp in started.items() if birth(pid) == stamp]:
        if time.monotonic() > until:
            sys.exit(f"still running {ENDED_WITHIN_S} s after the driver was killed: {left}")
        time.sleep(0.1)
    done = published(unfinished)
    print(f"killed; {len(done)} repositories were done; all of its {len(started)} processes have ended")
    return done


def is_half_way(unfinished):
    try:
        rows = json.loads((unfinished / "batch.json").read_text())["repositories"]
    except OSError:
        return False
    done = published(unfinished)
    return 2 * sum(row["n_bytes"] for row in rows if row["name"] in done) >= sum(row["n_bytes"] for row in rows)


def published(directory):
    """What is done, and what tells a file from one that was written again."""
    files = {path.parent.name.partition("=")[2]: path.stat() for path in directory.glob("coverage/*/part-0.parquet")}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in files.items()}


def descendants(pid):
    """All processes below one, with the time of their birth."""
    above = {int(path.name): stat(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    found, fresh = {}, {pid}
    while fresh:
        fresh = {child for child, fields in above.items() if fields and int(fields[1]) in fresh}
        found |= {child: above[child][19] for child in fresh}
    return found


def birth(pid):
    """When a process began; None where it has ended, waited for or not."""
    fields = stat(pid)
    return fields[19] if fields and fields[0] != "Z" else None


def stat(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, ..."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def report(output):
    """Say where the time went. What is no task is overhead of the driver; Spark's start is the most of it."""
    run = json.loads((output / "timings.json").read_text())["run"]
    if "tasks_s" not in run:
        return
    capacity = run["slots"] * run["tasks_s"]
    driver_s = run["elapsed_s"] - run["tasks_s"]
    print(f"{run['scanned']} scanned in {run['elapsed_s']:.1f} s, of which {run['tasks_s']:.1f} s with tasks")
    print(
        f"driver overhead {driver_s:.1f} s, {driver_s / run['elapsed_s']:.1%} (start of Spark {run['session_s']:.1f} s)"
    )
    busy, processors = run["busy_s"] / capacity, run["processor_s"] / capacity
    print(f"{run['slots']} slots busy {busy:.1%} of the time with tasks, on processors {processors:.1%}")


def differences(one, other):
    """Files that only one has, or that are not equal."""
    left, right = contents(one), contents(other)
    return [f"differs: {name}" for name in sorted(left.keys() | right.keys()) if left.get(name) != right.get(name)]


def contents(directory):
    files = (path for path in directory.rglob("*") if path.is_file() and path.name not in TIMED)
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def done_again(output, before):
    """Repositories that were done, and have other files now."""
    after = published(output)
    return [f"done again: {name}" for name in sorted(before) if after[name] != before[name]]


def extracted_again(whole, killed):
    """More extractions, all in all, than without the interruption."""
    once, twice = extractions(whole), extractions(killed)
    print(f"extractions: {once} without, {twice} with the interruption")
    return [f"extracted again: {twice - once} files"] if twice > once else []


def extractions(output):
    costs = json.loads((output / "timings.json").read_text())["repositories"]
    return sum(cost.get("extracted", 0) for cost in costs.values())


if __name__ == "__main__":
    main()
