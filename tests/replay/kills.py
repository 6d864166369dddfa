"""Kill commands at random moments, and see that the next run gives the right bytes.

    python tests/replay/kills.py [--runs N] [--seed S] [COMMAND …]

Each of `scan`, `ci`, `hook`, `update` and `batch` is started N times in a process group of its own and killed with
SIGKILL after a part of the time that a whole run takes, drawn from the seed. The run after it, on what the killed one
has left, must print what a run on nothing prints, and end with the same exit code; an output file is the old one or the
new one, and the output directory of a batch is whole or not there.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path

TOP = Path(__file__).parents[2]
SOURCE = """\
import sqlite3
from flask import Flask, request
app = Flask(__name__)
@app.route("/user{n}")
def user{n}():
    cursor = sqlite3.connect("users.db").cursor()
    cursor.execute("SELECT * FROM users WHERE name = '" + request.args["name"] + "'")
    return str(len(cursor.fetchall()))
"""
PROGRAM = """\
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
"""
REPORT = ("--rules", "sql-injection", "--format", "json")
COMMANDS = ("scan", "ci", "hook", "update", "batch")
OLD = b"the old report\n"
DIFFERENT_EACH_TIME = ("timings.json", "summary.html")


@dataclass
class Subject:
    """A command on a small repository or program, with all that it keeps below `top`.

    `kept` are the directories that a run leaves something in, `output` is the file or directory that it writes,
    None if it prints.
    """

    name: str
    top: Path
    cache: Path
    arguments: list[str] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    output: Path | None = None

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "-P", "-c", "from cli import main; main()", *self.arguments]
        environment = {**os.environ, "PYTHONPATH": str(TOP), "XDG_CACHE_HOME": str(self.cache)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=self.top, env=environment, start_new_session=True, **pipes)

    def run(self) -> tuple[int, bytes]:
        """Run it to its end; return its exit code and what it has written."""
        process = self.start()
        printed, errors = process.communicate()
        if b"Traceback" in errors or process.returncode not in (0, 1):
            raise AssertionError(f"{self.name} ended with {process.returncode}: {errors.decode()}")
        return process.returncode, self.written() if self.output else printed

    def kill(self, after_s: float) -> bool:
        """Run it and kill it and all its children after so many seconds; return whether it was running then."""
        process = self.start()
        time.sleep(after_s)
        running = process.poll() is None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()
        return running

    def age(self) -> None:
        """Put what an earlier run may have written where this one writes."""
        if self.output:
            self.output.write_bytes(OLD)

    def written(self) -> bytes:
        return self.output.read_bytes() if self.output else OLD

    def forget(self) -> None:
        for directory in self.kept:
            shutil.rmtree(directory, ignore_errors=True)


class Batch(Subject):
    """A command whose output is a directory that must not be there before."""

    def age(self) -> None:
        shutil.rmtree(self.output, ignore_errors=True)

    def written(self) -> bytes:
        """Return all files that are the same each time, with their names; OLD if the directory is not there."""
        files = sorted(path for path in self.output.rglob("*") if path.is_file())
        lasting = [path for path in files if path.name not in DIFFERENT_EACH_TIME]
        return b"".join(str(path).encode() + path.read_bytes() for path in lasting) or OLD


def git(top: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=top, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(top: Path) -> str:
    """Make two commits; stage a change; return the first commit."""
    top.mkdir()
    git(top, "init", "-q")
    (top / "app.py").write_text(SOURCE.format(n=0))
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    first = git(top, "rev-parse", "HEAD")
    (top / "more.py").write_text(SOURCE.format(n=1))
    git(top, "add", ".")
    git(top, "commit", "-qm", "second")
    (top / "staged.py").write_text(SOURCE.format(n=2))
    git(top, "add", ".")
    return first


def subject(name: str, place: Path, shared: Path) -> Subject:
    """A command in a place of its own; compiled kernels and programs are those of `shared`."""
    place.mkdir(parents=True)
    cache = place / "cache"
    (cache / "analyze").mkdir(parents=True, mode=0o700)
    for directory in ("kernels", "programs"):
        (cache / "analyze" / directory).symlink_to(shared / directory)
    kind = Batch if name == "batch" else Subject
    made = kind(name, place / "repo", cache, kept=[cache / "analyze" / "facts", cache / "analyze" / "commits"])
    if name == "update":
        made.top.mkdir()
        (made.top / "closure.dl").write_text(PROGRAM)
        for directory in ("facts", "delta", "out"):
            (made.top / directory).mkdir()
        (made.top / "facts/edge.facts").write_text("".join(f"{n}\t{n + 1}\n{n}\t{n + 7}\n" for n in range(200)))
        (made.top / "delta/edge.insert.facts").write_text("207\t3\n")
        made.arguments = ["update", "closure.dl", "--state", "state", "-F", "facts", "--delta", "delta", "-D", "out"]
        made.kept, made.output = [made.top / "state"], made.top / "out" / "path.csv"
        return made
    first = repository(made.top)
    if name == "batch":
        listing = place / "list"
        listing.write_text(f"{made.top}\nbefore={made.top}@{first}\n")
        made.output = place / "findings"
        made.kept.append(place / "findings.unfinished")
        made.arguments = ["batch", str(listing), "--master", "local[1]", "-o", str(made.output), *REPORT[:2]]
        return made
    made.arguments = [*{"scan": ["scan", "."], "ci": ["ci", "--base", first], "hook": ["hook"]}[name], *REPORT]
    if name != "hook":
        made.output = place / "report.json"
        made.arguments += ["-o", str(made.output)]
    return made


def kills(name: str, runs: int, seed: int, shared: Path) -> tuple[int, int]:
    """Kill a command so many times; return how often it was running then, and how often its output was the old one.

    Every other time it goes on from what was left before, else from nothing. Raises AssertionError.
    """
    choose = random.Random(f"{name} {seed}")
    n_running = n_old = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as place:
        tried = subject(name, Path(place) / name, shared)
        tried.run()
        tried.forget()
        tried.age()
        begin = time.monotonic()
        expected = tried.run()
        whole_s = time.monotonic() - begin
        for number in range(runs):
            if number % 2:
                tried.forget()
            tried.age()
            n_running += tried.kill(choose.uniform(0, whole_s * 1.1))
            left = tried.written()
            if left not in (OLD, expected[1]):
                raise AssertionError(f"{name}, kill {number}: the output is neither the old nor the new one")
            n_old += left == OLD
            tried.age()
            found = tried.run()
            if found != expected:
                lines = ([str(code), *text.decode(errors="replace").splitlines()] for code, text in (expected, found))
                raise AssertionError("\n".join([f"{name}, kill {number}:", *unified_diff(*lines, lineterm="")]))
    return n_running, n_old


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("commands", nargs="*", default=COMMANDS)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "analyze"
    for name in arguments.commands:
        n_running, n_old = kills(name, arguments.runs, arguments.seed, shared)
        said = f"{arguments.runs} kills, {n_running} while it was running, {n_old} with the old output left"
        print(f"{name}, seed {arguments.seed}: {said}; every next run was right", flush=True)


if __name__ == "__main__":
    main()
