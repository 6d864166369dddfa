"""The command group: errors and interrupts become exit codes and messages."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from analyzer.escaping import printable_lines
from analyzer.exit_codes import ERROR, INTERRUPTED
from cli import commands
from cli.terminal import say


class AnalyzeGroup(click.Group):
    """A group whose commands end with exit code 2 and a coded message on an AnalyzeError, and 130 on Ctrl-C."""

    def invoke(self, context: click.Context) -> Any:
        from analyzer.errors import AnalyzeError

        try:
            return super().invoke(context)
        except click.ClickException as error:
            error.message = printable_lines(error.message)  # type: ignore[misc]  # The one place all its subclasses show.
            raise
        except AnalyzeError as error:
            say(error.render(), err=True)
            context.exit(ERROR)
        except KeyboardInterrupt:
            say("interrupted; what was cached so far is kept", err=True)
            context.exit(INTERRUPTED)


@click.group(cls=AnalyzeGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="datalyze", prog_name="analyze")
def cli() -> None:
    """Static program analysis on Datalog: taint, points-to and call graphs for real repositories.

    Exit codes: 0 clean, 1 findings, 2 usage or tool error, 3 something was not analysed.
    """


for command in commands.COMMANDS:
    cli.add_command(command)


def end_process(code: int) -> NoReturn:
    """End without taking apart what the process holds, which takes a fifth of the time of a small scan."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Run the command line. Print unexpected errors as one line, with a traceback if ANALYZE_DEBUG is set."""
    # A scan makes much that lives to its end, and next to no cycles: collections would only walk it again and again.
    gc.set_threshold(5_000_000)
    # numpy's threads for matrices wait by spinning, and rules use none.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        cli()
    except SystemExit as exit:
        if exit.code == INTERRUPTED:  # Threads may still run kernels: do not wait for them.
            end_process(INTERRUPTED)
        if isinstance(exit.code, int) and threading.active_count() == 1 and not os.environ.get("ANALYZE_DEBUG"):
            atexit._run_exitfuncs()
            end_process(exit.code)
        raise
    except Exception as error:
        if os.environ.get("ANALYZE_DEBUG"):
            raise
        say(f"error[X000]: internal error: {type(error).__name__}: {error}", err=True)
        say("help: set ANALYZE_DEBUG=1 to see where, and report it", err=True)
        sys.exit(ERROR)
