"""`analyze facts`: the facts of a directory as files."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import JOBS


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--rev", metavar="REV", help="Read this commit from git's objects.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Output directory.")
@click.option("--format", type=click.Choice(["tsv", "parquet"]), default="tsv", help="Format of files (default: tsv).")
@JOBS
def facts(path: Path, rev: str | None, output: Path, format: str, jobs: int | None) -> None:
    """Write the facts of PATH as tables, one per relation of the fact schema (NAME.facts or NAME.parquet).

    A program for 'analyze run -F DIR' reads them with '.include "DIR/facts.dl"'.
    """
    from analyzer.graphs.export import export_facts
    from cli.output import tell_problems
    from cli.progress import Bars

    with Bars() as bars:
        problems = export_facts(path, rev, output, format, jobs, bars)
    raise SystemExit(tell_problems(problems, path))
