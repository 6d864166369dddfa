"""`analyze hook`: the scan that pre-commit runs."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from cli.options import LIVE, MAX_STATE, report_options


@click.command()
@report_options
@MAX_STATE
@LIVE
def hook(max_state_mb: int, live: str | None, **flags: Any) -> None:
    """Scan the index, and report findings in the staged files.

    With nothing staged (pre-commit run --all-files), findings in every file are reported.
    """
    from analyzer.live.client import live_hook
    from cli.output import deliver
    from cli.terminal import warn

    result, warning = live_hook(live, flags)
    warn(*filter(None, [warning]))
    if result is not None:
        deliver(result, None)
        raise SystemExit(result.report.exit_code(result.config.fail_on))
    from analyzer.history.hook import scanned_index
    from cli.progress import Bars

    with ExitStack() as stack:
        with Bars() as bars:
            scanned = scanned_index(flags, bars, max_state_bytes=max_state_mb << 20)
            result, not_kept = stack.enter_context(scanned)
        deliver(result, None)
    warn(*not_kept)
    raise SystemExit(result.report.exit_code(result.config.fail_on))
