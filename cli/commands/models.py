"""`analyze models`: which models of libraries a repository lacks, and models derived from a package's code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import JOBS
from cli.terminal import say

if TYPE_CHECKING:
    from analyzer.graphs.library_models import MissingModel

SHOWN_PLACES = 3


@click.group()
def models() -> None:
    """Say which models of libraries are missing, and derive models from a package."""


@models.command("missing")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show the first N.")
@JOBS
def missing(path: Path, format: str, limit: int | None, jobs: int | None) -> None:
    """Rank the functions of libraries without a model by the places of PATH where tainted data enters them."""
    from analyzer.graphs.library_models import missing_models
    from cli.output import tell_problems
    from cli.progress import Bars

    with Bars() as bars:
        found, problems = missing_models(path, jobs, bars)
    shown = found[:limit]
    if format == "json":
        import json
        from dataclasses import asdict

        say(json.dumps([asdict(model) for model in shown], indent=2))
    else:
        print_missing(shown, len(found) - len(shown))
    raise SystemExit(tell_problems(problems, path))


def print_missing(shown: Sequence[MissingModel], n_more: int) -> None:
    """Print a line for each function, and how many there are beside these."""
    for model in shown:
        places = ", ".join(f"{place.file}:{place.line}" for place in model.places[:SHOWN_PLACES])
        more = ", …" if len(model.places) > SHOWN_PLACES else ""
        say(f"{len(model.places):>6,}  {model.name}  {places}{more}")
    if n_more:
        say(f"{n_more:,} more")


@models.command("derive")
@click.argument("package", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE.")
@JOBS
def derive(package: Path, output: Path | None, jobs: int | None) -> None:
    """Write models of the exported functions of PACKAGE: which arguments reach sinks, and which they return."""
    from analyzer.graphs.library_models import derived_models
    from cli.output import tell_problems, write_file
    from cli.progress import Bars

    with Bars() as bars:
        facts, problems = derived_models(package, jobs, bars)
    text = f"// Models of {package.resolve().name}, derived from its code.\n\n" + "".join(fact + "\n" for fact in facts)
    if output:
        write_file(output, text)
    else:
        say(text, nl=False)
    raise SystemExit(tell_problems(problems, package))
