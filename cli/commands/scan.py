"""`analyze scan`: all checks on a working tree or a commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cli.options import CONF, LIVE, OUTPUT, Size, report_options


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, metavar="[PATH]...")
@click.option("--rev", metavar="REV", help="Scan this commit from git's objects; the working tree is not touched.")
@click.option("--at", metavar="FILE:LINE", help="Report only tainted data that reaches sinks on this line.")
@report_options
@OUTPUT
@click.option(
    "--stats", type=click.Path(path_type=Path), metavar="FILE", help="Write costs per stratum and rule as JSON."
)
@click.option("--db", type=click.Path(path_type=Path), metavar="FILE", help="Add findings, files and run to SQLite.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Stop after S seconds and report partial results; the report says what is missing.",
)
@click.option(
    "--memory-limit",
    "memory_bytes",
    type=Size(),
    metavar="SIZE",
    help="Memory of the process that evaluates rules, such as 2G; what does not fit spills to disk (default: 80 % of "
    "the machine's).",
)
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", help="Where to scan.")
@click.option("--master", metavar="URL", help="Spark's master: local[2] (default), spark://HOST:PORT, yarn, k8s://URL.")
@CONF
@LIVE
def scan(
    paths: tuple[Path, ...],
    rev: str | None,
    output: Path | None,
    stats: Path | None,
    db: Path | None,
    engine: str,
    master: str | None,
    conf: dict[str, str],
    live: str | None,
    **flags: Any,
) -> None:
    """Report findings in each PATH, a directory or a file (default: the current directory), analyzed together."""
    path, *beside = paths or (Path("."),)
    if rev is not None and beside:
        raise click.UsageError("--rev takes one PATH")
    if engine == "local" and master is not None:
        raise click.UsageError("--master goes only with --engine spark")
    if engine == "local" and conf:
        raise click.UsageError("--conf goes only with --engine spark")
    if engine == "spark":
        flags |= {"master": master or "local[2]", "conf": conf}
    from analyzer.live.rendezvous import may_answer
    from analyzer.scan import ScanRequest, scan
    from cli.output import deliver
    from cli.progress import Bars
    from cli.terminal import warn

    result = None
    if rev is None and engine == "local" and not (beside or stats) and may_answer(live):
        from analyzer.live.client import ask

        result, warning = ask(path, live, flags)
        warn(*filter(None, [warning]))
    if result is None:
        with Bars() as bars:
            result = scan(ScanRequest.from_flags(path, rev, flags | {"beside": tuple(beside)}), bars)
    deliver(result, output, stats, db)
    raise SystemExit(result.report.exit_code(result.config.fail_on))
