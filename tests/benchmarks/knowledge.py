#!/usr/bin/env python3
"""Prints what suites of known flaws say of our models and checks, beside floors; exits with 1 if one is missed.

    knowledge.py --suites DIR --scorers DIR --data FILE [--code DIR …] [--only NAME …] [--keep DIR]

DIR of --suites holds checkouts by the names of their repositories: `semgrep-rules`, `bandit`, `gosec`,
`securibench-micro`, and `apps` with a folder an application. --data is the table of the applications' flaws. Of each
DIR of --code, ordinary code, the findings of the audit tier are counted. What is scanned is a copy without history, so
that reports name files as scorers do, and without the marks that are wrong (`wrong_truths.tsv`); `--as-is` counts them,
too. A suite that is not there is said to be missing. The suites that measure taint, points-to and call graphs follow in
a table of their own (tests/precision/table.py says by which names); `--only` may name `precision`, too.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from operator import ge, le
from pathlib import Path
from tempfile import TemporaryDirectory

from wrong_truths import without_wrong_marks

TOP = Path(__file__).resolve().parents[2]
LANGUAGES = ("python", "java", "javascript", "go", "c")
LINES_FOR_ONE_FINDING = 200
CODE = (".py", ".java", ".js", ".jsx", ".ts", ".tsx", ".go", ".c", ".h")


@dataclass(frozen=True)
class Measure:
    """A share of two numbers that a scorer prints, by their positions, and the bound that it must keep."""

    name: str
    positions: tuple[int, int]
    bound: float
    keeps: str = "at least"
    as_share: bool = False

    def row(self, numbers: list[int]) -> tuple[bool, str]:
        """Whether the bound is kept, and the line of the table."""
        part, whole = (numbers[at] for at in self.positions)
        value = part / max(1, whole) if self.as_share else part
        kept = (ge if self.keeps == "at least" else le)(value, self.bound)
        shown = f"{part}/{whole}" + (f" {value:.1%}" if self.as_share else "")
        bound = f"{self.bound:.1%}" if self.as_share else f"{self.bound:g}"
        return kept, line(self.name, shown, f"{self.keeps} {bound}", "" if kept else "MISSED")


@dataclass(frozen=True)
class Suite:
    """A tree below the suites, the tier of its scan, and its scorer: `{tree}` and `{report}` stand for paths.

    `same` has checks that the scorer does not know, with those that mean the same.
    """

    name: str
    tree: str
    tier: str
    scorer: tuple[str, ...]
    measures: tuple[Measure, ...]
    same: tuple[tuple[str, str], ...] = ()


def semgrep(language: str) -> list[Suite]:
    scorer = ("semgrep.py", language, "{tree}", "{report}")
    tree, name = f"semgrep-rules/{language}", f"semgrep {language}"
    hit = Measure(f"{name}: ruleid hit, audit", (0, 1), 0.40, as_share=True)
    flagged = [
        Measure(f"{name}: ok flagged, {tier}", (2, 3), bound, "at most", as_share=True)
        for tier, bound in (("default", 0.025), ("audit", 0.10))
    ]
    return [
        Suite(name, tree, "default", scorer, (flagged[0],)),
        Suite(name, tree, "audit", scorer, (hit, flagged[1])),
    ]


# Its scorer names checks of the default tier alone; what they miss, those of the audit tier may tell of.
OF_AUDIT = (
    ("started-command", "command-injection"),
    ("assembled-sql", "sql-injection"),
    ("dynamic-address", "request-forgery"),
    ("dynamic-redirect", "open-redirect"),
    ("ordinary-random", "predictable-random"),
    ("unspecific-hash", "weak-hash"),
    ("old-tls", "certificate-check-off"),
    ("hard-coded-api-key", "hard-coded-credentials"),
)
SUITES = (
    *(suite for language in LANGUAGES for suite in semgrep(language)),
    Suite(
        "bandit", "bandit/examples", "audit", ("bandit.py", "{report}"),
        (Measure("Bandit's examples hit, audit", (0, 1), 340),),
    ),
    *(
        Suite(
            "gosec", "gosec", tier, ("gosec.py", "score", "{tree}.tsv", "{report}"),
            (
                *([Measure("gosec's samples: vulnerable found, audit", (0, 1), 205)] if tier == "audit" else []),
                Measure(f"gosec's samples: safe flagged, {tier}", (2, 3), 12, "at most"),
            ),
            OF_AUDIT,
        )
        for tier in ("default", "audit")
    ),
    Suite(
        "securibench", "securibench-micro", "default", ("securibench.py", "{tree}", "{report}"),
        (
            Measure("Securibench Micro: BAD found", (0, 1), 114 / 122, as_share=True),
            Measure("Securibench Micro: OK flagged", (2, 3), 4, "at most"),
        ),
    ),
)  # fmt: skip
FLAWS = Measure("documented flaws of applications, audit", (2, 3), 115)


def main() -> int:
    options = parsed()
    missed = 0
    print(line("measure", "figure", "floor", ""))
    with TemporaryDirectory() as scratch:
        keep = options.keep or Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        for suite in SUITES:
            if suite.name in (options.only or [suite.name]):
                missed += show(suite.measures, numbers_of(suite, options, keep))
        if "apps" in (options.only or ["apps"]):
            missed += show((FLAWS,), flaws_found(options, keep))
        for code in options.code:
            missed += density(code, keep)
    if "precision" in (options.only or ["precision"]):
        table = [TOP / "tests" / "precision" / "table.py", options.suites, "--scorers", options.scorers]
        missed += subprocess.run([sys.executable, *map(str, table)], stderr=subprocess.DEVNULL, check=False).returncode
    return 1 if missed else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--suites", type=Path, required=True, metavar="DIR")
    parser.add_argument("--scorers", type=Path, required=True, metavar="DIR")
    parser.add_argument("--data", type=Path, required=True, metavar="FILE")
    parser.add_argument("--code", type=Path, nargs="+", default=[], metavar="DIR")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[*{s.name: s for s in SUITES}, "apps", "code", "precision"]
    )
    parser.add_argument("--as-is", action="store_true", help="count marks that are known to be wrong, too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep reports here")
    return parser.parse_args()


def show(measures: tuple[Measure, ...], numbers: list[int] | None) -> int:
    """Print a line a measure; return how many bounds are missed."""
    missed = 0
    for measure in measures:
        kept, row = (False, line(measure.name, "missing", "", "MISSED")) if numbers is None else measure.row(numbers)
        missed += not kept
        print(row, flush=True)
    return missed


def numbers_of(suite: Suite, options: argparse.Namespace, keep: Path) -> list[int] | None:
    """Return what the scorer prints of a scan of the suite, or nothing where the suite is not there."""
    place = options.suites / suite.tree
    if not place.is_dir():
        return None
    report = keep / f"{suite.name.replace(' ', '-')}-{suite.tier}.sarif"
    with TemporaryDirectory() as scratch:
        tree = Path(scratch, suite.name)
        if suite.name == "gosec":
            run(sys.executable, options.scorers / "gosec.py", "extract", place, tree)
        else:
            copy(place, tree)
        if not options.as_is and (wrong := without_wrong_marks(suite.name, tree)):
            print(f"{suite.name}: without {wrong} wrong marks (wrong_truths.tsv)")
        scan(tree, suite.tier, report)
        rename(report, dict(suite.same))
        scorer, *given = suite.scorer
        words = [word.format(tree=tree, report=report) for word in given]
        return last_numbers(run(sys.executable, options.scorers / scorer, *words))


def rename(report: Path, same: dict[str, str]) -> None:
    """Give checks of a report the names of those that mean the same."""
    log = json.loads(report.read_text())
    for run_of_tool in log["runs"]:
        for rule in run_of_tool["tool"]["driver"]["rules"]:
            rule["id"] = same.get(rule["id"], rule["id"])
        for result in run_of_tool["results"]:
            result["ruleId"] = same.get(result["ruleId"], result["ruleId"])
    report.write_text(json.dumps(log))


def flaws_found(options: argparse.Namespace, keep: Path) -> list[int] | None:
    """Return what the scorer prints of scans of the applications."""
    applications = {row.partition("\t")[0] for row in options.data.read_text().splitlines()[1:]}
    places = [options.suites / "apps" / name for name in sorted(applications)]
    if not all(place.is_dir() for place in places):
        return None
    reports = keep / "apps"
    reports.mkdir(exist_ok=True)
    for place in places:
        with TemporaryDirectory() as scratch:
            tree = copy(place, Path(scratch, place.name))
            scan(tree, "audit", reports / f"{place.name}.sarif")
    return last_numbers(run(sys.executable, options.scorers / "apps.py", options.data, reports))


def density(code: Path, keep: Path) -> int:
    """Print how many lines there are to a finding of the audit tier; return whether there are too few."""
    files = [path for path in code.rglob("*") if path.suffix in CODE and path.is_file()]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    report = keep / f"code-{code.name}.json"
    scan(code, "audit", report, "json")
    findings = len(json.loads(report.read_text())["findings"])
    per_finding = lines / max(1, findings)
    kept = per_finding >= LINES_FOR_ONE_FINDING
    figure = f"{lines} / {findings} = {per_finding:.0f}"
    bound = f"at least {LINES_FOR_ONE_FINDING}"
    print(line(f"{code.name}: lines a finding, audit", figure, bound, "" if kept else "MISSED"), flush=True)
    return not kept


def copy(place: Path, to: Path) -> Path:
    return Path(shutil.copytree(place, to, ignore=shutil.ignore_patterns(".git"), symlinks=True))


def scan(tree: Path, tier: str, report: Path, form: str = "sarif") -> None:
    # 3: some file was not analysed, as a suite's broken ones.
    run(sys.executable, "-m", "cli", "scan", tree.name, "--tier", tier, "--format", form, "-o", report.resolve(),
        at=tree.parent, expected=(0, 1, 3))  # fmt: skip


def run(*command: object, at: Path | None = None, expected: tuple[int, ...] = (0,)) -> str:
    """Return what a program prints. Ends the run if the program fails."""
    words = [str(word) for word in command]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=at, check=False)
    if done.returncode not in expected:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def last_numbers(said: str) -> list[int]:
    return [int(word) for word in said.splitlines()[-1].split()]


def line(*cells: str) -> str:
    return "{:48} {:>18} {:>15} {}".format(*cells).rstrip()


if __name__ == "__main__":
    sys.exit(main())
