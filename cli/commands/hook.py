"""`analyze hook`: the scan that pre-commit runs."""

from __future__ import annotations

from typing import Any

import click

from cli.options import report_options


@click.command()
@report_options
def hook(**flags: Any) -> None:
    """Scan the index, and report findings in the staged files.

    With nothing staged (pre-commit run --all-files), findings in every file are reported.
    """
    from analyzer.history.hook import scan_index
    from cli.output import deliver
    from cli.progress import Bars

    with Bars() as bars:
        result = scan_index(flags, bars)
    deliver(result, None)
