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
@click.option(
    "--config-from",
    type=click.Choice(["base", "head"]),
    default="base",
    help="The commit whose configuration, ignore files, rules and models decide (default: base).",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A configuration that takes the place of the repository's, from outside of it.",
)
@click.option(
    "--fail-on-weakened",
    type=click.Choice(["note", "warning", "error", "never"]),
    help="The least severe of what the head's own files take away that makes the exit code 1 (default: warning).",
)
@click.option(
    "--default-branch",
    metavar="REV",
    help="Where the base is not in the clone: the commit at which the head has left REV (default: origin's) stands in.",
)
@click.option(
    "--if-no-base",
    type=click.Choice(["new", "unchanged", "error"]),
    default="new",
    help="What findings are where none stands in either (default: new); or an error.",
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
    config_from: str,
    config: Path | None,
    default_branch: str | None,
    if_no_base: str,
    output: Path | None,
    state: Path | None,
    max_state_mb: int,
    **flags: Any,
) -> None:
    """Report which findings the commit --head brings and fixes against --base.

    Both are read from git's objects; the working tree is not looked at. Only what changes in between is evaluated. The
    base decides what is scanned, by what, and what fails; what the head's own files would take away is listed.
    """
    from analyzer.commits.ci import compare_commits, refuse_inside
    from analyzer.scan import ScanRequest
    from cli.comparison import deliver_comparison
    from cli.progress import Bars

    if config is not None:
        refuse_inside(config, path)
    with Bars() as bars:
        request = ScanRequest.from_flags(path, head, flags | {"config": config})
        result = compare_commits(
            request, base, bars, state, max_state_mb << 20, config_from, default_branch, if_no_base
        )
    deliver_comparison(result, output)
    decides = result.config
    raise SystemExit(result.comparison.exit_code(fail_on, severity or decides.fail_on, decides.fail_on_weakened))
