#!/usr/bin/env python3
"""The waits of users, beside peers: small scans, the first scan on a machine, large repositories, CI and hook.

    cost.py [--small DIR …] [--large DIR …] [--history REPO] [--peer COMMAND …] [--runs N]

On an idle machine. Of each small DIR: warm scans, the first scan with nothing compiled and from a wheel, and each
peer's command, in which {} stands for DIR (as "bandit -rq {}"). Of each large DIR: scans with cold and warm facts,
the analysis phase on one thread and two, rows derived a second in the slowest stratum, peak memory. Of the history:
its last commits as CI and the hook see them, from nothing, from the state of the base, and from all caches packed in
a tar; the state that they leave, for each line, and the peak. Figures are medians of --runs; those of what comes cold
are of one run. Rows are printed as they are measured.
"""

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from scan import Peak, keep_kernels, scan

TOP = Path(__file__).resolve().parents[2]
CLOSURE = """\
.decl arc(x: number, y: number)
.decl tc(x: number, y: number)
.printsize tc
arc(1, 2). arc(2, 3). arc(3, 1).
tc(x, y) :- arc(x, y).
tc(x, z) :- tc(x, y), arc(y, z).
"""
SMALL = """\
import sqlite3
from flask import Flask, request

app = Flask(__name__)


def connect():
    return sqlite3.connect("users.db")


@app.route("/user")
def user():
    name = request.args.get("name")
    cursor = connect().cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + name + "'")
    return str(cursor.fetchall())


@app.route("/hello")
def hello():
    return "Hello"
"""
OK = (0, 1, 3)
GB = 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", nargs="*", type=Path, default=[])
    parser.add_argument("--large", nargs="*", type=Path, default=[])
    parser.add_argument("--history", type=Path)
    parser.add_argument("--peer", nargs="*", default=[])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--analyze", default=str(Path(sys.executable).with_name("analyze")))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as scratch:
        keep_kernels(Path(cache))
        options.cache, options.scratch = cache, Path(scratch)
        (options.scratch / "app").mkdir()
        (options.scratch / "app/app.py").write_text(SMALL)
        (options.scratch / "closure.dl").write_text(CLOSURE)
        say("analyze run, closure of three rows", repeated(options, ["run", options.scratch / "closure.dl"]))
        wheel = unpacked_wheel(options.scratch)
        for directory in (options.scratch / "app", *options.small):
            small(options, directory, wheel)
        for directory in options.large:
            large(options, directory)
        if options.history:
            history(options)


def unpacked_wheel(scratch):
    """Build a wheel and unpack it; return what of the environment lets commands run from there."""
    build = "from hatchling.builders.wheel import WheelBuilder; print(*WheelBuilder({!r}).build(directory={!r}))"
    command = [sys.executable, "-c", build.format(str(TOP), str(scratch))]
    wheel = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    shutil.unpack_archive(wheel, scratch / "wheel", "zip")
    subprocess.run([sys.executable, "-m", "compileall", "-q", scratch / "wheel"], check=True)
    return {"PYTHONPATH": str(scratch / "wheel")}


def small(options, directory, wheel):
    say(f"scan of {directory.name}", repeated(options, ["scan", directory, "-o", os.devnull]))
    with tempfile.TemporaryDirectory() as empty:
        say(f"scan of {directory.name}, the first on a machine", one(options, ["scan", directory], empty)[0])
    with tempfile.TemporaryDirectory() as empty:
        first_s, _ = one(options, ["scan", directory], empty, more=wheel)
        say(f"scan of {directory.name}, the first on a machine, from a wheel", first_s)
    for peer in options.peer:
        command = [word.replace("{}", str(directory)) for word in shlex.split(peer)]
        say(f"  {command[0]}", repeated(options, command[1:], program=command[0]))


def large(options, directory):
    name = directory.name
    options.repo = directory
    analysis_s = {}
    for options.jobs in (1, 2):
        shutil.rmtree(Path(options.cache, "analyze/facts"), ignore_errors=True)
        cold = scan(options, options.cache)
        runs = [scan(options, options.cache) for _ in range(options.runs)]
        analysis_s[options.jobs] = statistics.median(run[2]["phases_s"]["analysis"] for run in runs)
    warm_s = statistics.median(run[0] for run in runs)
    slowest = max(runs[-1][2]["strata"], key=lambda stratum: stratum["elapsed_s"])
    say(f"{name}, {cold[2]['lines']:,} lines, facts cold", cold[0])
    say(f"{name}, warm", warm_s)
    say(f"{name}, analysis, two threads", analysis_s[2], f"{analysis_s[1] / analysis_s[2]:.2f} times as fast as one")
    derived, elapsed_s = slowest["rows"] + slowest["discarded"], slowest["elapsed_s"]
    kept = f"{slowest['rows'] / derived:.0%} kept after {slowest['restarts']} restarts"
    say(f"{name}, slowest stratum", elapsed_s, f"{derived / elapsed_s / 1e6:.2f} M rows derived a second, {kept}")
    peak = max(run[1] for run in (cold, *runs))
    print(f"{name + ', peak memory':55} {peak / GB:6.1f} GB", flush=True)


