"""`analyze query`: answers to a query in Datalog."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import JOBS, LIVE
from cli.terminal import say, warn

if TYPE_CHECKING:
    from analyzer.queries.answers import Answers
    from analyzer.queries.ask_live import Live
    from analyzer.queries.query import Query
    from analyzer.report import Problem

QUIET_MS = 5000
SHOWN = 100
"""Answers shown as text, unless told."""


@click.command()
@click.argument("query", metavar="[QUERY]", required=False)
@click.argument("path", type=click.Path(path_type=Path), default=Path("."), metavar="[PATH]")
@click.option("--rev", metavar="REV", help="Ask this commit from git's objects; the working tree is not touched.")
@click.option("-e", "--rules", multiple=True, metavar="TEXT", help="Rules of your own that the query may read.")
@click.option("-f", "--file", "files", multiple=True, type=click.Path(path_type=Path), help="A file of such rules.")
@click.option("--models", multiple=True, type=click.Path(path_type=Path), help="A model file, or a directory of them.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Exclude paths, in gitignore syntax.")
@click.option("-p", "--program", type=click.Path(path_type=Path), metavar="FILE", help="Ask this Datalog program.")
@click.option("-F", "--facts", type=click.Path(path_type=Path), metavar="DIR", help="Its facts (default: .).")
@click.option("--number-width", type=click.Choice(["32", "64"]), help="Bits of the program's numbers (default: 32).")
@click.option("--batch", type=click.Path(path_type=Path), metavar="DIR", help="Ask the results of 'analyze batch'.")
@click.option("--format", type=click.Choice(["text", "json", "csv", "sarif"]), default="text", help="Default: text.")
@click.option("--limit", type=click.IntRange(0), metavar="N", help=f"Show N answers, 0 for all (text: {SHOWN}).")
@click.option("--watch", is_flag=True, help="Answer again when files have changed, until Ctrl-C.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the answers to FILE.")
@LIVE
@JOBS
def query(
    query: str | None,
    path: Path,
    rev: str | None,
    rules: tuple[str, ...],
    files: tuple[Path, ...],
    program: Path | None,
    facts: Path | None,
    number_width: str | None,
    batch: Path | None,
    format: str,
    limit: int | None,
    watch: bool,
    output: Path | None,
    jobs: int | None,
    live: str | None,
    **flags: Any,
) -> None:
    """Answer QUERY, the body of a Datalog rule, on the code in PATH (default: the current directory).

    Without QUERY, a shell answers one query after the other ('analyze query "" PATH' for another PATH).

    The relations are those of 'analyze relations'; one that is private to a module is module::relation. For example:
    analyze query 'call_target(c, f), qualified_name(f, "os.system")'
    """
    check_usage(click.get_current_context().params)
    if limit is None:
        limit = SHOWN if format == "text" and output is None else 0
    from analyzer.queries.query import Query, own_rules
    from cli.output import tell_problems

    asked = Query(query or "", own_rules(rules, files), limit or None)
    if not query:
        start_shell(asked, path, (live, flags | {"jobs": jobs}), program, facts or Path("."), int(number_width or 32))
        return
    if watch:
        watch_answers(asked, path, (live, flags | {"jobs": jobs}))
        return
    if program is not None:
        from analyzer.queries.program_query import ask_program

        answers = ask_program(program, facts or Path("."), asked, int(number_width or 32), jobs)
    elif batch is not None:
        from analyzer.queries.program_query import ask_batch

        answers = ask_batch(batch, asked, jobs)
    else:
        answers = answers_of(asked, path, rev, live, flags | {"jobs": jobs})
    deliver(answers, asked, path, format, output)
    raise SystemExit(tell_problems(answers.problems, path))


def check_usage(given: Mapping[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""
    program, batch, rev = given["program"], given["batch"], given["rev"]
    if program is None and (given["facts"] is not None or given["number_width"] is not None):
        raise click.UsageError("-F and --number-width go only with -p")
    if program is not None and batch is not None:
        raise click.UsageError("-p goes not with --batch")
    on_tree = program is None and batch is None
    if not on_tree and (rev is not None or given["models"] or given["exclude"]):
        raise click.UsageError("--rev, --models and --exclude go only with PATH")
    to_file = given["output"] is not None or given["format"] != "text"
    if given["watch"] and (not given["query"] or not on_tree or rev is not None or to_file):
        raise click.UsageError("--watch goes with a QUERY on a working tree, answered as text")
    if given["query"]:
        return
    if rev is not None or batch is not None or to_file:
        raise click.UsageError("a shell goes not with --rev, --batch, --format and -o: give QUERY")
    if not sys.stdin.isatty():
        raise click.UsageError("a shell needs a terminal: give QUERY")


def answers_of(asked: Query, path: Path, rev: str | None, live: str | None, flags: dict[str, Any]) -> Answers:
    """Return the answers on a tree: only one's own on a commit, which live processes do not hold."""
    from cli.live_answer import live_or_own

    def ask() -> tuple[Answers | None, str]:
        from analyzer.queries.ask_live import ask_live

        return ask_live(path, (live, flags), asked)

    def derive() -> Answers:
        from analyzer.queries.tree_query import ask_tree
        from analyzer.scan import ScanRequest
        from cli.progress import Bars

        with Bars() as bars:
            return ask_tree(ScanRequest.from_flags(path, rev, flags), asked, bars)

    return live_or_own("off" if rev is not None else live, ask, derive)


