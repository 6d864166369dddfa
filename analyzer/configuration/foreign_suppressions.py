"""Suppression comments of other tools, as far as they name a rule that one of our checks stands beside.

Each check says in its header under which names others report the same (`@also`). A comment that
names rules which no check knows, and one without a rule, suppresses nothing here: what its author had in mind is not
known. A `noqa` without a rule is of flake8, whose own rules are few: unused imports and variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from analyzer.report import Check, Suppression
from facts.suppression_patterns import FOREIGN, OF_BLOCKS, OF_FILES, OF_STATEMENTS

TOOLS = {"gosec": "g[0-9][0-9][0-9]", "noqa": "f[0-9][0-9][0-9]"}
"""What stands for all rules of a linter, and what these are called: `nolint:gosec`, and for flake8 a bare `noqa`."""


class ForeignNames:
    """The checks by the names that other tools give to what they report."""

    def __init__(self, checks: Iterable[Check]) -> None:
        self._names = [(check.id, name.lower()) for check in checks for name in check.also]
        self._known: dict[str, frozenset[str]] = {}

    def checks(self, rule: str) -> frozenset[str]:
        """Return the ids of the checks that report what another tool's rule does."""
        rule = rule.lower()
        if rule not in self._known:
            self._known[rule] = frozenset(check for check, name in self._names if stands_for(name, rule))
        return self._known[rule]

    def suppressions(self, file: str, line: int, comment: str, lines: Sequence[str]) -> Iterator[Suppression]:
        """Yield what a comment suppresses, given the lines of its file, one for each line that it covers.

        The reason is the part of the comment that says so.
        """
        for pattern in FOREIGN:
            if found := pattern.search(comment):
                checks = {check for rule in re.split(r"[\s,]+", found[1]) for check in self.checks(rule)}
                covered = covered_lines(pattern, line, comment, lines)
                for each in covered if checks else ():
                    yield Suppression(file, each, tuple(sorted(checks)), found[0].strip(), foreign=True)


def stands_for(name: str, rule: str) -> bool:
    """Return True if a name, which may be a pattern, is that of a rule, or of one of those of a linter."""
    return fnmatchcase(name, TOOLS[rule]) if rule in TOOLS else fnmatchcase(rule, name)


def covered_lines(pattern: re.Pattern[str], line: int, comment: str, lines: Sequence[str]) -> range:
    """Return the lines, from 1 on, that a comment which the pattern matches covers."""
    if pattern in OF_STATEMENTS:
        return bracketed(line, comment, lines)
    if pattern in OF_FILES:
        return range(1, len(lines) + 1) if lines[line - 1].strip().startswith(comment) else range(0)
    if pattern in OF_BLOCKS and lines[line - 1].strip().startswith(comment):
        return in_block(OF_BLOCKS[pattern], line, lines)
    return range(line, line + 1)


def in_block(end: re.Pattern[str], line: int, lines: Sequence[str]) -> range:
    """Return the lines, from 1 on, from a comment to the one that ends what it says, or to the end of its block."""
    margin = _indentation(lines[line - 1])
    behind = (
        at
        for at in range(line, len(lines))
        if end.search(lines[at]) or (lines[at].strip() and _indentation(lines[at]) < margin)
    )
    return range(line, next(behind, len(lines)) + 1)


def bracketed(line: int, comment: str, lines: Sequence[str]) -> range:
    """Return the lines, from 1 on, that a comment behind an opening bracket covers: up to the closing one."""
    text = lines[line - 1]
    if not text[: text.find(comment)].rstrip().endswith(("(", "[", "{")):
        return range(line, line + 1)
    margin = _indentation(text)
    behind = (at for at in range(line, len(lines)) if lines[at].strip() and _indentation(lines[at]) <= margin)
    return range(line, next(behind, line - 1) + 2)


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
