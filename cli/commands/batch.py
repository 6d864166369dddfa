"""`analyze batch`: many repositories on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cli.options import CONF, Size, scan_options


@click.command()
@click.argument("repos", type=click.Path(path_type=Path))
@click.option("--master", default="local[*]", metavar="URL", help="Spark's master (default: local[*], this machine).")
@CONF
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Output directory.")
@click.option("--cache", type=click.Path(path_type=Path), metavar="DIR", help="Fact cache (default: the user's).")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=1800, metavar="SECONDS", help="Per repository.")
@click.option(
    "--memory", type=Size("256M"), metavar="SIZE", help="Per repository (default: its share of the machine's)."
)
@click.option("--retries", type=click.IntRange(min=0), default=1, metavar="N", help="Retries (default: 1).")
@scan_options
def batch(
    repos: Path,
    master: str,
    conf: dict[str, str],
    output: Path,
    cache: Path | None,
    timeout: float,
    memory: int | None,
    retries: int,
    **flags: Any,
) -> None:
    """Scan the repositories that REPOS lists, each separately, on Spark.

    REPOS is a directory of git repositories, or a file with one path or URL per line: [NAME=]PATH[@REV]. DIR appears
    when the batch is complete; an interrupted batch resumes when the command is run again.
    """
    from analyzer.batch.batch_request import BatchRequest, run_batch
    from analyzer.scan import ScanRequest
    from cli.batch_progress import BatchBars, print_summary
    from cli.output import terminal

    scan = ScanRequest.from_flags(repos, None, flags)
    request = BatchRequest(
        repos, output, master, cache, timeout, memory, retries, scan.flags, scan.models, scan.rules_dirs, conf
    )
    with BatchBars() as bars:
        summary = run_batch(request, bars.phase, bars.watch)
    print_summary(summary, terminal())
    raise SystemExit(summary.exit_code)
