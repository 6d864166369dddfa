"""`analyze mcp`: answers for assistants, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cli.options import JOBS


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path("."), metavar="[PATH]")
@click.option("--models", multiple=True, type=click.Path(path_type=Path), help="A model file, or a directory of them.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Exclude paths, in gitignore syntax.")
@JOBS
def mcp(path: Path, jobs: int | None, **flags: Any) -> None:
    """Answer an assistant's questions about the code in PATH (default: the current directory).

    An assistant starts this command itself, and talks to it on standard input and output: see docs/assistants.md.
    Nothing is written to PATH, and nothing of it runs.
    """
    from analyzer.errors import AnalyzeError
    from analyzer.queries.assistant import Assistant

    try:
        from cli.assistant_server import server_of
    except ImportError as error:
        help = "pip install 'mcp>=2,<3'"
        raise AnalyzeError("A004", f"analyze mcp needs {error.name}", help=help) from None
    assistant = Assistant(path, flags | {"jobs": jobs})
    try:
        server_of(assistant).run("stdio")
    finally:
        assistant.close()
