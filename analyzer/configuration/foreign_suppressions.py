"""Suppression comments of other tools, as far as they name a rule that one of our checks stands beside.

Each check says in its header under which names others report the same (`@also`). A comment that
names rules which no check knows, and one without a rule, suppresses nothing here: what its author had in mind is not
known. A `noqa` without a rule is of flake8, whose own rules are few: unused imports and variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from analyzer.report import Check, Suppression
from facts.suppression_patterns import FOREIGN

TOOLS = {"gosec": "g[0-9][0-9][0-9]", "noqa": "f[0-9][0-9][0-9]"}
"""What stands for all rules of a linter, and what these are called: `nolint:gosec`, and for flake8 a bare `noqa`."""


class ForeignNames:
    """The checks by the names that other tools give to what they report."""

    def __init__(self, checks: Iterable[Check]) -> None:
        self._names = [(check.id, name.lower()) for check in checks for name in check.also]

    def checks(self, rule: str) -> Iterator[str]:
        """Yield the ids of the checks that report what another tool's rule does."""
        rule = rule.lower()
        for check, name in self._names:
            if fnmatchcase(name, TOOLS[rule]) if rule in TOOLS else fnmatchcase(rule, name):
                yield check

    def suppressions(self, file: str, line: int, comment: str) -> Iterator[Suppression]:
        """Yield what a comment suppresses. The reason is the part of the comment that says so."""
        for pattern in FOREIGN:
            if found := pattern.search(comment):
                checks = {check for rule in re.split(r"[\s,]+", found[1]) for check in self.checks(rule)}
                if checks:
                    yield Suppression(file, line, tuple(sorted(checks)), found[0].strip(), foreign=True)
