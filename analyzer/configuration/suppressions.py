"""Suppression of findings, decided once for all outputs and the exit code.

A comment `analyze: ignore[rule, …] reason` suppresses findings on its own line; standing alone on a line, those on the
next line that is not a comment. If there are none, it suppresses those whose statement contains the line. Rules may be
patterns (`*-injection`); without a list, every rule is suppressed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from analyzer.report import Finding, Place, Problem, Suppression

DIRECTIVE = re.compile(r"\banalyze:\s*ignore(?:[ \t]*\[([^\]]*)\]|(?![\w({-])(?![ \t]*\[))[ \t]*([^\r\n]*)")
WORD = re.compile(r"\banalyze:\s*([\w-]+)")
COMMENT_LINE = re.compile(r"\s*(#|//|--|\{?/\*|\*)")


def parse_suppression(file: str, line: int, comment: str) -> Suppression | None:
    """Return the suppression in a comment, or None."""
    match = DIRECTIVE.search(comment)
    if match is None:
        return None
    rules = tuple(rule.strip() for rule in (match[1] or "").split(",") if rule.strip())
    return Suppression(file, line, rules, match[2].strip())


def covered_line(suppression: Suppression, lines: Sequence[str]) -> int:
    """Return the 1-based line whose findings the comment suppresses, given the lines of its file."""
    line = suppression.line
    if not COMMENT_LINE.match(lines[line - 1]):
        return line
    while line < len(lines) and COMMENT_LINE.match(lines[line]):
        line += 1
    return line + 1


def suppress(
    findings: Iterable[Finding],
    covering: Sequence[tuple[int, Suppression]],
    statement: Callable[[Place], Collection[int]],
) -> tuple[list[Finding], list[Suppression]]:
    """Return the findings, with the suppressions that apply, and the unused suppressions.

    `covering` gives the covered line of each suppression, `statement` the lines of the statement around a place.
    """
    by_line: dict[tuple[str, int], list[Suppression]] = {}
    for line, suppression in covering:
        by_line.setdefault((suppression.file, line), []).append(suppression)
    marked = [_marked(finding, by_line.get((finding.place.file, finding.place.line), ())) for finding in findings]
    left = _unused(covering, marked)
    by_file: dict[str, list[tuple[int, Suppression]]] = {}
    for line, suppression in left:
        by_file.setdefault(suppression.file, []).append((line, suppression))
    for i, finding in enumerate(marked):
        if finding.suppression is None and (nearby := by_file.get(finding.place.file)):
            lines = statement(finding.place)
            marked[i] = _marked(finding, [suppression for line, suppression in nearby if line in lines])
    return marked, [suppression for _, suppression in _unused(left, marked)]


def _marked(finding: Finding, suppressions: Iterable[Suppression]) -> Finding:
    by = next((suppression for suppression in suppressions if names(suppression, finding.check)), None)
    return replace(finding, suppression=by) if by else finding


def _unused(covering: Iterable[tuple[int, Suppression]], marked: Iterable[Finding]) -> list[tuple[int, Suppression]]:
    used = {finding.suppression for finding in marked}
    return [(line, suppression) for line, suppression in covering if suppression not in used]


def mistakes(file: str, line: int, comment: str, known: Collection[str]) -> Iterator[Problem]:
    """Yield probable mistakes in a suppression comment; `known` are the ids of checks."""
    suppression = parse_suppression(file, line, comment)
    if suppression is None:
        word = WORD.search(comment)
        if word and word[1] == "ignore":
            yield _mistake(file, line, "this suppresses nothing", "analyze: ignore[rule, …]")
        elif word and get_close_matches(word[1].lower(), ["ignore"]):
            yield _mistake(file, line, "this suppresses nothing", "analyze: ignore")
        return
    for rule in suppression.rules:
        if not any(fnmatchcase(check, rule) for check in known):
            near = get_close_matches(rule, known, n=1)
            yield _mistake(file, line, f"no check matches '{rule}'", *near)


def _mistake(file: str, line: int, message: str, meant: str = "") -> Problem:
    help = f"did you mean '{meant}'?" if meant else "'analyze rules list' lists the checks"
    return Problem(message, file, line, "warning", help=help)


def names(suppression: Suppression, check: str) -> bool:
    return not suppression.rules or any(fnmatchcase(check, rule) for rule in suppression.rules)


def judged(suppression: Suppression, run: set[str], known: set[str]) -> bool:
    """Return True if every check that the suppression names has run, so that it can be called unused.

    Another tool's comment is not: that tool needs it.
    """
    if suppression.foreign:
        return False
    if any(not any(fnmatchcase(check, rule) for check in known) for rule in suppression.rules):
        return False
    return not any(names(suppression, check) for check in known - run)
