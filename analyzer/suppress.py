"""Which findings are suppressed: decided here once, for every output and for the exit code.

A comment `analyze: ignore[rule, …] reason` suppresses findings on its own line; standing alone on a line, those on the
next line that is not a comment. Rules may be patterns (`*-injection`); without a list every rule is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from analyzer.report import Finding, Suppression

DIRECTIVE = re.compile(r"\banalyze:\s*ignore(?:\[([^\]]*)\])?[ \t]*([^\r\n]*)")
COMMENT_LINE = re.compile(r"\s*(#|//|--|/\*|\*)")


def parse_suppression(file: str, line: int, comment: str) -> Suppression | None:
    """Return what a comment suppresses, or None where it speaks of something else."""
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
    findings: Iterable[Finding], covering: Sequence[tuple[int, Suppression]]
) -> tuple[list[Finding], list[Suppression]]:
    """Return the findings, marked where one of the suppressions applies, and the suppressions that none needed.

    `covering` gives the covered line of each suppression.
    """
    by_line: dict[tuple[str, int], list[Suppression]] = {}
    for line, suppression in covering:
        by_line.setdefault((suppression.file, line), []).append(suppression)
    used = set()
    marked = []
    for finding in findings:
        here = by_line.get((finding.place.file, finding.place.line), [])
        by = next((suppression for suppression in here if names(suppression, finding.check)), None)
        used.add(by)
        marked.append(replace(finding, suppression=by) if by else finding)
    return marked, [suppression for _, suppression in covering if suppression not in used]


def names(suppression: Suppression, check: str) -> bool:
    return not suppression.rules or any(fnmatchcase(check, rule) for rule in suppression.rules)


def judged(suppression: Suppression, run: set[str], known: set[str]) -> bool:
    """Whether the checks that ran can tell that the suppression is unused: none that it names was left out."""
    return not any(names(suppression, check) for check in known - run)
