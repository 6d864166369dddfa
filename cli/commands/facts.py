"""`analyze facts`: the facts of a directory as files."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import JOBS
from cli.terminal import say


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--rev", metavar="REV", help="Take this commit from git's objects.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to write.")
@JOBS
def facts(path: Path, rev: str | None, output: Path, jobs: int | None) -> None:
    """Write the facts of PATH as tab-separated files, one a relation of the fact schema (NAME.facts)."""
    from analyzer.export import export_facts
    from cli.progress import Bars

    with Bars() as bars:
        problems = export_facts(path, rev, output, jobs, bars)
    for problem in problems:
        say(f"{problem.level}: {problem.file}: {problem.message}", err=True)
    raise SystemExit(3 if problems else 0)
