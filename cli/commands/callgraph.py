"""`analyze callgraph`: the call graph of a directory, and its dead functions."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import CONTEXT, JOBS
from cli.terminal import say

KINDS = ("main", "test", "exported", "handler", "override")


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE.")
@click.option(
    "--format", type=click.Choice(["json", "dot", "graphml", "text"]), help="Default: json; text with --dead."
)
@click.option(
    "--reachable-from",
    multiple=True,
    metavar="NAME",
    help="Only functions reachable from NAME, or from entry-points; repeat for more.",
)
@click.option("--dead", is_flag=True, help="List the functions unreachable from entry points instead.")
@click.option(
    "--entry-points",
    multiple=True,
    metavar="KINDS",
    help=f"Kinds of entry points besides modules: {', '.join(KINDS)} (default: all); repeat or use commas.",
)
@CONTEXT
@JOBS
def callgraph(
    path: Path,
    output: Path | None,
    format: str | None,
    reachable_from: tuple[str, ...],
    dead: bool,
    entry_points: tuple[str, ...],
    context: str | None,
    jobs: int | None,
) -> None:
    """Print the call graph of PATH; by default as JSON {"caller": ["callee", …]} of qualified names."""
    kinds = tuple(kind for kinds in entry_points for kind in kinds.split(",") if kind) or KINDS
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        raise click.UsageError(f"--entry-points are of {', '.join(KINDS)}, not '{wrong[0]}'")
    format = format or ("text" if dead else "json")
    if format not in (("text", "json") if dead else ("json", "dot", "graphml")):
        raise click.UsageError(f"--format {format} goes {'not' if dead else 'only'} with --dead")
    from analyzer.graphs.export import call_graph, reachable_part
    from analyzer.graphs.graph_files import DEAD_FORMATS, GRAPH_FORMATS
    from cli.output import tell_problems, write_file
    from cli.progress import Bars

    with Bars() as bars:
        graph, problems = call_graph(path, kinds, jobs, bars, context)
    if dead:
        text = DEAD_FORMATS[format](graph.dead())
    else:
        text = GRAPH_FORMATS[format](reachable_part(graph, reachable_from) if reachable_from else graph)
    if output:
        write_file(output, text)
    else:
        say(text, nl=False)
    raise SystemExit(tell_problems(problems, path))
