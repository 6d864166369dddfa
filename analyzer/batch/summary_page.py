"""The summary as one HTML page, `summary.html`."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analyzer.batch.batch_summary import Summary
from analyzer.report import SEVERITIES

MAX_RULES, MAX_REPOSITORIES, MAX_SLOWEST = 40, 100, 15


def render_page(summary: Summary) -> str:
    """Return the page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["grouped"] = "{:,}".format
    return environment.get_template("summary.html").render(
        summary=summary,
        name=summary.output.name,
        tiles=tiles(summary),
        unsound=[*summary.by_status("failed"), *summary.by_status("incomplete")],
        repositories=sorted(summary.repositories, key=lambda item: (-item.error, -item.warning, -item.note, item.name)),
        slowest=summary.slowest(MAX_SLOWEST),
        max_rules=MAX_RULES,
        max_repositories=MAX_REPOSITORIES,
    )


def tiles(summary: Summary) -> list[tuple[str, str, str]]:
    """Return the figures on top, with their labels and classes."""
    failed, incomplete = len(summary.by_status("failed")), len(summary.by_status("incomplete"))
    counts = {name: sum(getattr(item, name) for item in summary.repositories) for name in SEVERITIES}
    seconds = sum(costs["elapsed_s"] for costs in summary.costs.values())
    shown = [(counts[name], f"{name}s", name if counts[name] else "") for name in reversed(SEVERITIES)]
    shown += [(failed, "failed", "failed" if failed else "good")]
    shown += [(incomplete, "incomplete", "incomplete" if incomplete else "good")]
    shown += [(summary.contents - summary.distinct_contents, "files shared", "")]
    return [*((f"{n:,}", label, kind) for n, label, kind in shown), (duration(seconds), "of scans", "")]


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"
