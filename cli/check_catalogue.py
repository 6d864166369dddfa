"""Checks as text: the list, a check's page, and results of their tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from analyzer.escaping import json_text
from cli.terminal import console, say
from cli.text import STYLES, plural

if TYPE_CHECKING:
    from analyzer.report import Check
    from analyzer.ruletest import ExampleResult

UNBOUNDED = 10_000
"""Width for output that is not a terminal: lines are not wrapped."""


def print_checks(checks: Sequence[Check], format: str) -> None:
    """Print one row per check."""
    if format == "json":
        keys = ("id", "name", "severity", "precision", "cwe", "security_severity", "tags", "tier")
        say(json_text([{key: getattr(check, key) for key in keys} for check in checks]), nl=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("id", "tier", "severity", "precision", "CWE", "name"):
        table.add_column(column, no_wrap=column != "name")
    for check in checks:
        severity = Text(check.severity, style=STYLES[check.severity])
        table.add_row(check.id, check.tier, severity, check.precision, ", ".join(map(str, check.cwe)), check.name)
    shown = console()
    (shown if shown.is_terminal else console(width=UNBOUNDED)).print(table)


def print_check(check: Check) -> None:
    """Print a check's title and page: rendered on a terminal, else as Markdown source."""
    shown = console()
    references = [check.id, f"{check.tier} tier", f"{check.precision} precision", *(f"CWE-{cwe}" for cwe in check.cwe)]
    style = f"{STYLES[check.severity]} reverse"
    shown.print(Text.assemble((f" {check.severity} ", style), " ", (check.name, "bold")), soft_wrap=True)
    shown.print(Text(" · ".join(references), style="dim"), soft_wrap=True)
    shown.print()
    page = check.help or check.message
    if shown.is_terminal:
        shown.print(Markdown(page, hyperlinks=False))
    else:
        say(page.rstrip("\n"))
    if check.also:
        shown.print(Text("\nOther tools: " + ", ".join(check.also), style="dim"), soft_wrap=True)


def print_test_results(results: Iterable[ExampleResult]) -> int:
    """Print false negatives and false positives in examples. Return the exit code: 0 if all pass, else 1."""
    shown = console()
    failed = total = spurious = missing = 0
    for result in results:
        total += 1
        failed += not result.ok
        spurious += result.known_spurious
        missing += result.known_missing
        for problem in result.problems:
            shown.print(Text.assemble(("✗ ", "red"), (f"{result.name}: ", "bold"), problem), soft_wrap=True)
    known = f" ({spurious} known spurious, {missing} known missing)" if spurious or missing else ""
    shown.print(f"{plural(total, 'example')}: {total - failed} passed, {failed} failed{known}")
    return int(failed > 0)
