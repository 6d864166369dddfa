"""`analyze ci`: what a pull request or a push changes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from cli.options import MAX_STATE, OUTPUT, selection_options


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--base", required=True, metavar="REV", help="Commit to compare with, such as the target branch.")
@click.option("--head", default="HEAD", metavar="REV", help="Commit to report on (default: HEAD).")
@click.option(
    "--fail-on",
    type=click.Choice(["new", "any"]),
    default="new",
    help="Findings that fail the run (exit code 1): new ones (default), or any in the head.",
)
@click.option(
    "--severity",
    type=click.Choice(["note", "warning", "error", "never"]),
    help="Minimum severity that fails the run (default: fail-on of the configuration, or warning).",
)
@click.option(
    "--config-from",
    type=click.Choice(["base", "head"]),
    default="base",
    help="Commit whose configuration, ignore files, rules and models apply (default: base).",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Use this configuration instead of the repository's; it must lie outside of the checkout.",
)
@click.option(
    "--fail-on-weakened",
    type=click.Choice(["note", "warning", "error", "never"]),
    help="Minimum severity of a weakening by the head's own files that fails the run (default: warning).",
)
@click.option(
    "--default-branch",
    metavar="REV",
    help="If the base is not in the clone, compare with the merge base of head and REV (default: origin's branch).",
)
@click.option(
    "--if-no-base",
    type=click.Choice(["new", "unchanged", "error"]),
    default="new",
    help="If there is no merge base either, report findings as new (default) or unchanged, or fail.",
)
@selection_options
@OUTPUT
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory for stored state, reused by the next run (default: in the user's cache).",
)
@MAX_STATE
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
    """Report the findings that the commit --head introduces or fixes relative to --base.

    Both are read from git's objects; the working tree is ignored. Only the changes in between are evaluated. The
    settings of the base apply; findings and checks that the head's own files would disable are listed.
    """
    from analyzer.history.ci import compared_commits, refuse_inside
    from analyzer.scan import ScanRequest
    from cli.comparison_output import deliver_comparison
    from cli.progress import Bars
    from cli.terminal import warn

    if config is not None:
        refuse_inside(config, path)
    with ExitStack() as stack:
        with Bars() as bars:
            request = ScanRequest.from_flags(path, head, flags | {"config": config})
            compared = compared_commits(
                request, base, bars, state, max_state_mb << 20, config_from, default_branch, if_no_base
            )
            result = stack.enter_context(compared)
        deliver_comparison(result, output)
    warn(*result.not_kept)
    decides = result.config
    raise SystemExit(result.comparison.exit_code(fail_on, severity or decides.fail_on, decides.fail_on_weakened))
