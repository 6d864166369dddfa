"""How many of seeded mutations the tests catch, by area: first by those of `make test`, then by the slow ones.

    OUTCOMES=outcomes.jsonl python -m pytest -n 2 -m "not slow" --cov --cov-context=test -p tests.mutation.outcomes
    python tests/mutation/run.py --count 100 --seed 1 --outcomes outcomes.jsonl --coverage .coverage -o RESULT.jsonl

Each mutation is made in a copy of the checkout. The tests that run its line come first, or else those of its area:
the quickest before the others, some seconds of them. Those mutations that survive are made all at once, and
all tests run: a test that fails then is run with each of them alone, and catches those with which it fails. That goes
on until none is caught: a mutation that hides behind another counts as missed. A test that does not end counts as
failed, since a mutation may well loop. Results are appended as they come; a run that was interrupted goes on.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

import coverage
from mutate import AREAS, Mutation, sample
from outcomes import ungrouped

TOP = Path(__file__).resolve().parents[2]
OF_AREA = {
    "planner": ("tests/engine/",),
    "update": ("tests/incremental/", "tests/schedule/"),
    "kernels": ("tests/engine/", "tests/incremental/"),
    "extractors": ("tests/facts/",),
    "reports": ("tests/analyzer/", "tests/cli/"),
}
OF_RULES = {
    "": ("test_checks", "test_taint", "test_call_graph"),
    "/java/": ("test_java", "test_java_taint"),
    "/javascript/": ("test_javascript", "test_javascript_taint"),
    "/go/": ("test_go", "test_go_taint"),
    "/c/": ("test_c", "test_pointer_graph"),
    "range": ("test_ranges",),
}
"""Modules of `tests/rules` for rules whose path contains a text: each compiles what is mutated once, which is dear."""
FAST, SLOW = "not slow", "slow"
STAGES = ("near", "fast", "slow")
NEAR_S = 12.0
"""How many seconds of tests that run a mutated line are tried before mutations are tried together."""
ALONE_S, TOGETHER_S = 300.0, 2400.0
SUSPECTS = 12
"""How many failed tests are tried with each mutation alone."""
Catch = Callable[[Mutation], None]


class Copy:
    """A copy of the checkout, in which tests run with mutations made."""

    def __init__(self, top: Path) -> None:
        self.top = top
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout
        for name in listed.split("\0")[:-1]:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, top / name)

    @contextmanager
    def mutated(self, mutations: Iterable[Mutation]) -> Iterator[None]:
        """Make mutations from the end of each file to its beginning, and take them back."""
        made = sorted(mutations, key=lambda mutation: mutation.start, reverse=True)
        try:
            for mutation in made:
                mutation.apply(self.top)
            yield
        finally:
            for file in {mutation.file for mutation in made}:
                shutil.copy(TOP / file, self.top / file)

    def failing(self, tests: Sequence[str], marker: str, *options: str, timeout_s: float = ALONE_S) -> list[str] | None:
        """Return the tests that fail, the quickest first; None if they do not end, or cannot begin."""
        with tempfile.NamedTemporaryFile(dir=self.top.parent) as outcomes:
            command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutation.outcomes", "-m", marker, *options]
            environment = {**os.environ, "PYTHONPATH": str(self.top), "PYTHONDONTWRITEBYTECODE": "1"}
            environment["OUTCOMES"] = outcomes.name
            process = subprocess.Popen(
                [*command, *tests], cwd=self.top, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return None
            rows = sorted(read_outcomes(Path(outcomes.name)), key=lambda row: row[2])
            failed = [test for test, has_failed, _ in rows if has_failed]
        return failed if failed or code in (0, 5) else None  # 5: none of the tests has the marker.


def read_outcomes(path: Path) -> Iterator[tuple[str, bool, float]]:
    return map(json.loads, path.read_text().splitlines())


class Near:
    """The tests that are tried first with a mutation: those that run its line."""

    def __init__(self, database: Path, outcomes: Path) -> None:
        self.seconds = {test: seconds for test, _, seconds in read_outcomes(outcomes)}
        self.data = coverage.CoverageData(str(database))
        self.data.read()

    def tests(self, mutation: Mutation) -> list[str]:
        """Return so many seconds of tests, the quickest first: of the area if no test is known to run the line."""
        if mutation.area == "rules":
            modules = [name for part, names in OF_RULES.items() if part in mutation.file for name in names]
            return [test for name in modules for test in self.seconds if test.startswith(f"tests/rules/{name}.py")]
        running = self.running(mutation)
        of_area = {test for test in self.seconds if test.startswith(OF_AREA[mutation.area])}
        chosen, spent_s = [], 0.0
        for test in sorted(running or of_area, key=lambda test: (self.seconds[test], test)):
            spent_s += self.seconds[test]
            if spent_s > NEAR_S and chosen:
                break
            chosen.append(test)
        return chosen

    def running(self, mutation: Mutation) -> set[str]:
        """Return the tests that are known to run the line."""
        contexts = self.data.contexts_by_lineno(str(TOP / mutation.file)).get(mutation.line, ())
        return {ungrouped(context.partition("|")[0]) for context in contexts} & self.seconds.keys()

    def suspects(self, mutation: Mutation, failed: list[str]) -> list[str]:
        """Return some of the tests that failed with others made, too: those that run the line before the others."""
        running = self.running(mutation)
        return sorted(failed, key=lambda test: test not in running)[:SUSPECTS]


def each_alone(copies: Sequence[Copy], todo: Sequence[tuple[Mutation, list[str]]], marker: str) -> Iterator[bool]:
    """Yield for each mutation whether one of its tests fails, with as many at a time as there are copies."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def is_caught(mutation: Mutation, tests: list[str]) -> bool:
        copy = free.get()
        try:
            with copy.mutated([mutation]):
                return copy.failing(tests, marker, "-x") != []
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from pool.map(is_caught, *zip(*todo, strict=True)) if todo else ()


