"""Leave out findings whose path leads through many calls or files, or is not known, but for the audit tier.

That data passes a call is true of nearly all programs, and wrong of some; of many in a row one is wrong more often than
not. So such a path is worth a look, but blocks no merge. Nor does one that a search gave up on, which winds more still,
or one through a call that may run anything: its result need hold nothing of its arguments.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from analyzer.findings.from_relations import GUESS, WAYS
from analyzer.report import Check, Finding, Place

PASSING = {WAYS["enter"], WAYS["leave"]}
MAX_FILES = 4
"""The most files that a path leads through. Of 24 findings beyond, in ten programs that nobody here had seen, two were
true; of the others every other one."""


def with_short_paths(
    findings: Iterable[Finding], checks: Sequence[Check], abandoned: Container[Place]
) -> list[Finding]:
    """Return the findings whose paths enter and leave no more calls than their checks allow, in MAX_FILES.

    Checks of other tiers allow any. The paths of those at the `abandoned` places were not found.
    """
    most = {check.id: check.max_calls for check in checks if check.tier == "default" and check.max_calls is not None}

    def proves(finding: Finding) -> bool:
        found = bool(finding.path) or finding.place not in abandoned
        is_short = n_calls(finding) <= most[finding.check] and n_files(finding) <= MAX_FILES
        return found and is_short and not is_guessed(finding)

    return [finding for finding in findings if finding.check not in most or proves(finding)]


def is_guessed(finding: Finding) -> bool:
    """Return True if the path goes through a call of which nothing is known: whether data passes it is a guess."""
    return any(step.message == GUESS for step in finding.path)


def n_calls(finding: Finding) -> int:
    """Return how often the path enters or leaves a function."""
    return sum(step.message in PASSING for step in finding.path)


def n_files(finding: Finding) -> int:
    """Return how many files the path leads through."""
    return len({step.place.file for step in finding.path})
