"""`analyze callgraph`: the call graph of a directory as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import JOBS


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE.")
@JOBS
def callgraph(path: Path, output: Path | None, jobs: int | None) -> None:
    """Print the call graph of PATH as JSON: {"caller": ["callee", …]}, functions by qualified name."""
    import json

    from analyzer.export import call_graph
    from cli.output import write_file
    from cli.progress import Bars

    with Bars() as bars:
        graph = call_graph(path, jobs, bars)
    text = json.dumps(graph, indent=2, ensure_ascii=False) + "\n"
    if output:
        write_file(output, text)
    else:
        click.echo(text, nl=False)
