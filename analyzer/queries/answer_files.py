"""Answers as JSON, CSV and SARIF."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import asdict, replace
from typing import Any

from analyzer.escaping import json_text, printable
from analyzer.outputs.relative_paths import problem_from, renaming
from analyzer.outputs.sarif import render_sarif
from analyzer.queries.answers import Answers, Code, Value
from analyzer.report import Check, Finding, Problem, Report, Step

QUERY = "query"
NO_PLACE = "answers without a place in the code are left out: SARIF is about places"


def from_here(answers: Answers, target: str) -> Answers:
    """Return answers with paths from the working directory instead of from the target of the query."""
    rename = renaming(target)

    def shown(value: Value) -> Value:
        if not isinstance(value, Code) or value.place is None:
            return value
        return replace(value, place=replace(value.place, file=rename(value.place.file)))

    rows = tuple(tuple(map(shown, row)) for row in answers.rows)
    return replace(answers, rows=rows, problems=tuple(problem_from(each, rename) for each in answers.problems))


def as_json(answers: Answers, version: str) -> str:
    """Return the columns, the rows by column, and how many there are in all."""
    names = [column.name for column in answers.columns]
    document = {
        "version": version,
        "columns": [{"name": column.name, "type": column.type} for column in answers.columns],
        "total": answers.total,
        "problems": [asdict(problem) for problem in answers.problems],
        "rows": [dict(zip(names, map(json_value, row), strict=True)) for row in answers.rows],
    }
    return json_text(document)


def json_value(value: Value) -> Any:
    if not isinstance(value, Code):
        return value
    return {**(asdict(value.place) if value.place else {}), "text": value.text}


def as_csv(answers: Answers) -> str:
    """Return a line for each row. An entity takes two columns: its place, and its text."""
    head = [
        name
        for column in answers.columns
        for name in ((column.name, f"{column.name}.text") if column.is_code else (column.name,))
    ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([cell for value in row for cell in cells(value)] for row in answers.rows)
    return buffer.getvalue()


def cells(value: Value) -> list[str]:
    if isinstance(value, Code):
        return [printable(str(value.place or "")), printable(value.text)]
    return [printable(str(value))]


def as_sarif(answers: Answers, text: str, version: str) -> str:
    """Return a result for each row that has a place: that of its first entity; the others are steps beside it."""
    check = Check(QUERY, "Answer to a query", "note", "high", text, help=f"Answers to the query `{text}`.")
    findings = [finding for row in answers.rows if (finding := as_finding(answers, row))]
    problems = list(answers.problems)
    if len(findings) < len(answers.rows):
        problems.append(Problem(f"{len(answers.rows) - len(findings)} {NO_PLACE}", level="warning"))
    if answers.n_left_out:
        problems.append(Problem(f"{answers.n_left_out} more answers are left out", level="warning"))
    report = Report("", prefix=answers.prefix, checks=(check,), findings=tuple(findings), problems=tuple(problems))
    return render_sarif(report, version)


def as_finding(answers: Answers, row: tuple[Value, ...]) -> Finding | None:
    named = list(zip((column.name for column in answers.columns), row, strict=True))
    steps = [Step(value.place, name) for name, value in named if isinstance(value, Code) and value.place]
    if not steps:
        return None
    message = ", ".join(f"{name} = {value.text if isinstance(value, Code) else value}" for name, value in named)
    content = "\0".join([message, *(step.place.file for step in steps)])
    fingerprint = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
    path = tuple(steps) if len(steps) > 1 else ()
    return Finding(QUERY, message, steps[0].place, path, fingerprint=fingerprint, line_hash=fingerprint)
