"""Deliver a report: to the terminal, a file or a database; and set the exit code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cli.terminal import console, say, warn

if TYPE_CHECKING:
    from rich.console import Console

    from analyzer.report import Problem, Report
    from analyzer.scan import ScanResult


def deliver(result: ScanResult, output: Path | None, stats: Path | None = None, db: Path | None = None) -> None:
    """Write the report in its configured format."""
    from analyzer.scan import save_statistics

    if db:
        from analyzer.outputs.sqlite import save_to_database

        save_to_database(result.report, db, result.elapsed_s)
    if stats:
        save_statistics(result, stats)
    if output:
        write_file(output, render(result))
    elif result.config.format == "text":
        return print_report(result)
    else:
        say(render(result), nl=False)
    tell_incomplete(result.report)


def tell_incomplete(report: Report) -> None:
    """Say on standard error why a report that was not printed as text is incomplete, if it is."""
    if not report.complete:
        from analyzer.outputs.relative_paths import from_here

        shown = from_here(report)
        unparsed = [f"{file}:{lines[0]} could not be parsed" for file, lines in shown.coverage.unparsed.items()]
        reasons = [problem_line(problem) for problem in shown.problems if problem.level == "error"] + unparsed
        more = f", and {len(reasons) - 1:,} more: see the report" if len(reasons) > 1 else ""
        warn(f"incomplete, exit code 3: {reasons[0].removeprefix('error: ')}{more}")


def render(result: ScanResult) -> str:
    """Return the report in the configured format, free of terminal codes."""
    from analyzer import VERSION

    if result.config.format == "sarif":
        from analyzer.outputs.sarif import render_sarif

        return render_sarif(result.report, VERSION)
    if result.config.format == "json":
        from analyzer.outputs.json_report import render_json
        from analyzer.outputs.relative_paths import from_here

        return render_json(from_here(result.report), VERSION)
    import io

    from cli.text import render_text

    buffer = io.StringIO()
    render_text(_from_here(result), console(file=buffer, width=FILE_WIDTH, color_system=None))
    return buffer.getvalue()


FILE_WIDTH = 120


def print_report(result: ScanResult) -> None:
    """Print the text report."""
    from cli.text import render_text

    render_text(_from_here(result), terminal())


def _from_here(result: ScanResult) -> ScanResult:
    """Return the result with paths relative to the working directory."""
    from dataclasses import replace

    from analyzer.outputs.relative_paths import from_here

    return replace(result, report=from_here(result.report))


def terminal(width_of_pipes: int | None = None) -> Console:
    """Return a console on standard output: coloured and as wide as the terminal, or plain with a fixed width."""
    import os

    made = console()
    if made.is_terminal or ("COLUMNS" in os.environ and width_of_pipes is None):
        return made
    return console(width=width_of_pipes or FILE_WIDTH)


def write_file(path: Path, text: str) -> None:
    """Write `text` to `path`. Raises AnalyzeError A003 if it cannot be written."""
    from analyzer.cache_entries import replaced
    from analyzer.errors import AnalyzeError

    try:
        with replaced(path) as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise AnalyzeError("A003", f"cannot write {path}: {error.strerror}") from None


def tell_problems(problems: Iterable[Problem], target: Path) -> int:
    """Print the problems of a target to standard error; return the exit code of a command without a report."""
    from analyzer.exit_codes import exit_code
    from analyzer.outputs.relative_paths import problem_from, renaming

    rename, found = renaming(str(target)), tuple(problems)
    tell_news(tuple(problem_from(problem, rename) for problem in found))
    return exit_code(all(problem.level != "error" for problem in found), False)


def tell_news(problems: tuple[Problem, ...], told: tuple[Problem, ...] = ()) -> tuple[Problem, ...]:
    """Print problems to standard error unless they are those told last; return them."""
    if problems != told:
        for problem in problems:
            say(problem_line(problem), err=True)
    return problems


def problem_line(problem: Problem) -> str:
    """Return a problem as a line: its level, its place, and what it is."""
    at = f"{problem.file}:{problem.line}" if problem.line else problem.file
    places = f", at {', '.join(map(str, problem.places))}" if problem.places else ""
    return f"{problem.level}: {at and f'{at}: '}{problem.message}{places}"
