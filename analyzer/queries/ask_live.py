"""Queries and explanations by the live process of a directory: how commands ask it.

A command gets what it would have derived itself: `None` where the process does not answer, and a warning where it was
told to. An invalid question is the same error. `live_methods.py` is the other end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any

from analyzer.evaluation.line_query import Question
from analyzer.explanation.questions import Extent, Silence, line_of
from analyzer.live.client import asked, sent_flags
from analyzer.queries.answers import Answers, Code, Column, Value
from analyzer.queries.query import Query
from analyzer.report import Place, Problem

Live = tuple[str | None, Mapping[str, Any]]
"""The value of `--live` (auto, on, off), and the options of the command."""


def ask_live(path: Path, live: Live, query: Query) -> tuple[Answers | None, str]:
    """Answer a query on a working tree. Raises AnalyzeError."""
    sources = [(source.name, source.text) for source in query.sources]
    answer, warning = _asked(path, live, "query", text=query.text, sources=sources, limit=query.limit)
    return (None if answer is None else read(answer)), warning


def explain_live(path: Path, live: Live, what: str, extent: Extent, full: bool, format: str) -> tuple[str | None, str]:
    """Explain findings or tuples of a working tree, in a format. Raises AnalyzeError."""
    line = None if "(" in what else line_of(what, path)
    numbers = (extent.limit, extent.number, extent.depth)
    return _asked(path, live, "explain", what=what, line=place_of(line), extent=numbers, full=full, format=format)


def why_not_live(
    path: Path, live: Live, check: str, where: str, begin: str | None, format: str
) -> tuple[str | None, str]:
    """Say why a check reports nothing on a line of a working tree, in a format. Raises AnalyzeError."""
    asked = Silence.parse(path, check, where, begin)
    lines = {"line": place_of(asked.line), "begin": place_of(asked.begin)}
    return _asked(path, live, "why_not", check=asked.check, where=asked.where, **lines, format=format)


def place_of(line: Question | None) -> tuple[str, int] | None:
    return None if line is None else (line.file, line.line)


def _asked(path: Path, live: Live, method: str, **params: Any) -> tuple[str | None, str]:
    mode, flags = live

    def work(client: Any) -> str:
        return str(client.call(method, flags=sent_flags(flags), wait=mode == "on", **params)["answer"])

    return asked(path, mode, work)


def written(answers: Answers) -> str:
    """Return answers as JSON, in which an entity is a list of its place and text."""

    def cell(value: Value) -> Any:
        return [value.place and astuple(value.place), value.text] if isinstance(value, Code) else value

    document = {**asdict(replace(answers, rows=())), "rows": [list(map(cell, row)) for row in answers.rows]}
    return json.dumps(document)


def read(text: str) -> Answers:
    """Return the answers of a text that `written` has made."""
    document = json.loads(text)

    def value(cell: Any) -> Value:
        return Code(cell[0] and Place(*cell[0]), cell[1]) if isinstance(cell, list) else cell

    def problem(of: dict[str, Any]) -> Problem:
        return Problem(**{**of, "places": tuple(Place(**place) for place in of["places"])})

    columns = tuple(Column(**column) for column in document["columns"])
    rows = tuple(tuple(map(value, row)) for row in document["rows"])
    return Answers(columns, rows, document["total"], tuple(map(problem, document["problems"])), document["prefix"])
