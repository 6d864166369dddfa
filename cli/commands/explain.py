"""`analyze explain`: why something is found, and why something is not."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import JOBS
from cli.terminal import say

DIRECTORY = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("what")
@click.option(
    "-p", "--program", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Datalog program."
)
@click.option("-F", "--facts", type=DIRECTORY, default=".", metavar="DIRECTORY", help="Its NAME.facts (default: .).")
@click.option("--number-width", type=click.Choice(["32", "64"]), default="32", help="Bits of numbers (default: 32).")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Leave out what is more than N rules below.")
@click.option("--derivation", type=click.IntRange(min=1), default=1, metavar="N", help="The N-th one, lowest first.")
@click.option("--limit", type=click.IntRange(min=1), default=1, metavar="N", help="Tuples explained (default: 1).")
@click.option("--format", type=click.Choice(["text", "json", "dot"]), default="text", help="Default: text.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE.")
@JOBS
def explain(
    what: str,
    program: Path,
    facts: Path,
    number_width: str,
    depth: int | None,
    derivation: int,
    limit: int,
    format: str,
    output: Path | None,
    jobs: int | None,
) -> None:
    """Explain why the tuples that match the atom WHAT are there, or why none is: 'path(1, 3)', 'path(1, _)'."""
    from analyzer.explanation.program_tuples import Extent, explain_atom
    from cli.output import write_file

    extent = Extent(limit, derivation, depth)
    found = explain_atom(program, facts, what, extent, number_bits=int(number_width), jobs=jobs)
    text = found.render(format)
    if output:
        write_file(output, text)
    else:
        say(text, nl=False)
