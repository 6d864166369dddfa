"""A batch on the terminal: progress, then a summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from analyzer.escaping import printable
from analyzer.report import SEVERITIES
from cli.terminal import console

if TYPE_CHECKING:
    from rich.console import Console, Group, JustifyMethod
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from analyzer.batch.batch_summary import RepositoryCount, Summary

STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
STATUS_STYLES = {"failed": "bold red", "incomplete": "yellow", "complete": "green"}
MAX_RUNNING, MAX_ROWS = 8, 10


class BatchBars:
    """Progress on standard error if that is a terminal; removed when the batch ends."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._began = time.monotonic()
        self._at_first: int | None = None
        if sys.stderr.isatty():
            from rich.live import Live

            self._live = Live(console=console(stderr=True), transient=True, refresh_per_second=4)

    def phase(self, phase: str, done: int, total: int | None) -> None:
        """Show a phase before or after the scans."""
        if self._live:
            from rich.text import Text

            self._live.update(Text(f"{phase} …" if total is None else f"{phase} {done:,} of {total:,}"))

    def watch(self, done: int, total: int, running: Mapping[str, float]) -> None:
        """Show the number of repositories done, and those running."""
        if self._live:
            if self._at_first is None:
                self._at_first, self._began = done, time.monotonic()
            self._live.update(self._shown(done, total, running))

    def _shown(self, done: int, total: int, running: Mapping[str, float]) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 1))
        head.add_row(
            "Repositories", ProgressBar(total, done, width=40), f"{done:,} of {total:,}", self._left(done, total)
        )
        now = time.time()
        longest = sorted(running.items(), key=lambda item: item[1])
        lines = [Text(f"  {max(0, now - since):6.0f} s  {name}", style="dim") for name, since in longest[:MAX_RUNNING]]
        if longest[MAX_RUNNING:]:
            lines.append(Text(f"  and {len(longest) - MAX_RUNNING} more", style="dim"))
        return Group(head, *lines)

    def _left(self, done: int, total: int) -> str:
        """Return the elapsed time and, once some are done, an estimate of the remaining time."""
        elapsed_s = time.monotonic() - self._began
        fresh = done - (self._at_first or 0)
        text = clock(elapsed_s)
        return f"{text}, about {clock(elapsed_s / fresh * (total - done))} left" if fresh else text

    def __enter__(self) -> BatchBars:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()


def clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}"


def print_summary(summary: Summary, console: Console) -> None:
    """Print findings by check and by repository, the slowest repositories, and failures."""
    from rich.text import Text

    for table in (rule_table(summary), repository_table(summary), slowest_table(summary), failure_table(summary)):
        if table.row_count:
            console.print()
            console.print(table)
    console.print()
    for label, text in lines(summary).items():
        console.print(Text.assemble((f" {label:<14}", "bold"), text))
    console.print()


def lines(summary: Summary) -> dict[str, str]:
    """Return the last lines of the summary by label."""
    n = {status: len(summary.by_status(status)) for status in STATUS_STYLES}
    shared = summary.contents - summary.distinct_contents
    from cli.text import plural

    found = {
        "Repositories": f"{len(summary.repositories):,}: {n['complete']:,} complete, {n['incomplete']:,} incomplete, "
        f"{n['failed']:,} failed",
        "Files": f"{summary.contents:,}, {summary.distinct_contents:,} different; {summary.extracted:,} extracted "
        f"({plural(shared, 'extraction')} saved by sharing, "
        f"{max(0, summary.distinct_contents - summary.extracted):,} by facts from before)",
        "Time": time_line(summary),
        "Output": str(summary.output),
    }
    return {label: text for label, text in found.items() if text}


def time_line(summary: Summary) -> str:
    """Return the duration of the last run and the utilisation of its Spark slots, as text."""
    run = summary.run
    if "busy_s" not in run:
        return ""
    busy = run["busy_s"] / (run["slots"] * run["tasks_s"]) if run["tasks_s"] else 0.0
    text = f"{run['elapsed_s']:.1f} s; {run['scanned']:,} scanned in {run['tasks_s']:.1f} s"
    return f"{text}, {run['slots']} at once, {busy:.0%} busy"


def titled(title: str, *columns: tuple[str, JustifyMethod]) -> Table:
    """Return an empty table; columns are (name, "left" or "right")."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, header_style="dim")
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")
    return table


def rule_table(summary: Summary) -> Table:
    from rich.text import Text

    table = titled(
        "Findings by rule", ("Check", "left"), ("", "left"), ("Findings", "right"), ("Repositories", "right")
    )
    for rule in summary.rules[:MAX_ROWS]:
        severity = Text(rule.severity, style=STYLES[rule.severity])
        table.add_row(printable(rule.rule), severity, f"{rule.findings:,}", f"{rule.repositories:,}")
    return and_more(table, len(summary.rules))


def repository_table(summary: Summary) -> Table:
    counts: list[tuple[str, JustifyMethod]] = [(f"{name.capitalize()}s", "right") for name in reversed(SEVERITIES)]
    table = titled("Findings by repository", ("Repository", "left"), ("Lines", "right"), *counts, ("", "left"))
    ordered = sorted(summary.repositories, key=lambda item: (-item.error, -item.warning, -item.note, item.name))
    for item in ordered[:MAX_ROWS]:
        numbers = (f"{getattr(item, name):,}" for name in reversed(SEVERITIES))
        table.add_row(printable(item.name), f"{item.lines:,}", *numbers, status(item))
    return and_more(table, len(ordered))


def slowest_table(summary: Summary) -> Table:
    table = titled("Slowest", ("Repository", "left"), ("Lines", "right"), ("Seconds", "right"), ("Peak MB", "right"))
    for item, costs in summary.slowest(5):
        seconds, peak = f"{costs['elapsed_s']:.1f}", f"{costs['peak_bytes'] / 2**20:,.0f}"
        table.add_row(printable(item.name), f"{item.lines:,}", seconds, peak)
    return table


def failure_table(summary: Summary) -> Table:
    table = titled("Not analysed, or not whole", ("Repository", "left"), ("", "left"), ("Why", "left"))
    for item in (*summary.by_status("failed"), *summary.by_status("incomplete")):
        table.add_row(printable(item.name), status(item), printable(item.reason))
    return table


def and_more(table: Table, total: int) -> Table:
    if total > MAX_ROWS:
        table.caption, table.caption_justify = f"  and {total - MAX_ROWS:,} more: see summary.html", "left"
    return table


def status(item: RepositoryCount) -> Text:
    from rich.text import Text

    return Text(item.status, style=STATUS_STYLES[item.status])
