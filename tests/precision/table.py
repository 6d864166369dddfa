"""Prints what public suites say of our precision, beside floors and aims; exits with 1 if something is below its floor.

    python tests/precision/table.py SUITES --scorers DIR [--only NAME …] [--keep DIR]

What is measured is also told as soon as it is known, on standard error.

SUITES holds checkouts, by these names: `xast` and `xast-go` (alipay/ant-application-security-testing-benchmark at
c7dd8a4f and 20c96080), `owasp` (OWASP-Benchmark/BenchmarkJava), `pycg` (vitsalis/PyCG), `pointerbench`
(secure-software-engineering/PointerBench), `svf` (SVF-tools/Test-Suite), `juliet` (arichardson/juliet-test-suite-c).
The scorers of xAST, OWASP, PyCG and Juliet are programs that read SARIF or call graphs; the others stand beside this
file. What belongs to a suite alone, its sources and sinks, is in the `.dl` files here. A suite that is not there is
said to be missing. Of Juliet the C files count: 11,046 of 18,118 for the six weaknesses; the others are C++.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ANALYZE = (sys.executable, "-m", "cli")
JULIET_CWES = ("78", "134", "401", "415", "416", "476")


@dataclass(frozen=True)
class Measure:
    """A number that a scorer prints: found by a pattern with one group, or two (passed / total)."""

    name: str
    pattern: str
    floor: float
    aim: float


@dataclass(frozen=True)
class Suite:
    """What is scanned, with what, and how its scorer is called: `{tree}` and `{sarif}` stand for paths.

    Without `rules` there is no scan: the scorer does all. `parts` are directories below the tree that are scanned as
    one, in place of all of it, without the files that a pattern in `without` matches.
    """

    name: str
    tree: str
    scorer: tuple[str, ...]
    measures: tuple[Measure, ...]
    rules: str = ""
    models: str = ""
    parts: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def levels(*bounds: tuple[int, int]) -> tuple[Measure, ...]:
    return tuple(
        Measure(f"level {level}", rf"\b{level}:(\d+)/(\d+)", floor, aim) for level, (floor, aim) in enumerate(bounds, 2)
    )


def xast(language: str, tree: str, rules: str, *bounds: tuple[int, int]) -> Suite:
    scorer = ("xast.py", "{tree}", "{sarif}")
    return Suite(f"xAST {language}", tree, scorer, levels(*bounds), rules, f"xast_{language.lower()}.dl")


RIGHT = (Measure("right", r"right (\d+)/(\d+)", 0.85, 0.97),)
SUITES = (
    xast("Python", "xast/sast-python3/case", "cwe-78", (150, 170), (15, 22), (4, 8)),
    xast("Java", "xast/sast-java", "security", (90, 112), (5, 12), (1, 6)),
    xast("JS", "xast/sast-js/case", "command-injection", (116, 118), (10, 17), (2, 5)),
    xast("Go", "xast-go/sast-go/cases", "command-injection", (100, 120), (10, 16), (0, 3)),
    Suite(
        "OWASP", "owasp/src/main", ("owasp.py", "{tree}/../../expectedresults-1.2.csv", "{sarif}"),
        # The audit tier's check is named: one of the categories is what it finds.
        (Measure("mean Youden", r"mean Youden ([+-][\d.]+)", 0.60, 0.90),), "security,trust-boundary",
    ),
    Suite(
        "PyCG", "pycg/micro-benchmark/snippets", ("pycg.py", "{tree}", *ANALYZE, "callgraph"),
        (
            Measure("complete", r"complete (\d+)", 112, 117),
            Measure("sound", r"sound (\d+)", 108, 116),
            Measure("exact", r"exact (\d+)", 105, 115),
        ),
    ),
    Suite("PointerBench", "pointerbench", ("pointerbench.py", "{tree}"), RIGHT),
    Suite("SVF", "svf/src", ("svf.py", "{tree}"), RIGHT),
    *(
        Suite(
            f"Juliet {cwe}", "juliet", ("juliet.py", "{tree}", "{sarif}", cwe),
            (Measure("Youden", r"mean Youden ([+-][\d.]+)", 0.5, 0.85),), f"cwe-{cwe}",
            parts=("testcasesupport", f"testcases/CWE{cwe}_*"), without=("*.cpp",),
        )
        for cwe in JULIET_CWES
    ),
)  # fmt: skip


def main() -> int:
    arguments = parsed()
    table = Table("suite", "measure", "value", "floor", "aim", "seconds")
    below = 0
    for suite in SUITES:
        if arguments.only and suite.name not in arguments.only:
            continue
        if not (arguments.suites / suite.tree).is_dir():
            table.add_row(suite.name, "", "missing", "", "", "")
            below += 1
            continue
        with scanned_tree(arguments.suites / suite.tree, suite.parts, suite.without) as tree:
            began = perf_counter()
            said = score(suite, tree, arguments.scorers, arguments.keep)
        seconds = f"{perf_counter() - began:.0f}"
        for measure in suite.measures:
            value, shown = found(measure, said)
            below += value < measure.floor
            table.add_row(suite.name, measure.name, shown, f"{measure.floor:g}", f"{measure.aim:g}", seconds)
            print(suite.name, measure.name, shown, f"({seconds} s)", file=sys.stderr, flush=True)
    Console(width=100).print(table)
    return 1 if below else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suites", type=Path, metavar="SUITES")
    parser.add_argument("--scorers", type=Path, required=True, metavar="DIR")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[suite.name for suite in SUITES])
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep reports, and what scorers say, here")
    return parser.parse_args()


@contextmanager
def scanned_tree(top: Path, parts: tuple[str, ...], without: tuple[str, ...]) -> Iterator[Path]:
    """The tree itself, or one of hard links to the files of some directories in it."""
    if not parts:
        yield top
        return
    with TemporaryDirectory(dir=top.parent) as place:
        for part in parts:
            for directory in sorted(top.glob(part)):
                ignored = shutil.ignore_patterns(*without)
                shutil.copytree(directory, Path(place, directory.name), ignore=ignored, copy_function=os.link)
        yield Path(place)


def score(suite: Suite, tree: Path, scorers: Path, keep: Path | None) -> str:
    """What the scorer prints of a scan; the same, with the failures that it names, goes to a file in `keep`."""
    scorer, *given = suite.scorer
    program = HERE / scorer if (HERE / scorer).exists() else scorers / scorer
    with TemporaryDirectory() as scratch:
        place = keep or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        sarif = place / f"{suite.name}.sarif"
        if suite.rules:
            models = ["--models", str(HERE / suite.models)] if suite.models else []
            scan = [*ANALYZE, "scan", str(tree), "--rules", suite.rules, *models, "--format", "sarif", "-o", str(sarif)]
            # 3: lines of some file could not be parsed, as in Juliet's std_thread.c.
            run(scan, expected=(0, 1, 3))
        words = [word.format(tree=tree, sarif=sarif) for word in given]
        said = run([sys.executable, str(program), *words, *(["--failed"] if scorer == "xast.py" else [])])
        if keep:
            (place / f"{suite.name}.txt").write_text(said)
    return said


def run(command: list[str], expected: tuple[int, ...] = (0,)) -> str:
    """What a program prints. Ends the run if the program fails."""
    top = HERE.parents[1]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(top)}, check=False
    )  # fmt: skip
    if done.returncode not in expected:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def found(measure: Measure, said: str) -> tuple[float, str]:
    """A number and how it is shown: a share where the floor is one and there is a total."""
    match = re.search(measure.pattern, said)
    if match is None:
        return -1.0, "not printed"
    value = float(match[1])
    total = match[2] if match.re.groups == 2 else ""
    if total and measure.floor < 1 < float(total) and measure.aim < 1:
        return value / float(total), f"{value / float(total):.1%} ({match[1]}/{total})"
    return value, f"{match[1]}/{total}" if total else match[1]


if __name__ == "__main__":
    sys.exit(main())
