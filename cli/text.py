"""The text report: findings by check with code frames and paths, then a summary with coverage.

Everything that comes from scanned files passes `printable` first: a source line cannot move the cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from analyzer.escaping import printable
from analyzer.report import SEVERITIES, Check, Finding, Problem, Report, Step
from cli.terminal import console

if TYPE_CHECKING:
    from analyzer.scan import ScanResult

STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
MAX_FRAMED = 10
MAX_STEPS_SHOWN = 12
SUMMARY_INDENT = 12


def render_text(result: ScanResult, console: Console) -> None:
    """Print findings, most severe first, and the summary."""
    print_findings(result.report, result.report.open_findings, console)
    _print_summary(result, console)


def print_findings(
    report: Report, findings: Iterable[Finding], console: Console, notes: Mapping[str, str] | None = None
) -> None:
    """Print findings of a report by check, the most severe first; `notes` are shown below those with a fingerprint."""
    rank = {check.id: (-SEVERITIES.index(check.severity), check.id) for check in report.checks}
    ordered = sorted(findings, key=lambda finding: rank[finding.check])
    for check_id, group in groupby(ordered, key=lambda finding: finding.check):
        _print_check(report.check(check_id), list(group), console, notes or {})


def _print_check(check: Check, findings: list[Finding], console: Console, notes: Mapping[str, str]) -> None:
    """Print a check with its summary, then its findings: those beyond MAX_FRAMED one per line, without frames."""
    console.print()
    console.print(_heading(check, console.width))
    if check.summary:
        _print_wrapped(Text("  "), Text(check.summary, style="dim"), console)
    for finding in findings[:MAX_FRAMED]:
        console.print()
        # A place is whole, however long: it is what terminals and editors follow.
        console.print(Text.assemble("  ", (printable(str(finding.place)), "bold")), soft_wrap=True)
        for line in _finding_lines(finding, check, console.width):
            _print_line(line, console)
        if note := notes.get(finding.fingerprint):
            console.print()
            _print_wrapped(Text("    "), Text(printable(note), style="italic"), console)
    if findings[MAX_FRAMED:]:
        console.print()
    for finding in findings[MAX_FRAMED:]:
        place, message = printable(str(finding.place)), printable(finding.message)
        console.print(Text.assemble("  ", (place, "bold"), "  ", message), soft_wrap=True)


def _print_line(line: Text, console: Console) -> None:
    """Print one line, truncated to the console's width, without trailing spaces."""
    line.rstrip()
    console.print(line, no_wrap=True, overflow="ellipsis", crop=True)


def _print_wrapped(head: Text, text: Text, console: Console) -> None:
    """Print `head` and wrapped text with a hanging indent."""
    for line in text.wrap(console, max(20, console.width - head.cell_len)):
        _print_line(Text.assemble(head, line), console)
        head = Text(" " * head.cell_len)


def _heading(check: Check, width: int) -> Text:
    """Return `error ─ name ───── id · CWE-n`, as wide as the console; the id has its own line if it does not fit."""
    left = Text.assemble((f" {check.severity} ", f"{STYLES[check.severity]} reverse"), " ", (check.name, "bold"), " ")
    reference = " · ".join([check.id, *(f"CWE-{cwe}" for cwe in check.cwe)])
    room = width - left.cell_len - len(reference) - 1
    if room < 2:
        left.rstrip()
        return Text.assemble(left, "\n", (f"  {reference}", "dim"))
    return Text.assemble(left, ("─" * room, "dim"), " ", (reference, "dim"))


def _finding_lines(finding: Finding, check: Check, width: int) -> Iterator[Text]:
    style = STYLES[check.severity]
    for line in Text(printable(finding.message)).wrap(_measure(), max(20, width - 4)):
        yield Text.assemble("  ", line)
    if finding.frame:
        yield Text()
        yield from _frame(finding, style, width)
    if finding.path and len(_one_a_line(finding.path)) > 1:
        yield Text()
        yield from _path(finding.path, width)


def _measure() -> Console:
    """Return a console for measuring text."""
    return console(width=200, color_system=None)


def _frame(finding: Finding, style: str, width: int) -> Iterator[Text]:
    """Yield the source lines around a finding with its columns underlined."""
    place = finding.place
    digits = max(4, len(str(finding.frame_line + len(finding.frame) - 1)))
    room = width - digits - 7
    for offset, source in enumerate(finding.frame):
        number = finding.frame_line + offset
        inside = place.line <= number <= place.end_line
        mark = ("  ▸ ", style) if number == place.line else ("    ", "")
        first, last = _columns(finding, number, source)
        shown, shift = _window(printable(source), first, room)
        yield Text.assemble(
            mark, (f"{number:>{digits}}", "" if inside else "dim"), (" │ ", "dim"), (shown, "" if inside else "dim")
        )
        if inside and last > first:
            caret = " " * (first - shift) + "~" * max(1, min(last - first, room - (first - shift)))
            yield Text.assemble(" " * (digits + 4), (" │ ", "dim"), (caret, style))


