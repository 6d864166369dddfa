"""Tests of checks: the examples in their pages against what the comments there expect.

`expect: id` and `missing: id` mark lines where the check should report, `ok: id` and `spurious: id` lines where it
should not; `missing` and `spurious` are known mistakes, and that they are mistakes still is part of the test. Every
finding of the example's own check needs a mark.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import facts
from analyzer.evaluation.rulebook import all_checks, files_on_disk, select
from analyzer.extraction.collect_facts import silent
from analyzer.report import Finding, Problem
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree
from rules.catalogue import Check

MARK = re.compile(r"\b(expect|ok|spurious|missing):\s*([\w/-]+(?:\s*,\s*[\w/-]+)*)")


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """The result of one example. `problems` are differences from its marks."""

    name: str
    problems: tuple[str, ...]
    known_spurious: int
    known_missing: int

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class _Example:
    """An example of a check: its path, the language whose rules it is for, and its code."""

    name: str
    check: Check
    language: str
    code: str


def run_rule_tests(
    selectors: Sequence[str], rules_dirs: Sequence[Path] = (), models: Sequence[Path] = ()
) -> list[ExampleResult]:
    """Scan the examples of checks, those of each language as a tree of their own. Raises AnalyzeError.

    Checks are those selected; without selectors those of `rules_dirs`, or all where none is given. A check without an
    example that can be scanned fails, and so does the file of a rule or model that is left out.
    """
    checks = select(all_checks(rules_dirs), selectors)
    if rules_dirs and not selectors:
        own = {file.name for file in files_on_disk((), rules_dirs)}
        checks = [check for check in checks if check.file.name in own]
    examples = [example for check in checks for example in _examples(check)]
    trees = defaultdict[str, list[_Example]](list)
    for example in examples:
        trees[example.language].append(example)
    flags = {"rules": tuple(check.id for check in checks)}
    request = ScanRequest(Path("."), None, flags, tuple(models), tuple(rules_dirs))
    found, problems = list[Finding](), dict[Problem, None]()
    for language in sorted(trees) or [""]:  # Without examples, a scan tells of files that are wrong.
        tree = MemoryTree({each.name: each.code.encode() for each in trees[language]}, "examples")
        report = scan_tree(tree, request, silent).report
        found += report.findings
        problems.update(dict.fromkeys(report.problems))
    names = {each.name for each in examples}
    untested = [check for check in checks if not any(check is each.check for each in examples)]
    results = [ExampleResult(check.file.name, (_why_untested(check),), 0, 0) for check in untested]
    left_out = [problem for problem in problems if problem.level == "error" and problem.file not in names]
    results += [ExampleResult(_place(problem), (_said(problem),), 0, 0) for problem in left_out]
    return results + [_compare(each, found, problems) for each in examples]


def _why_untested(check: Check) -> str:
    page = Path(check.file.name).with_suffix(".md").name
    if not check.help:
        return f"the check has no page: write {page} beside it, with examples"
    return f"{page} has no example in a language that is analysed"


def _place(problem: Problem) -> str:
    return ":".join(str(part) for part in (problem.file or "rules", problem.line, problem.column) if part)


def _said(problem: Problem) -> str:
    return problem.message + (f" ({problem.help})" if problem.help else "")


def _examples(check: Check) -> Iterator[_Example]:
    """Yield every example that an extractor reads."""
    for number, (name, code) in enumerate(check.examples, 1):
        if language := facts.LANGUAGES.get(name):
            path = f"{check.id.replace('/', '_')}/example{number}/app{language.suffixes[0]}"
            yield _Example(path, check, language.read_by, code)


def _compare(example: _Example, findings: Sequence[Finding], problems: Iterable[Problem]) -> ExampleResult:
    name, check, code = example.name, example.check, example.code
    found = {finding.place.line for finding in findings if finding.place.file == name and finding.check == check.id}
    marks = {kind: set(_marked(code, kind, check.id)) for kind in ("expect", "ok", "spurious", "missing")}
    said = [f"line {line}: expected, not found" for line in sorted(marks["expect"] - found)]
    said += [f"line {line}: found, not expected" for line in sorted(found - marks["expect"] - marks["spurious"])]
    said += [f"line {line}: marked spurious, but not found any more" for line in sorted(marks["spurious"] - found)]
    said += [f"line {line}: marked missing, but found" for line in sorted(marks["missing"] & found)]
    said += [problem.message for problem in problems if problem.file == name]
    if not any(marks.values()):
        said.append("no line is marked: nothing is tested")
    return ExampleResult(name, tuple(said), len(marks["spurious"]), len(marks["missing"]))


def _marked(code: str, kind: str, check: str) -> Iterator[int]:
    for number, line in enumerate(code.split("\n"), 1):
        for found, names in MARK.findall(line):
            if found == kind and check in re.split(r"\s*,\s*", names):
                yield number
