"""Run the test programs of a Soufflé checkout and compare what they print.

    python tests/conformance/souffle.py DIR [--evaluator reference|local|members|spark] [--threads N] [--partitions N]
                    [--policy global|ssp|dws] [--compare] [--only PATTERN] [--limit SECONDS] [--verbose]

DIR holds `evaluation`, `semantic` and `example`, as `tests/` of a checkout does. Positive programs must give the rows
of the `.csv` files beside them (in any order; floats to six digits, as Soufflé's have 32 bits), negative ones must be
rejected with a position. Programs outside the core language (error E005, or a preprocessor) are listed, not counted.
`members` is a group of so many threads that share nothing, `spark` a session on `local[N]`.
With `--compare`, positive programs must give the same rows by the oracle (where it ends in time) and by the engine on
one and two threads, under all policies and on several numbers of partitions; files beside them are not looked at.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from comparison import (
    POLICIES,
    REFERENCE,
    Configuration,
    Members,
    OnSpark,
    Options,
    TimeLimit,
    difference,
    partitioned,
)

import engine
from engine.language.checked_program import CheckedProgram
from engine.spark.spark_session import session

SUITES = ("evaluation", "semantic", "example")
LISTED = re.compile(r"^\s*(positive|negative)_test\((\S+?)[\s)]", re.MULTILINE)
PREPROCESSOR = re.compile(r"^[ \t]*#[ \t]*(define|include|if|ifdef|ifndef)\b", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    positive: bool
    directory: Path

    @property
    def program(self) -> Path:
        return self.directory / f"{self.name}.dl"


class OutsideCoreError(Exception):
    """The program uses what our language leaves out."""


def cases(root: Path) -> Iterator[Case]:
    for suite in SUITES:
        listed = LISTED.findall((root / suite / "CMakeLists.txt").read_text())
        for kind, name in dict.fromkeys(listed):
            if (root / suite / name / f"{name}.dl").exists():
                yield Case(suite, name, kind == "positive", root / suite / name)


def compile_case(case: Case) -> CheckedProgram:
    text = case.program.read_text(errors="surrogateescape")
    if PREPROCESSOR.search(text):
        raise OutsideCoreError("uses the C preprocessor")

    def resolve(path: str, including: engine.Source) -> engine.Source | None:
        file = Path(including.name).parent / path
        return engine.Source(str(file), file.read_text(errors="surrogateescape")) if file.exists() else None

    try:
        return engine.compile([engine.Source(str(case.program), text)], resolve=resolve)
    except engine.ProgramError as error:
        outside = [diagnostic.message for diagnostic in error.diagnostics if diagnostic.code == "E005"]
        if outside:
            raise OutsideCoreError(outside[0]) from None
        raise


def check(case: Case, configuration: Configuration) -> str | None:
    """Return what is wrong with a case, or None."""
    try:
        program = compile_case(case)
    except engine.ProgramError as error:
        first = error.diagnostics[0]
        if case.positive:
            return f"error[{first.code}] {first.span.line}:{first.span.column}: {first.message}"
        return None if first.span.line else "rejected without a position"
    if not case.positive:
        return check_load_fails(program, case.directory / "facts")
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory)
        result = configuration.for_output(program, case.directory / "facts")
        printed = engine.store(program, result, output)
        return compare_files(case.directory, output) or compare_printed(case, printed)


def check_load_fails(program: CheckedProgram, facts: Path) -> str | None:
    """Some negative programs are right, and their facts wrong."""
    try:
        engine.load(program, facts)
    except engine.FactsError:
        return None
    return "not rejected"


def compare_files(expected: Path, found: Path) -> str | None:
    for file in sorted(expected.glob("*.csv")):
        if not (found / file.name).exists():
            return f"{file.name} is not written"
        wanted = file.read_text(errors="surrogateescape").splitlines()
        written = (found / file.name).read_text(errors="surrogateescape").splitlines()
        difference = compare_lines(wanted, written)
        if difference:
            return f"{file.name}: {difference}"
    return None


def compare_printed(case: Case, printed: list[str]) -> str | None:
    file = case.directory / f"{case.name}.out"
    if not file.exists():
        return None
    difference = compare_lines(file.read_text(errors="surrogateescape").splitlines(), printed)
    return f"{file.name}: {difference}" if difference else None


def compare_lines(wanted: list[str], found: list[str]) -> str | None:
    missing, extra = set(map(normal, wanted)), set(map(normal, found))
    missing, extra = missing - extra, extra - missing
    if missing or extra or len(wanted) != len(found):
        example = sorted(missing)[:2], sorted(extra)[:2]
        return f"{len(found)} lines for {len(wanted)}, missing {example[0]}, extra {example[1]}"
    return None


def normal(line: str) -> str:
    """Write floats with six digits."""
    return re.sub(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+", lambda match: f"{float(match[0]):.6g}", line.rstrip())


def compare(case: Case, limit_s: int) -> str | None:
    """Return in what the evaluators differ on a positive case, or None."""
    if not case.positive:
        return None
    found, with_oracle = difference(compile_case(case), case.directory / "facts", limit_s)
    if not with_oracle:
        print(f"engine only: {case.suite}/{case.name} (the oracle takes more than {limit_s} s, or 'ord' is asked for)")
    return found


def run(case: Case, options: argparse.Namespace) -> tuple[str, str]:
    """Return "passed", "failed" or "outside", and why."""
    try:
        if options.compare:
            problem = compare(case, options.limit)
        else:
            configuration = configuration_of(options)
            with configuration.limited(options.limit):
                problem = check(case, configuration)
        return ("passed", "") if problem is None else ("failed", problem)
    except OutsideCoreError as error:
        return "outside", str(error)
    except TimeLimit as error:
        return "failed", str(error)
    except Exception as error:  # A case that crashes is one failure, and the others still run.
        return "failed", f"{type(error).__name__}: {error}"


def configuration_of(options: argparse.Namespace) -> Configuration:
    if options.evaluator == "reference":
        return REFERENCE
    if options.evaluator == "spark":
        return OnSpark("spark", options.threads, session=options.session)
    if options.evaluator == "members":
        return Members("members", options.threads)
    sizes = Options() if options.partitions is None else partitioned(options.partitions)
    return Configuration("chosen", options.threads, sizes, POLICIES[options.policy])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--evaluator", choices=("reference", "local", "members", "spark"), default="local")
    parser.add_argument("--threads", type=int, default=2, help="threads of the engine (default: 2)")
    parser.add_argument("--partitions", type=int, help="split relations early, into so many partitions (a power of 2)")
    parser.add_argument("--policy", choices=tuple(POLICIES), default="global")
    parser.add_argument("--compare", action="store_true", help="compare evaluators with one another")
    parser.add_argument("--only", default="", help="a regular expression for SUITE/NAME")
    parser.add_argument("--limit", type=int, default=30, help="seconds for one program (default: 30)")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.evaluator == "spark":
        with session(f"local[{options.threads}]") as options.session:
            return check_all(options)
    return check_all(options)


def check_all(options: argparse.Namespace) -> int:
    counts = {(kind, outcome): 0 for kind in (True, False) for outcome in ("passed", "failed", "outside")}
    for case in cases(options.directory):
        if not re.search(options.only, f"{case.suite}/{case.name}"):
            continue
        start = time.perf_counter()
        outcome, reason = run(case, options)
        counts[case.positive, outcome] += 1
        if outcome != "passed" or options.verbose:
            elapsed_s = time.perf_counter() - start
            kind = "" if case.positive else " (negative)"
            print(f"{outcome:8}{case.suite}/{case.name}{kind} {elapsed_s:.1f} s {reason}", flush=True)
    print(f"negative: {counts[False, 'passed']} rejected, {counts[False, 'failed']} accepted")
    print(f"outside the core language: {counts[True, 'outside']} positive, {counts[False, 'outside']} negative")
    print(f"{counts[True, 'passed']} passed, {counts[True, 'failed']} failed")
    return int(counts[True, "failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
