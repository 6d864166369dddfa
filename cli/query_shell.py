"""A shell for queries: relations stay in memory from one to the next.

A line is a query, or a command that begins with a dot; a line that ends with a comma goes on in the next.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from analyzer.errors import AnalyzeError
from analyzer.escaping import printable
from analyzer.queries.live_queries import Queries
from analyzer.queries.query import Query
from analyzer.queries.relation_list import ListedRelation
from analyzer.report import Problem
from cli.answer_table import print_answers
from cli.output import tell_news, terminal
from cli.plan_text import WIDTH_OF_PIPES, print_plan
from cli.relation_table import print_relations
from cli.terminal import say

PROMPT, GOES_ON = "?- ", "   "
HELP = """\
A query is the body of a Datalog rule:  call_target(c, f), qualified_name(f, "os.system")
  .relations [PATTERN]   list relations; Tab completes their names, and columns behind '('
  .explain QUERY         the plan of a query
  .why ATOM              why a tuple is there, and if none matches, why not (also .why-not)
  .limit N               show N answers, 0 for all
  .timing                say how long a query takes, or no longer
  .help                  this
  .quit                  leave, as Ctrl-D does"""
WORD = re.compile(r"[\w.:?]*\Z")
INSIDE = re.compile(r"([\w.:]+)\(([^()]*)\Z")


class RelationCompleter(Completer):
    """Completes commands, names of relations, and behind '(' the columns of one, with what they mean."""

    def __init__(self, relations: Iterable[ListedRelation]) -> None:
        self.relations = {relation.name: relation for relation in relations}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        found = WORD.search(before)
        word = found[0] if found else ""
        if before.startswith(".") and " " not in before:
            yield from (Completion(name, -len(before)) for name in COMMANDS if name.startswith(before))
            return
        if (inside := INSIDE.search(before)) and (relation := self.relations.get(inside[1])):
            yield from self.columns(relation, inside[2].count(","), word)
        elif word:
            yield from self.names(word)

    def names(self, word: str) -> Iterator[Completion]:
        own = ((not name.startswith(word), name) for name in self.relations if word in name)
        for _, name in sorted(own):
            relation = self.relations[name]
            told = printable(relation.description or relation.signature)
            yield Completion(f"{name}(", -len(word), display=printable(relation.signature), display_meta=told)

    def columns(self, relation: ListedRelation, at: int, word: str) -> Iterator[Completion]:
        for name, type in relation.columns[at : at + 1]:
            if name.startswith(word):
                told = f"{type}  {printable(relation.description)}"
                yield Completion(name, -len(word), display_meta=told)


@dataclass(slots=True)
class Shell:
    """Answers lines. `query` has the rules that all of them may read, and the limit; `told` are problems shown last."""

    queries: Queries
    query: Query
    is_timed: bool = False
    told: tuple[Problem, ...] = ()

    def run(self, history: Path | None, input: Input | None = None, output: Output | None = None) -> None:
        """Read lines until the end."""
        completer = RelationCompleter(self.queries.relations())
        lines = FileHistory(str(history)) if history else InMemoryHistory()
        session: PromptSession[str] = PromptSession(history=lines, completer=completer, input=input, output=output)
        say(f"{len(completer.relations):,} relations; .help for help")
        while True:
            try:
                line = read(session)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if line in (".quit", ".exit"):
                return
            self.answer(line)

    def answer(self, line: str) -> None:
        """Answer a line. A mistake is told; Ctrl-C ends the answer."""
        begin = time.perf_counter()
        command, _, rest = line.partition(" ")
        try:
            if line.startswith("."):
                self.command(command, rest.strip())
            elif line:
                answers = self.queries.ask(replace(self.query, text=line))
                self.told = tell_news(answers.problems, self.told)
                print_answers(answers, ".limit 0")
        except AnalyzeError as error:
            say(error.render())
        except KeyboardInterrupt:
            say("interrupted")
        if self.is_timed and line:
            say(f"{time.perf_counter() - begin:.3f} s")

    def command(self, command: str, rest: str) -> None:
        match command:
            case ".relations":
                found = [each for each in self.queries.relations() if not rest or each.fits(rest)]
                shown = [each for each in found if each.kind != "private" or rest]
                print_relations(shown, len(found) - len(shown))
            case ".explain":
                print_plan(self.queries.plan(replace(self.query, text=rest)), terminal(WIDTH_OF_PIPES))
            case ".why" | ".why-not":
                say(self.queries.why(rest), nl=False)
            case ".limit" if rest.isdecimal():
                self.query = replace(self.query, limit=int(rest) or None)
            case ".timing":
                self.is_timed = not self.is_timed
                say(f"timing is {'on' if self.is_timed else 'off'}")
            case ".help":
                say(HELP)
            case _:
                say(f"no command {command}; .help lists them")


COMMANDS = (".explain", ".help", ".limit", ".quit", ".relations", ".timing", ".why", ".why-not")


def read(session: PromptSession[str]) -> str:
    """Read a line, and those that it goes on in."""
    line = session.prompt(PROMPT).strip()
    while line.endswith(","):
        line = f"{line} {session.prompt(GOES_ON).strip()}"
    return line
