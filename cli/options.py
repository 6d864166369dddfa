"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click


class Size(click.ParamType):
    """A size in bytes, at least `least`: 500M, 2G, 1.5G."""

    name = "size"

    def __init__(self, least: str = "") -> None:
        self.least = least

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", value.strip(), re.IGNORECASE)
        if found is None or float(found[1]) == 0:
            self.fail(f"{value!r} is not a size such as 500M or 2G", param, ctx)
        n_bytes = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))
        if self.least and n_bytes < Size().convert(self.least, param, ctx):
            self.fail(f"{value!r} is less than the minimum, {self.least}", param, ctx)
        return n_bytes


def settings(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse settings of Spark, KEY=VALUE each."""
    found = {}
    for value in values:
        name, separator, text = value.partition("=")
        if not separator or not name.startswith("spark."):
            raise click.BadParameter(f"{value!r} is not KEY=VALUE, such as spark.executor.memory=4g")
        found[name] = text
    return found


CONF = click.option(
    "--conf", multiple=True, callback=settings, metavar="KEY=VALUE", help="Spark setting, as for spark-submit."
)
CONTEXT = click.option(
    "--context", metavar="POLICY", help="Context sensitivity: 1-call, 2-call, 1-object, … (default: insensitive)."
)
OUTPUT = click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to FILE."
)
MAX_STATE = click.option(
    "--max-state-mb",
    type=click.IntRange(min=0),
    default=2048,
    metavar="MB",
    help="Maximum size of stored state (default: 2048).",
)
JOBS = click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes and threads (default: all cores).")

LIVE = click.option(
    "--live",
    type=click.Choice(["auto", "on", "off"]),
    help="Ask a live process (analyze serve): if one runs (auto), started if there is none (on), or never (off). "
    "Default: auto; off where CI is set.",
)
FORMAT = click.option("--format", type=click.Choice(["text", "json", "sarif"]), help="Format of the report.")

SELECTION = (
    click.option(
        "--rules",
        multiple=True,
        metavar="SELECTOR",
        help="Checks to run: ids, patterns (*-injection), tags, cwe-89, or -X to leave X out; repeat or use commas.",
    ),
    click.option(
        "--tier",
        multiple=True,
        type=click.Choice(["default", "audit", "library"]),
        help="Checks beside those that block a merge: audit (dangerous code without a proven source), library (what "
        "parameters of exported functions reach).",
    ),
    click.option(
        "--models", multiple=True, type=click.Path(path_type=Path), help="A model file, or a directory of them."
    ),
    click.option("--rules-dir", multiple=True, type=click.Path(path_type=Path), help="A directory of your own checks."),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Exclude paths, in gitignore syntax."),
    click.option("--include-vendored", is_flag=True, default=None, help="Scan vendored directories too."),
    click.option("--include-generated", is_flag=True, default=None, help="Report all findings in generated files."),
    click.option(
        "--own-suppressions-only", is_flag=True, default=None, help="Ignore other tools' comments (noqa, nosec, …)."
    ),
    click.option("--max-file-kb", type=click.IntRange(min=1), metavar="KB", help="Skip larger files (default: 1024)."),
    click.option(
        "--rule-rows",
        type=click.IntRange(min=1),
        metavar="N",
        help="Maximum rows per relation of your own rules; a file that exceeds it is left out (default: 20,000,000).",
    ),
    click.option(
        "--rule-seconds",
        "rule_s",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="Maximum time of your own rules; a file that exceeds it is left out (default: 600).",
    ),
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice(["note", "warning", "error", "never"]),
    help="Minimum severity that fails the run (default: warning).",
)
SCAN_OPTIONS = (*SELECTION, FAIL_ON)


def scan_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `SCAN_OPTIONS`, in their order: selection of files and checks, and the failing severity."""
    for option in reversed(SCAN_OPTIONS):
        function = option(function)
    return function


def selection_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select files and checks, and those of a report."""
    for option in reversed(SELECTION):
        function = option(function)
    return FORMAT(JOBS(CONTEXT(function)))


def report_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a scan with a report of its own."""
    return FORMAT(JOBS(scan_options(CONTEXT(function))))