def try_together(copies: Sequence[Copy], mutations: list[Mutation], marker: str, near: Near, catch: Catch) -> None:
    """Call `catch` with each mutation that any of all tests catches, with as few runs of all tests as it takes."""
    if not mutations:
        return
    with copies[0].mutated(mutations):
        failed = copies[0].failing(["tests"], marker, "-n", "2", "--dist", "loadgroup", timeout_s=TOGETHER_S)
    if failed is None and len(mutations) == 1:
        catch(mutations[0])
    elif failed is None:
        middle = len(mutations) // 2
        for half in (mutations[:middle], mutations[middle:]):
            try_together(copies, half, marker, near, catch)
    elif failed:
        todo = [(mutation, near.suspects(mutation, failed)) for mutation in mutations]
        left = []
        for mutation, is_caught in zip(mutations, each_alone(copies, todo, marker), strict=True):
            if is_caught:
                catch(mutation)
            else:
                left.append(mutation)
        if len(left) < len(mutations):
            try_together(copies, left, marker, near, catch)


class Log:
    """Is a mutation caught at a stage, as far as is known; kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
        self.known: dict[tuple[str, str], bool] = {(row["key"], row["stage"]): row["caught"] for row in rows}

    def get(self, mutation: Mutation, stage: str) -> bool | None:
        return self.known.get((self.key(mutation), stage))

    def add(self, mutation: Mutation, stage: str, caught: bool) -> None:
        self.known[self.key(mutation), stage] = caught
        with self.path.open("a") as file:
            file.write(json.dumps({"key": self.key(mutation), "stage": stage, "caught": caught}) + "\n")
        word = "caught" if caught else "missed"
        print(f"{stage}: {word}  {mutation.area:10}  {mutation.file}:{mutation.line}  {mutation.text!r}", flush=True)

    @staticmethod
    def key(mutation: Mutation) -> str:
        return json.dumps(asdict(mutation), sort_keys=True)


def try_alone(mutations: Sequence[Mutation], copies: Sequence[Copy], near: Near, log: Log) -> None:
    """Run the tests near to each mutation."""
    todo = [(mutation, near.tests(mutation)) for mutation in mutations if log.get(mutation, "near") is None]
    for (mutation, _), caught in zip(todo, each_alone(copies, todo, FAST), strict=True):
        log.add(mutation, "near", caught)


def survivors(mutations: Sequence[Mutation], log: Log) -> list[Mutation]:
    return [mutation for mutation in mutations if not any(log.get(mutation, stage) for stage in STAGES)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outcomes", type=Path, required=True)
    parser.add_argument("--coverage", type=Path, default=TOP / ".coverage")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=Path("mutations.jsonl"))
    options = parser.parse_args()
    mutations, log = sample(TOP, options.seed, options.count), Log(options.output)
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        copies = [Copy(Path(scratch) / str(i)) for i in range(options.at_once)]
        near = Near(options.coverage, options.outcomes)
        try_alone(mutations, copies, near, log)
        for stage, marker in (("fast", FAST), ("slow", SLOW)):
            left = [mutation for mutation in survivors(mutations, log) if log.get(mutation, stage) is None]
            try_together(copies, left, marker, near, lambda mutation, stage=stage: log.add(mutation, stage, True))
            for mutation in left:
                if log.get(mutation, stage) is None:
                    log.add(mutation, stage, False)
    print_table(mutations, log)


def print_table(mutations: Sequence[Mutation], log: Log) -> None:
    made = Counter(mutation.area for mutation in mutations)
    fast = Counter(m.area for m in mutations if log.get(m, "near") or log.get(m, "fast"))
    full = fast + Counter(m.area for m in mutations if log.get(m, "slow"))
    print(f"{'area':10}  made  fast  full")
    for area in AREAS:
        print(f"{area:10}  {made[area]:4}  {fast[area]:4}  {full[area]:4}")
    print(f"{'all':10}  {made.total():4}  {fast.total():4}  {full.total():4}")


if __name__ == "__main__":
    main()
