"""`analyze lsp`: a language server on standard input and output, for editors."""

from __future__ import annotations

from typing import Any

import click

from cli.options import report_options


@click.command()
@report_options
@click.option("--stdio", is_flag=True, help="Speak on standard input and output, as it always does.")
def lsp(stdio: bool, **flags: Any) -> None:
    """Show findings in an editor while you type, by the Language Server Protocol.

    The options decide what is shown; editors start this command by themselves (docs/editors.md).
    """
    from analyzer.errors import AnalyzeError

    try:
        from analyzer.live.language_server import language_server
    except ImportError as error:
        help = "install the extra 'editor', as docs/editors.md shows"
        raise AnalyzeError("A004", f"a language server needs {error.name}", help=help) from None
    from cli.commands.serve import as_arguments

    language_server(flags, as_arguments(flags)).start_io()
