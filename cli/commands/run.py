"""`analyze run`: the bare engine on a Datalog program."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import JOBS

DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("program", type=click.Path(path_type=Path))
@click.option("-F", "--facts", type=DIRECTORY, default=".", help="Directory of NAME.facts (default: .).")
@click.option("-D", "--output", type=DIRECTORY, default=".", help="Directory for NAME.csv (default: .).")
@click.option("--number-width", type=click.Choice(["32", "64"]), default="32", help="Bits of numbers (default: 32).")
@JOBS
def run(program: Path, facts: Path, output: Path, number_width: str, jobs: int | None) -> None:
    """Evaluate the Datalog program PROGRAM: read NAME.facts, write NAME.csv, print sizes, as Soufflé does."""
    from analyzer.run import run_program

    for line in run_program(program, facts, output, jobs, int(number_width)):
        click.echo(line)