def _columns(finding: Finding, number: int, source: str) -> tuple[int, int]:
    """Return the 0-based start and end column of the finding on that line, with tabs expanded."""
    place = finding.place
    indent = len(source) - len(source.lstrip())
    first = place.column - 1 if number == place.line else indent
    last = place.end_column - 1 if number == place.end_line else len(source.rstrip())
    return len(printable(source[:first])), len(printable(source[:last]))


def _window(text: str, first: int, room: int) -> tuple[str, int]:
    """Return a part of the line that includes column `first`, and the number of columns cut on its left."""
    if len(text) <= room:
        return text, 0
    shift = 0 if first < room - 20 else max(0, first - room // 3)
    part = text[shift : shift + room]
    head = "…" + part[1:] if shift else part
    return (head[:-1] + "…" if shift + room < len(text) else head), shift


def _path(path: tuple[Step, ...], width: int) -> Iterator[Text]:
    """Yield the steps from source to sink, joined by a line; long paths are shortened in the middle."""
    path = _one_a_line(path)
    steps = list(enumerate(path, 1))
    hidden = len(steps) - MAX_STEPS_SHOWN
    half = MAX_STEPS_SHOWN // 2
    places = [f"{step.place.file}:{step.place.line}" for step in path]
    column = min(max(map(len, places)), max(16, width // 3))
    for number, step in steps:
        if hidden > 0 and half < number <= half + hidden:
            if number == half + 1:
                yield Text(f"    ┊ {hidden} more steps", style="dim")
            continue
        joint = "●" if number == 1 else "▼" if number == len(steps) else "│"
        place = printable(_tail(places[number - 1], column))
        code = printable(step.code.strip())
        message = ("  " + printable(step.message), "italic cyan") if step.message else ""
        yield Text.assemble((f"    {joint} ", "dim"), (f"{place:<{column}}", "cyan"), "  ", code, message)


def _one_a_line(path: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps, with consecutive steps on one line merged and their messages joined."""
    shown: list[Step] = []
    for step in path:
        last = shown[-1] if shown else None
        if last and (last.place.file, last.place.line) == (step.place.file, step.place.line):
            messages = dict.fromkeys(message for message in (last.message, step.message) if message)
            shown[-1] = replace(last, message=", ".join(messages))
        else:
            shown.append(step)
    return tuple(shown)


def _tail(place: str, width: int) -> str:
    return place if len(place) <= width else "…" + place[len(place) - width + 1 :]


def _print_summary(result: ScanResult, console: Console) -> None:
    report = result.report
    rows = {"Findings": _findings_row(report)} | looked_at_rows(report)
    print_summary(report, rows | {"Time": time_row(result.phases_s)}, console)


def looked_at_rows(report: Report) -> dict[str, Text]:
    rows = {"Files": _files_row(report), "Lines": _lines_row(report), "Calls": _calls_row(report)}
    if report.coverage.coarsened:
        rows["Coarser"] = _coarser_row(report)
    if report.coverage.n_weaker:
        more = plural(report.coverage.n_weaker, "more finding")
        rows["Audit"] = Text(f"{more} with --tier audit, by paths that prove less", style="dim")
    return rows


def print_summary(report: Report, rows: Mapping[str, Text], console: Console) -> None:
    """Print the rows of a summary, and the report's notes."""
    console.print()
    console.print(Rule(style="dim"))
    for label, row in rows.items():
        _print_wrapped(Text(f" {label:<{SUMMARY_INDENT - 1}}", style="bold"), row, console)
    notes = list(_notes(report, console.width))
    if notes:
        console.print()
    for head, note in notes:
        if console.is_terminal:
            _print_wrapped(Text(head), note, console)
        else:  # A path that is broken in two is found by nobody.
            console.print(Text.assemble(head, note), soft_wrap=True)
    console.print()


def _findings_row(report: Report) -> Text:
    suppressed = len(report.findings) - len(report.open_findings)
    row = severities_row(report.severities())
    if suppressed:
        row.append(f"   ({suppressed} suppressed)", style="dim")
    return row


def severities_row(counts: Mapping[str, int]) -> Text:
    """Return the number of findings by severity, or "none"."""
    parts = [(plural(counts[name], name), STYLES[name]) for name in reversed(SEVERITIES) if counts.get(name)]
    if not parts:
        return Text("none", style="bold green")
    return Text(" · ").join(Text(text, style=style) for text, style in parts)


def _files_row(report: Report) -> Text:
    coverage = report.coverage
    row = Text(f"{coverage.parsed:,} parsed")
    if coverage.unparsed:
        row.append(f" · {len(coverage.unparsed):,} partly parsed", style="yellow")
    failed = {problem.file for problem in report.problems if problem.file and problem.level == "error"}
    if failed:
        row.append(f" · {len(failed):,} not analysed", style="red")
    skipped = [f"{len(files):,} {reason}" for reason, files in sorted(coverage.skipped.items())]
    if skipped:
        row.append(f" · skipped: {', '.join(skipped)}", style="dim")
    if coverage.generated:
        left_out = plural(sum(coverage.generated.values()), "finding")
        row.append(f" · {len(coverage.generated):,} generated: {left_out} left out", style="dim")
    return row


def _lines_row(report: Report) -> Text:
    languages = ", ".join(plural(count, f"{name} file") for name, count in sorted(report.coverage.languages.items()))
    return Text.assemble(f"{report.coverage.lines:,}", (f"   ({languages})" if languages else "", "dim"))


def _calls_row(report: Report) -> Text:
    coverage = report.coverage
    total = coverage.calls_resolved + coverage.calls_by_name + coverage.calls_unresolved
    share = f" ({coverage.calls_resolved / total:.0%})" if total else ""
    row = Text(f"{coverage.calls_resolved:,} resolved{share}")
    row.append(f" · {coverage.calls_by_name:,} by name only · {coverage.calls_unresolved:,} unresolved", style="dim")
    return row


COARSER = {
    "hub": ("{:,} function called from very many places", "{:,} functions called from very many places"),
    "maker": ("{:,} class made in many places", "{:,} classes made in many places"),
    "path": ("{:,} value deeper than paths of keys", "{:,} values deeper than paths of keys"),
}


def _coarser_row(report: Report) -> Text:
    found = report.coverage.coarsened.items()
    return Text(" · ".join(COARSER[kind][each.count != 1].format(each.count) for kind, each in found), style="dim")


def time_row(phases_s: Mapping[str, float]) -> Text:
    phases = " · ".join(f"{name} {seconds:.1f}" for name, seconds in phases_s.items() if seconds >= 0.05)
    row = Text(f"{sum(phases_s.values()):.1f} s")
    return row.append(f"   ({phases})", style="dim") if phases else row


def _notes(report: Report, width: int) -> Iterator[tuple[str, Text]]:
    """Yield problems, files with syntax errors and unused suppressions, as (line prefix, text)."""
    for problem in report.problems:
        at = ":".join(str(part) for part in (problem.file, problem.line, problem.column) if part)
        message = problem.message + (f", at {', '.join(map(str, problem.places))}" if problem.places else "")
        yield " ", _note(problem.level, at and f"{at} ", message)
        yield from (("   ", line) for line in _code_of(problem, width))
    for file, lines in report.coverage.unparsed.items():
        shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
        text = f"syntax errors: no facts from {plural(len(lines), 'line')} ({shown})"
        yield " ", _note("warning", f"{file}:{lines[0]} ", text)
    for unused in report.unused_suppressions:
        rules = ", ".join(unused.rules) or "every rule"
        yield " ", _note("note", f"{unused.file}:{unused.line} ", f"unused suppression of {rules}")
    if not report.complete:
        yield " ", Text("Incomplete: something was not analysed (exit code 3).", style="bold yellow")


def _code_of(problem: Problem, width: int) -> Iterator[Text]:
    """Yield the source line of a problem with its columns underlined, and the help."""
    if problem.code:
        gutter, style = f"{problem.line} │ ", STYLES[problem.level]
        first = len(printable(problem.code[: max(0, problem.column - 1)]))
        last = len(printable(problem.code[: max(0, problem.end_column - 1)]))
        shown, shift = _window(printable(problem.code), first, max(20, width - len(gutter) - 4))
        yield Text.assemble((gutter, "dim"), shown)
        if problem.column:
            caret = " " * (first - shift) + "^" * max(1, min(last, shift + len(shown)) - first)
            yield Text.assemble((" " * (len(gutter) - 2) + "│ ", "dim"), (caret, style))
    if problem.help:
        yield Text.assemble(("help: ", "bold"), printable(problem.help))


def _note(level: str, place: str, message: str) -> Text:
    return Text.assemble((f"{level}: ", STYLES[level]), (printable(place), "bold"), printable(message))


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)