def history(options):
    """Time `ci` from no state, and from the state of the commit before; then the hook on a change of one file."""
    clone = options.scratch / "clone"
    git(options.scratch, "clone", "-q", options.history.resolve(), clone)
    head = git(clone, "rev-parse", "HEAD")
    base = git(clone, "rev-parse", "HEAD~1")
    git(clone, "checkout", "-q", base)
    ci = ["ci", clone, "--base"]
    elapsed_s, peak = one(options, [*ci, git(clone, "rev-parse", "HEAD~1")], options.cache)
    say("ci without a state", elapsed_s, f"peak {peak / GB:.1f} GB")
    state = Path(options.cache, "analyze")
    kept = sum(file.stat().st_size for file in (state / "commits").rglob("*") if file.is_file())
    files = git(clone, "ls-files", "*.py").splitlines()
    n_lines = sum((clone / file).read_bytes().count(b"\n") for file in files)
    each = f"{kept / max(1, n_lines):.0f} bytes for each of {n_lines:,} lines of Python"
    print(f"{'  the state that it leaves':55} {kept / 1e6:6.1f} MB  {each}", flush=True)
    container(options, clone, base, head)
    git(clone, "checkout", "-q", head)
    elapsed_s, peak = one(options, [*ci, base], options.cache)
    say("ci from the state of its base", elapsed_s, f"peak {peak / GB:.1f} GB")
    changed = next(path for path in sorted(clone.rglob("*.py")) if path.stat().st_size > 2_000)
    changed.write_text(changed.read_text() + "\nADDED = 1\n")
    git(clone, "add", changed)
    elapsed_s, peak = one(options, ["hook"], options.cache, cwd=clone)
    say("hook from a state", elapsed_s, f"peak {peak / GB:.1f} GB")


def container(options, clone, base, head):
    """Time `ci` in two fresh containers: with nothing, and with the caches that the first one leaves, from a tar."""
    packed = options.scratch / "caches.tar"
    with tempfile.TemporaryDirectory() as empty:
        git(clone, "checkout", "-q", base)
        elapsed_s, peak = one(options, ["ci", clone, "--base", git(clone, "rev-parse", "HEAD~1")], empty)
        say("ci in a fresh container, without caches", elapsed_s, f"peak {peak / GB:.1f} GB")
        with tarfile.open(packed, "w") as tar:
            tar.add(empty, ".")
    git(clone, "checkout", "-q", head)
    command = ["ci", clone, "--base", base]
    with tempfile.TemporaryDirectory() as empty:
        began = time.perf_counter()
        shutil.unpack_archive(packed, empty, filter="data")
        unpacked_s = time.perf_counter() - began
        elapsed_s, peak = one(options, command, empty)
    size = f"{packed.stat().st_size / 1e6:.0f} MB, unpacked in {unpacked_s:.1f} s"
    say("  with its caches from a tar", unpacked_s + elapsed_s, f"{size}, peak {peak / GB:.1f} GB")
    packed.unlink()


def git(directory, *arguments):
    return subprocess.run(
        ["git", *map(str, arguments)], cwd=directory, check=True, capture_output=True, text=True
    ).stdout.strip()


def repeated(options, arguments, program=None):
    """Return the median of the seconds of a command, after one run that is not counted."""
    times = [one(options, arguments, options.cache, program)[0] for _ in range(options.runs + 1)]
    return statistics.median(times[1:])


def one(options, arguments, cache, program=None, cwd=None, more=()):
    """Run a command; return its seconds, and the peak of its memory."""
    began = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, [program or options.analyze, *arguments])),
        env=os.environ | {"XDG_CACHE_HOME": str(cache)} | dict(more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
    )
    peak = Peak(process.pid)
    code = process.wait()
    elapsed_s = time.perf_counter() - began
    if code not in OK:
        sys.exit(f"exit code {code}: {arguments}")
    return elapsed_s, peak.stop()


def say(what, seconds, more=""):
    print(f"{what:55} {seconds:6.2f} s  {more}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
