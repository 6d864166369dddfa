"""Deliver the comparison of two commits: as text, JSON or SARIF, to the terminal or a file."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from analyzer.escaping import printable
from analyzer.outputs.relative_paths import comparison_from_here
from cli.output import FILE_WIDTH, tell_incomplete, terminal, write_file
from cli.terminal import console, say
from cli.text import STYLES, looked_at_rows, print_findings, print_summary, severities_row, time_row

if TYPE_CHECKING:
    from rich.console import Console

    from analyzer.history.ci import CiResult
    from analyzer.report import Finding, Report, Weakening

SHOWN = 12
"""Number of hex digits of a commit hash that are shown."""


def deliver_comparison(result: CiResult, output: Path | None) -> None:
    """Write the comparison in its configured format."""
    if output:
        write_file(output, render_comparison(result))
    elif result.config.format == "text":
        return print_comparison(result, terminal())
    else:
        say(render_comparison(result), nl=False)
    tell_incomplete(result.comparison.head)


def render_comparison(result: CiResult) -> str:
    """Return the comparison in the configured format, free of terminal codes."""
    from analyzer import VERSION
    from analyzer.outputs import json_report, sarif

    comparison = result.comparison
    if result.config.format == "sarif":
        return sarif.render_sarif(comparison.head, VERSION, comparison)
    if result.config.format == "json":
        return json_report.render_comparison(comparison_from_here(comparison), VERSION)
    buffer = io.StringIO()
    print_comparison(result, console(file=buffer, width=FILE_WIDTH, color_system=None))
    return buffer.getvalue()


def print_comparison(result: CiResult, console: Console) -> None:
    """Print new findings in full, fixed ones a line each, and the summary."""
    comparison = comparison_from_here(result.comparison)
    report = comparison.head
    causes = {fingerprint: f"new by {cause}: {cause.how}" for fingerprint, cause in comparison.causes.items()}
    print_findings(report, comparison.new, console, causes)
    if comparison.fixed:
        console.print()
        console.print(Text(" fixed ", style="bold green reverse"))
        for finding in comparison.fixed:
            place, message = printable(str(finding.place)), printable(finding.message)
            line = Text.assemble("  ", (place, "bold"), "  ", message, (f"  {finding.check}", "dim"))
            console.print(line, soft_wrap=True)
    if comparison.weakened:
        console.print()
        console.print(Text(" taken away by this change ", style="bold yellow reverse"))
    for line in _weakened_lines(comparison.weakened):
        console.print(line, soft_wrap=True)
    rows = {
        "New": severities_row(_severities(comparison.new, report)),
        "Fixed": Text(f"{len(comparison.fixed):,}"),
        "Unchanged": Text(f"{len(comparison.unchanged):,}"),
        "Taken away": severities_row(Counter(item.severity for item in comparison.weakened)),
        "Commits": Text(f"{comparison.base[:SHOWN]} → {report.revision[:SHOWN]}"),
        "Evaluated": Text(f"{result.strategy}: {printable(result.reason)}"),
    }
    if comparison.added:
        rows["Once merged"] = Text(printable("; ".join(comparison.added)))
    print_summary(report, rows | looked_at_rows(report) | {"Time": time_row(result.phases_s)}, console)


def _weakened_lines(weakened: Iterable[Weakening]) -> Iterator[Text]:
    for item in weakened:
        place = f"{item.file}:{item.line}" if item.line else item.file
        yield Text.assemble(
            "  ",
            (item.severity, STYLES[item.severity]),
            *("  ", (printable(place), "bold")) if place else (),
            *("  ", printable(item.message), (f"  {printable(item.rule)}" if item.rule else "", "dim")),
        )


def _severities(findings: Iterable[Finding], report: Report) -> Counter[str]:
    return Counter(report.check(finding.check).severity for finding in findings)