def watch_answers(asked: Query, path: Path, live: Live) -> None:
    """Show answers, and again when they are others. Raises AnalyzeError A004 where watchfiles is missing."""
    from itertools import chain

    from analyzer.errors import AnalyzeError
    from analyzer.extraction.collect_facts import silent
    from analyzer.queries.shared_queries import queries_on
    from cli.answer_table import print_answers
    from cli.output import tell_news

    try:
        from watchfiles import watch
    except ImportError as error:
        raise AnalyzeError("A004", f"--watch needs {error.name}", help="pip install 'watchfiles>=1'") from None
    (queries, warning), shown = queries_on(path, live, silent), None
    warn(*filter(None, [warning]))
    told: tuple[Problem, ...] = ()
    try:
        # What changes before files are watched is seen when nothing has for a while.
        for _ in chain([None], watch(path, yield_on_timeout=True, rust_timeout=QUIET_MS)):
            answers = queries.ask(asked)
            if answers != shown:
                told = tell_news(answers.problems, told)
                print_answers(answers)
            shown = answers
    finally:
        queries.close()


def start_shell(asked: Query, path: Path, live: Live, program: Path | None, facts: Path, number_bits: int) -> None:
    """Answer queries that are typed. Raises AnalyzeError A004 where prompt_toolkit is missing."""
    from analyzer.errors import AnalyzeError
    from analyzer.queries.live_queries import ProgramQueries, history_file
    from analyzer.queries.shared_queries import queries_on
    from cli.progress import Bars

    try:
        from cli.query_shell import Shell
    except ImportError as error:
        help = "pip install 'prompt_toolkit>=3,<4', or give QUERY"
        raise AnalyzeError("A004", f"the shell needs {error.name}", help=help) from None
    if program is not None:
        Shell(ProgramQueries(program, facts, number_bits, live[1]["jobs"]), asked).run(history_file(path))
        return
    with Bars() as bars:
        queries, warning = queries_on(path, live, bars)
    warn(*filter(None, [warning]))
    try:
        Shell(queries, asked).run(history_file(path))
    finally:
        queries.close()


def deliver(answers: Answers, asked: Query, path: Path, format: str, output: Path | None) -> None:
    """Show the answers, or write them to a file."""
    from analyzer import VERSION
    from analyzer.queries.answer_files import as_csv, as_json, as_sarif, from_here
    from cli.answer_table import print_answers, render
    from cli.output import write_file

    shown = from_here(answers, str(path))
    match format:
        case "sarif":
            text = as_sarif(answers, asked.text, VERSION)
        case "json":
            text = as_json(shown, VERSION)
        case "csv":
            text = as_csv(shown)
        case _ if output is not None:
            text = render(shown)
        case _:
            return print_answers(shown)
    if format != "text" and answers.n_left_out:
        warn(f"{answers.n_left_out} more answers are left out (--limit)")
    if output is not None:
        write_file(output, text)
    else:
        say(text, nl=False)
