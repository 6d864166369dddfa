"""`analyze explain`: why something is found, and why something is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.live_answer import live_or_own
from cli.options import JOBS, LIVE, SELECTION
from cli.progress import Bars
from cli.terminal import say

if TYPE_CHECKING:
    from analyzer.explanation.questions import Extent
    from analyzer.queries.ask_live import Live

DIRECTORY = click.Path(path_type=Path, file_okay=False)


def selection(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select files and checks."""
    for option in reversed(SELECTION):
        function = option(function)
    return function


@click.command()
@click.argument("what")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--why-not", metavar="CHECK", help="Explain why CHECK reports nothing at WHAT, a FILE:LINE.")
@click.option("--from", "begin", metavar="FILE:LINE", help="With --why-not: of data that comes from there.")
@click.option("--full", is_flag=True, help="Show the whole derivation of a finding, down to facts.")
@click.option("-p", "--program", type=click.Path(path_type=Path), metavar="FILE", help="Explain a Datalog program.")
@click.option("-F", "--facts", type=DIRECTORY, metavar="DIRECTORY", help="Its NAME.facts (default: .).")
@click.option("--number-width", type=click.Choice(["32", "64"]), default="32", help="Bits of numbers (default: 32).")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Leave out what is more than N rules below.")
@click.option("--derivation", type=click.IntRange(min=1), default=1, metavar="N", help="The N-th one, lowest first.")
@click.option("--limit", type=click.IntRange(min=1), default=1, metavar="N", help="Tuples explained (default: 1).")
@click.option("--format", type=click.Choice(["text", "json", "dot"]), default="text", help="Default: text.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE.")
@selection
@LIVE
@JOBS
def explain(
    what: str,
    path: Path,
    why_not: str | None,
    begin: str | None,
    full: bool,
    program: Path | None,
    facts: Path | None,
    number_width: str,
    depth: int | None,
    derivation: int,
    limit: int,
    format: str,
    output: Path | None,
    jobs: int | None,
    live: str | None,
    **flags: Any,
) -> None:
    """Explain WHAT in the directory PATH (default: the current one): a finding, by its fingerprint or as FILE:LINE.

    Or tuples, by an atom such as 'path(1, _)', of a scan's relations, or with -p of a Datalog program; or, with
    --why-not, why a check does not report a line.
    """
    from analyzer.explanation.questions import Extent
    from cli.output import write_file

    extent = Extent(limit, derivation, depth)
    if facts is not None and program is None:
        raise click.UsageError("-F goes only with -p")
    if begin is not None and why_not is None:
        raise click.UsageError("--from goes only with --why-not")
    if why_not is not None and (program is not None or full or format == "dot"):
        raise click.UsageError("--why-not goes without -p, --full and --format dot")
    if program is not None:
        from analyzer.explanation.program_tuples import explain_atom

        found = explain_atom(program, facts or Path(), what, extent, number_bits=int(number_width), jobs=jobs)
        text = found.render(format)
    elif why_not is not None:
        text = text_of_silence(path, why_not, what, begin, (live, flags | {"jobs": jobs}), format)
    else:
        text = text_of_findings(path, what, extent, full or format == "dot", (live, flags | {"jobs": jobs}), format)
    if output:
        write_file(output, text)
    else:
        say(text, nl=False)


def text_of_silence(path: Path, check: str, where: str, begin: str | None, live: Live, format: str) -> str:
    """Return why a check reports nothing on a line."""
    mode, flags = live

    def ask() -> tuple[str | None, str]:
        from analyzer.queries.ask_live import why_not_live

        return why_not_live(path, live, check, where, begin, format)

    def derive() -> str:
        from analyzer.explanation.why_not import why_not

        with Bars() as bars:
            return why_not(path, check, where, begin, flags, bars).render(format)

    return live_or_own(mode, ask, derive)


def text_of_findings(path: Path, what: str, extent: Extent, full: bool, live: Live, format: str) -> str:
    """Return why there are findings, or tuples."""
    mode, flags = live

    def ask() -> tuple[str | None, str]:
        from analyzer.queries.ask_live import explain_live

        return explain_live(path, live, what, extent, full, format)

    def derive() -> str:
        from analyzer.explanation.tree_questions import explain_findings, explain_tuples, render_findings

        with Bars() as bars:
            if "(" in what:
                return explain_tuples(path, what, flags, extent, bars).render(format)
            return render_findings(explain_findings(path, what, flags, full, bars), format)

    return live_or_own(mode, ask, derive)
