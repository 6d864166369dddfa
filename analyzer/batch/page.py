"""The summary as one HTML page that loads nothing: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from analyzer.batch.summary import RepositoryCount, Summary
from analyzer.report import SEVERITIES

MAX_RULES, MAX_REPOSITORIES, MAX_SLOWEST = 40, 100, 15
STYLE = """
:root { --ink: #1c2330; --soft: #667085; --line: #e4e7ec; --back: #f6f7f9; --card: #fff; --error: #d92d20;
  --warning: #dc8a04; --note: #2e86c1; --good: #159a5b; --bar: #7a8aa8 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #2d3442; --back: #12161d;
  --card: #1a202a; --error: #f97066; --warning: #fdb022; --note: #53b1fd; --good: #47cd89; --bar: #5b6b8a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--ink); font: 14px/1.5 system-ui, "Segoe UI", Roboto, sans-serif }
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 64px }
h1 { font-size: 24px; margin: 0 } h2 { font-size: 16px; margin: 0 0 12px }
.sub { color: var(--soft); margin: 4px 0 24px }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin-bottom: 20px } .tile { flex: 1 0 auto; min-width: 100px }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px }
.tile { padding: 14px 16px } .tile b { display: block; font-size: 22px; white-space: nowrap }
.tile span, .soft { color: var(--soft) }
section { padding: 18px 20px; margin-bottom: 20px; overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12px }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); vertical-align: middle }
tr:last-child td { border-bottom: 0 }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.w { width: 34% ; min-width: 140px; padding-right: 0 }
code { font: 13px ui-monospace, "Cascadia Mono", Menlo, monospace }
a { color: inherit }
.bar { display: flex; height: 12px; border-radius: 3px; overflow: hidden }
.bar i { display: block; height: 100% }
.error { color: var(--error) } .warning { color: var(--warning) } .note { color: var(--note) }
.good { color: var(--good) }
i.error { background: var(--error) } i.warning { background: var(--warning) } i.note { background: var(--note) }
i.time { background: var(--bar) }
.failed { color: var(--error); font-weight: 600 } .incomplete { color: var(--warning); font-weight: 600 }
.complete { color: var(--good) }
"""


def render_page(summary: Summary) -> str:
    """Return the page."""
    parts = [
        f"<h1>{escape(summary.output.name)}</h1>",
        f'<p class="sub">{escape(description(summary))}</p>',
        tiles(summary),
        failures(summary),
        rules(summary),
        repositories(summary),
        slowest(summary),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title(summary))}'
    return f"<!doctype html>\n<html lang=en><head>{head}</title><style>{STYLE}</style></head>\n<body><main>\n" + (
        "\n".join(filter(None, parts)) + "\n</main></body></html>\n"
    )


def title(summary: Summary) -> str:
    return f"{summary.output.name}: {len(summary.repositories)} repositories"


def description(summary: Summary) -> str:
    """Return what was scanned, in a line."""
    lines = sum(item.lines for item in summary.repositories)
    files = sum(item.files for item in summary.repositories)
    return f"analyze batch: {len(summary.repositories):,} repositories, {files:,} files, {lines:,} lines"


def tiles(summary: Summary) -> str:
    failed, incomplete = len(summary.by_status("failed")), len(summary.by_status("incomplete"))
    counts = {name: sum(getattr(item, name) for item in summary.repositories) for name in SEVERITIES}
    seconds = sum(costs["elapsed_s"] for costs in summary.costs.values())
    shown = [(counts[name], f"{name}s", name if counts[name] else "") for name in reversed(SEVERITIES)]
    shown += [(failed, "failed", "failed" if failed else "good")]
    shown += [(incomplete, "incomplete", "incomplete" if incomplete else "good")]
    shared = summary.contents - summary.distinct_contents
    shown += [(shared, "files shared", "")]
    cells = [tile(f"{n:,}", label, kind) for n, label, kind in shown]
    cells.append(tile(duration(seconds), "of scans"))
    return f'<div class="tiles">{"".join(cells)}</div>'


def tile(figure: str, label: str, kind: str = "") -> str:
    return f'<div class="tile"><b class="{kind}">{figure}</b><span>{label}</span></div>'


def failures(summary: Summary) -> str:
    rows = [
        [repository(item), status(item), escape(item.reason)]
        for item in (*summary.by_status("failed"), *summary.by_status("incomplete"))
    ]
    return section("Not analysed, or not whole", [("Repository", ""), ("Status", ""), ("Why", "")], rows)


def rules(summary: Summary) -> str:
    most = max((rule.findings for rule in summary.rules), default=1)
    rows = [
        [
            f"<code>{escape(rule.rule)}</code>",
            f'<span class="{rule.severity}">{rule.severity}</span>',
            f"{rule.findings:,}",
            f"{rule.repositories:,}",
            bar([(rule.severity, rule.findings)], most),
        ]
        for rule in summary.rules[:MAX_RULES]
    ]
    heads = [("Check", ""), ("Severity", ""), ("Findings", "n"), ("Repositories", "n"), ("", "w")]
    return section("Findings by rule", heads, rows, len(summary.rules) - MAX_RULES)


def repositories(summary: Summary) -> str:
    ordered = sorted(summary.repositories, key=lambda item: (-item.error, -item.warning, -item.note, item.name))
    most = max((item.findings for item in ordered), default=0) or 1
    rows = [
        [
            repository(item),
            f"<code>{escape(item.commit_hash[:10])}</code>",
            status(item),
            f"{item.lines:,}",
            *(f"{getattr(item, name):,}" for name in reversed(SEVERITIES)),
            bar([(name, getattr(item, name)) for name in reversed(SEVERITIES)], most),
        ]
        for item in ordered[:MAX_REPOSITORIES]
    ]
    heads = [("Repository", ""), ("Commit", ""), ("Status", ""), ("Lines", "n")]
    heads += [(f"{name.capitalize()}s", "n") for name in reversed(SEVERITIES)] + [("", "w")]
    return section("Findings by repository", heads, rows, len(ordered) - MAX_REPOSITORIES)


def slowest(summary: Summary) -> str:
    timed = summary.slowest(MAX_SLOWEST)
    most = max((costs["elapsed_s"] for _, costs in timed), default=0) or 1
    rows = [
        [
            repository(item),
            f"{item.lines:,}",
            f"{costs['elapsed_s']:.1f}",
            f"{costs['peak_bytes'] / 2**20:,.0f}",
            f"{costs['attempts']}",
            bar([("time", costs["elapsed_s"])], most),
        ]
        for item, costs in timed
    ]
    heads = [("Repository", ""), ("Lines", "n"), ("Seconds", "n"), ("Peak MB", "n"), ("Attempts", "n"), ("", "w")]
    return section("Slowest repositories", heads, rows)


def section(title: str, heads: list[tuple[str, str]], rows: Iterable[list[str]], left_out: int = 0) -> str:
    """A table under a title, or nothing where it has no rows; the columns have a class each."""
    body = [
        "".join(f'<td class="{kind}">{cell}</td>' for (_, kind), cell in zip(heads, row, strict=True)) for row in rows
    ]
    if not body:
        return ""
    head = "".join(f'<th class="{kind}">{name}</th>' for name, kind in heads)
    more = f'<p class="soft">and {left_out:,} more: see findings.sqlite</p>' if left_out > 0 else ""
    lines = "\n".join(f"<tr>{row}</tr>" for row in body)
    return f"<section><h2>{title}</h2><table><tr>{head}</tr>\n{lines}</table>{more}</section>"


def bar(parts: list[tuple[str, float]], whole: float) -> str:
    cells = [f'<i class="{kind}" style="width:{100 * n / whole:.2f}%"></i>' for kind, n in parts if n]
    return f'<div class="bar">{"".join(cells)}</div>'


def repository(item: RepositoryCount) -> str:
    """A name that leads to the SARIF log."""
    place = f"{item.source}@{item.revision}" if item.revision else item.source
    return f'<a href="sarif/{quote(item.name)}.sarif" title="{escape(place)}">{escape(item.name)}</a>'


def status(item: RepositoryCount) -> str:
    return f'<span class="{item.status}">{item.status}</span>'


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"
