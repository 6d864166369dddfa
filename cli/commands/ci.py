"""`analyze ci`: what a pull request or a push changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cli.options import OUTPUT, selection_options


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--base", required=True, metavar="REV", help="The commit to compare with: the target branch, or before.")
@click.option("--head", default="HEAD", metavar="REV", help="The commit to report on (default: HEAD).")
@click.option(
    "--fail-on",
    type=click.Choice(["new", "any"]),
    default="new",
    help="Findings that make the exit code 1: new ones (default), or any in the head.",
)
@click.option(
    "--severity",
    type=click.Choice(["note", "warning", "error", "never"]),
    help="The least severe finding that does (default: fail-on of the configuration, or warning).",
)
@selection_options
@OUTPUT
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where relations of commits are kept for the next run (default: the user's cache).",
)
@click.option(
    "--max-state-mb", type=click.IntRange(min=0), default=2048, metavar="MB", help="Of these, so many at most."
)
def ci(
    path: Path,
    base: str,
    head: str,
    fail_on: str,
    severity: str | None,
    output: Path | None,
    state: Path | None,
    max_state_mb: int,
    **flags: Any,
) -> None:
    """Report which findings the commit --head brings and fixes against --base.

    Both are read from git's objects; the working tree is not looked at. Only what changes in between is evaluated.
    """
    from analyzer.commits.ci import compare_commits
    from analyzer.scan import ScanRequest
    from cli.comparison import deliver_comparison
    from cli.progress import Bars

    with Bars() as bars:
        request = ScanRequest.from_flags(path, head, flags)
        result = compare_commits(request, base, bars, state, max_state_mb << 20)
    deliver_comparison(result, output)
    raise SystemExit(result.comparison.exit_code(fail_on, severity or result.config.fail_on))
