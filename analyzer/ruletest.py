"""Tests of checks: the examples in their pages against what the comments there expect.

`expect: id` and `missing: id` mark lines where the check should report, `ok: id` and `spurious: id` lines where it
should not; `missing` and `spurious` are known mistakes, and that they are mistakes still is part of the test. Every
finding of the example's own check needs a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import facts
from analyzer.collect import silent
from analyzer.report import Finding, Problem
from analyzer.rulebook import all_checks, select
from analyzer.scan import ScanRequest, scan_tree
from analyzer.trees import MemoryTree
from rules.catalogue import Check

MARK = re.compile(r"\b(expect|ok|spurious|missing):\s*([\w/-]+(?:\s*,\s*[\w/-]+)*)")


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """How one example went. `problems` say what differs from its marks."""

    name: str
    problems: tuple[str, ...]
    known_spurious: int
    known_missing: int

    @property
    def ok(self) -> bool:
        return not self.problems


def run_rule_tests(selectors: Sequence[str], rules_dirs: Sequence[Path] = ()) -> list[ExampleResult]:
    """Scan the examples of the selected checks, each as a repository of its own directory. Raises AnalyzeError."""
    checks = select(all_checks(rules_dirs), selectors)
    examples = {name: (check, code) for check in checks for name, code in _examples(check)}
    tree = MemoryTree({name: code.encode() for name, (_, code) in examples.items()}, "examples")
    flags = {"rules": tuple(check.id for check in checks)}
    report = scan_tree(tree, ScanRequest(Path("."), None, flags, (), tuple(rules_dirs)), silent).report
    return [_compare(name, check, code, report.findings, report.problems) for name, (check, code) in examples.items()]


def _examples(check: Check) -> Iterator[tuple[str, str]]:
    """Yield a path and the code of every example that an extractor reads."""
    suffixes = {language.name: language.suffixes[0] for language in facts.LANGUAGES.values()}
    for number, (language, code) in enumerate(check.examples, 1):
        if language in suffixes:
            yield f"{check.id.replace('/', '_')}/example{number}/app{suffixes[language]}", code


def _compare(
    name: str, check: Check, code: str, findings: Sequence[Finding], problems: Sequence[Problem]
) -> ExampleResult:
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
