"""Answers to a query as a table: entities as their place and what stands there."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analyzer.escaping import printable
from cli.terminal import console, say
from cli.text import plural

if TYPE_CHECKING:
    from analyzer.queries.answers import Answers, Value

UNBOUNDED = 10_000
"""Width for output that is not a terminal: lines are not wrapped."""
MAX_SHOWN = 60


def print_answers(answers: Answers, unlimited: str = "--limit 0") -> None:
    """Print the answers: in colours on a terminal, else a line each. `unlimited` says how to see all."""
    shown = console()
    if shown.is_terminal:
        show(answers, shown, unlimited)
    else:
        say(render(answers, unlimited), nl=False)


def render(answers: Answers, unlimited: str = "--limit 0") -> str:
    """Return the answers as text, a line each."""
    buffer = io.StringIO()
    show(answers, console(file=buffer, width=UNBOUNDED, color_system=None), unlimited)
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())


def show(answers: Answers, shown: Console, unlimited: str) -> None:
    if answers.columns:
        shown.print(table(answers))
        shown.print(Text(summary(answers, unlimited), style="dim"))
    else:
        shown.print("yes" if answers.total else "no")


def table(answers: Answers) -> Table:
    made = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column in answers.columns:
        made.add_column(printable(column.name), overflow="fold")
    for row in answers.rows:
        made.add_row(*map(cell, row))
    return made


def cell(value: Value) -> Text:
    if isinstance(value, str | int | float):
        return Text(printable(str(value)))
    text = value.text if len(value.text) <= MAX_SHOWN else value.text[: MAX_SHOWN - 1] + "…"
    place = f"{printable(str(value.place))}  " if value.place else ""
    return Text.assemble((place, "bold"), (printable(text), "cyan"))


def summary(answers: Answers, unlimited: str) -> str:
    if answers.n_left_out:
        return f"{len(answers.rows)} of {plural(answers.total, 'answer')}; {unlimited} shows all"
    return plural(answers.total, "answer")
