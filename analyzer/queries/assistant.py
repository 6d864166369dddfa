"""What an assistant may ask about a repository: small answers with places, in a stable order, cut to limits.

It reads files of the directory that it was opened on, through the rules of a scan, and nothing else; it writes nothing
there, and runs nothing. Paths are relative to that directory.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from threading import Lock
from typing import Any

from analyzer.errors import AnalyzeError
from analyzer.evaluation.line_query import Question
from analyzer.explanation.questions import Silence
from analyzer.explanation.tree_questions import chosen, scanned
from analyzer.explanation.why_not import why_silent
from analyzer.outputs.sarif import coverage_as_dict
from analyzer.queries.answer_files import json_value
from analyzer.queries.answers import Code, Value
from analyzer.queries.live_queries import TreeQueries, by_itself
from analyzer.queries.query import Query, own_rules
from analyzer.report import Finding, Report
from analyzer.sources.frozen_tree import NO_TEXTS

MAX_ITEMS = 50
MAX_EXPLAINED = 3
MAX_TEXT = 8_000
"""Characters of an explanation."""
MAX_EDIT = 1 << 20

Answer = dict[str, Any]


class Assistant:
    """Answers about one directory; calls do not overlap."""

    def __init__(self, path: Path, flags: Mapping[str, Any]) -> None:
        """Raises AnalyzeError A001."""
        self.path, self.flags, self.queries, self._lock = path, flags, TreeQueries.on(path, flags), Lock()
        self.repository = self.queries.repository

    def close(self) -> None:
        self.queries.close()

    # ---- findings

    def scan(self) -> Answer:
        """Return how many findings there are by check, what was read, and what was not."""
        with self._lock:
            report = self._report()
        counts = Counter(finding.check for finding in report.open_findings)
        severity = {check.id: check.severity for check in report.checks}
        coverage = coverage_as_dict(report)
        return {
            "findings": sum(counts.values()),
            "by_check": [
                {"check": check, "severity": severity[check], "count": count} for check, count in sorted(counts.items())
            ],
            "files": report.coverage.files,
            "lines": report.coverage.lines,
            "calls": coverage["calls"],
            "complete": report.complete,
            **cut("problems", [problem_text(problem) for problem in report.problems]),
        }

    def findings(self, check: str = "", file: str = "", severity: str = "", offset: int = 0) -> Answer:
        """Return findings in order of place, of one check, file or severity where they are given."""
        with self._lock:
            report = self._report()
        severities = {each.id: each.severity for each in report.checks}
        found = [
            shown_finding(finding, severities[finding.check])
            for finding in report.open_findings
            if check in ("", finding.check)
            and file in ("", finding.place.file)
            and severity in ("", severities[finding.check])
        ]
        return cut("findings", found, offset)

    def explain(self, what: str) -> Answer:
        """Return the steps of a finding, given by its fingerprint or as FILE:LINE, each with what it rests on.

        Of an atom, such as call_target(_, _), the derivation of a tuple that matches it; if none does, why not.
        """
        with self._lock:
            if "(" in what:
                return {"explanations": [shortened(self.queries.why(what), MAX_TEXT)], "total": 1}
            question = Question.parse(self._place(*split_place(what)), self.path) if ":" in what else None
            with by_itself():
                held = scanned(self.repository)
            found = list(chosen(held.report.findings, what, question))
            if not found:
                raise AnalyzeError("A010", f"no finding is {what}", help="'findings' lists them")
            texts = ["\n".join(held.explained(each, False).lines()) for each in found[:MAX_EXPLAINED]]
        return {"explanations": [shortened(text, MAX_TEXT // len(texts)) for text in texts], "total": len(found)}

    def why_not(self, check: str, file: str, line: int, from_file: str = "", from_line: int = 0) -> Answer:
        """Return why a check reports nothing on a line, of data from another line if that is given.

        Each reason by itself keeps the check from reporting; the tuple or model in it would make the finding appear.
        """
        name = self._inside(file)
        begin = Question(self._inside(from_file), from_line) if from_file else None
        asked = Silence(check, f"{name}:{line}", Question(name, line), begin)
        with self._lock, by_itself():
            found = why_silent(self.repository, asked).document()
        return {**found, "reasons": found["reasons"][:MAX_EXPLAINED]}

    def check_edit(self, file: str, text: str) -> Answer:
        """Return the findings that a file's text would bring and fix if it were saved; nothing is saved."""
        name = self._inside(file)
        if len(text) > MAX_EDIT:
            raise AnalyzeError("A007", f"the text has {len(text):,} characters; at most {MAX_EDIT:,} are checked")
        with self._lock:
            before = self._report()
            if name not in {entry.path for entry in self.repository.frozen().entries()}:
                raise AnalyzeError("A007", f"{name} is no file of the directory", help="save a new file first")
            after = self._report({name: text.encode("utf-8", "surrogatepass")})
        severity = {check.id: check.severity for check in after.checks}
        known, there = ({each.fingerprint for each in report.open_findings} for report in (before, after))
        new = [each for each in after.open_findings if each.fingerprint not in known]
        fixed = [each for each in before.open_findings if each.fingerprint not in there]
        return {
            **cut("new", [shown_finding(each, severity[each.check]) for each in new]),
            "fixed": [shown_finding(each, severity[each.check]) for each in fixed][:MAX_ITEMS],
            "lines_that_do_not_parse": list(after.coverage.unparsed.get(name, ()))[:MAX_ITEMS],
        }

    # ---- relations

    def query(self, query: str, rules: str = "", limit: int = MAX_ITEMS) -> Answer:
        """Return the answers to a query in Datalog, which may read rules of one's own."""
        with self._lock:
            return self._rows(query, rules, max(1, min(limit, MAX_ITEMS)))

    def relations(self, pattern: str = "", offset: int = 0) -> Answer:
        """Return relations whose names or modules match a pattern, with their columns and what a row means."""
        with self._lock:
            listed = self.queries.relations()
        found = [
            {"relation": each.signature, "module": each.module, "means": each.description}
            for each in listed
            if (each.fits(pattern) if pattern else each.kind != "private")
        ]
        return cut("relations", found, offset)

    def callers(self, function: str) -> Answer:
        """Return the calls that may run a function, by its qualified name, and what they stand in."""
        text = f"call_target(call, _f), qualified_name(_f, {quoted(function)})"
        return self._calls(function, f"{text}, place_in(call, _b), qualified_name(_b, caller)")

    def callees(self, function: str) -> Answer:
        """Return the calls in a function, by its qualified name, and what they may run."""
        at = f"qualified_name(_b, {quoted(function)}), place_in(call, _b)"
        return self._calls(
            function, f"{at}, call_target(call, _f), qualified_name(_f, callee); {at}, calls_library(call, callee)"
        )

    def tainted_at(self, file: str, line: int) -> Answer:
        """Return the values on a line that hold data that someone else chose, as far as it does harm somewhere."""
        name = self._inside(file)
        text = f"tainted(_, _, [value, _, _]), location(value, {quoted(name)}, {int(line)}, _, _, _)"
        with self._lock:
            return self._rows(text, "", MAX_ITEMS)

    # ---- what these rest on

    def _report(self, unsaved: Mapping[str, bytes] = NO_TEXTS) -> Report:
        with by_itself():
            return self.repository.report(self.repository.frozen(unsaved)).report

    def _rows(self, text: str, rules: str, limit: int) -> Answer:
        answers = self.queries.answers(Query(text, own_rules([rules] if rules else [], []), limit))
        names = [column.name for column in answers.columns]
        shown = [dict(zip(names, map(small, row), strict=True)) for row in answers.rows]
        lacking = [problem_text(problem) for problem in answers.problems][:MAX_ITEMS]
        more = {"problems": lacking} if lacking else {}
        return {"answers": shown, "total": answers.total, "more": answers.n_left_out, **more}

    def _calls(self, function: str, text: str) -> Answer:
        with self._lock:
            found = self._rows(text, "", MAX_ITEMS)
            if not found["total"]:
                found |= self._similar(function)
        return found

    def _similar(self, function: str) -> Answer:
        """Return names of functions that are like one that is not there."""
        answers = self.queries.answers(Query("function(f, _, _), qualified_name(f, name)"))
        known = sorted({str(row[1]) for row in answers.rows})
        if function in known:
            return {}
        ends = [name for name in known if name.rpartition(".")[2] == function.rpartition(".")[2]]
        return {"no_such_function": function, "similar": (ends or get_close_matches(function, known))[:5]}

    def _place(self, file: str, line: int) -> str:
        """Return a line of a file as `analyze explain` is given it, from the working directory."""
        return f"{self.path / self._inside(file)}:{line}"

    def _inside(self, file: str) -> str:
        """Return a path relative to the directory. Raises AnalyzeError A007 for one that leads out of it."""
        name = posixpath.normpath(file.replace("\\", "/"))
        if not file or name.startswith(("/", "..")) or ":" in name.split("/")[0] or "\0" in name:
            raise AnalyzeError("A007", f"{file!r} is not a path inside the directory", help="give it relative to that")
        return name


