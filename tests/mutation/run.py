"""How many of seeded mutations the tests catch, by area.

    python tests/mutation/run.py --count 100 --seed 1 [--marker "not slow"] [-o RESULT.json]

Each mutation is made in a copy of the checkout; the tests of its area run first, then all others, up to the first
failure. A run that takes longer than --timeout counts as a failure: a mutation may well loop. Results are appended as
they come, and a run that was interrupted goes on.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from mutate import AREAS, Mutation, sample

TOP = Path(__file__).resolve().parents[2]
FIRST = {
    "planner": ["tests/engine"],
    "update": ["tests/incremental", "tests/schedule"],
    "kernels": ["tests/engine", "tests/incremental"],
    "extractors": ["tests/facts"],
    "rules": ["tests/rules"],
    "reports": ["tests/analyzer", "tests/cli"],
}
PACKAGES = ("analyzer", "cli", "docs", "engine", "facts", "rules", "tests")
FILES = ("README.md", "pyproject.toml", "Makefile", ".pre-commit-hooks.yaml", "LICENSE", "constraints.txt")


def copied(directory: Path) -> Path:
    """Copy what tests need."""
    for name in PACKAGES:
        shutil.copytree(TOP / name, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(TOP / name, directory / name)
    return directory


def is_caught(mutation: Mutation, marker: str, timeout_s: float) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        top = copied(Path(scratch))
        mutation.apply(top)
        environment = os.environ | {"PYTHONPATH": str(top), "PYTHONDONTWRITEBYTECODE": "1"}
        for paths in (FIRST[mutation.area], ["tests"]):
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "-m", marker, *paths]
            try:
                done = subprocess.run(command, cwd=top, env=environment, capture_output=True, timeout=timeout_s)
            except subprocess.TimeoutExpired:
                return True
            if done.returncode:
                return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--marker", default="not slow")
    parser.add_argument("--timeout", type=float, default=1200)
    parser.add_argument("-o", "--output", type=Path, default=Path("mutations.jsonl"))
    options = parser.parse_args()
    known = {}
    if options.output.exists():
        rows = map(json.loads, options.output.read_text().splitlines())
        known = {row["key"]: row["caught"] for row in rows if row["marker"] == options.marker}
    caught, made = Counter(), Counter()
    for mutation in sample(TOP, options.seed, options.count):
        key = json.dumps(asdict(mutation), sort_keys=True)
        if key not in known:
            known[key] = is_caught(mutation, options.marker, options.timeout)
            with options.output.open("a") as file:
                file.write(json.dumps({"key": key, "marker": options.marker, "caught": known[key]}) + "\n")
        made[mutation.area] += 1
        caught[mutation.area] += known[key]
        word = "caught" if known[key] else "missed"
        print(f"{word}  {mutation.area:10}  {mutation.file}:{mutation.line}  {mutation.text!r}", flush=True)
    for area in AREAS:
        print(f"{area:10}  {caught[area]:3} of {made[area]:3}")
    print(f"all         {caught.total():3} of {made.total():3}")


if __name__ == "__main__":
    main()