def split_place(text: str) -> tuple[str, int]:
    """Return the file and line of FILE:LINE. Raises AnalyzeError A007."""
    file, _, line = text.rpartition(":")
    if not line.isascii() or not line.isdigit():
        raise AnalyzeError("A007", f"'{text}' is not FILE:LINE", help="write FILE:LINE, such as app/views.py:12")
    return file, int(line)


def cut(name: str, items: Sequence[Any], offset: int = 0) -> Answer:
    """Return a page of items, their number, and where the next page begins."""
    first = max(0, offset)
    page = list(items[first : first + MAX_ITEMS])
    after = first + len(page)
    return {name: page, "total": len(items), **({"next_offset": after} if after < len(items) else {})}


def shown_finding(finding: Finding, severity: str) -> Answer:
    shown = {"check": finding.check, "severity": severity, "place": str(finding.place), "message": finding.message}
    if finding.path:
        shown["source"] = str(finding.path[0].place)
    return {**shown, "fingerprint": finding.fingerprint}


def problem_text(problem: Any) -> str:
    return f"{problem.file}: {problem.message}" if problem.file else problem.message


def small(value: Value) -> Any:
    """Return a value as it is shown: of an entity its place and text on one line."""
    if isinstance(value, Code):
        return {"place": str(value.place) if value.place else "", "text": value.text}
    return json_value(value)


def quoted(text: str) -> str:
    """Return a text as a constant of a query."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else " " for c in escaped) + '"'


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
