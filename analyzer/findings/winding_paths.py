"""Leave out findings whose path leads through many calls, unless the audit tier is asked for.

That data passes a call is true of nearly all programs, and wrong of some; of many in a row one is wrong more often than
not. So such a path is worth a look, but blocks no merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.findings.from_relations import WAYS
from analyzer.report import Check, Finding

PASSING = {WAYS["enter"], WAYS["leave"]}


def with_short_paths(findings: Iterable[Finding], checks: Sequence[Check]) -> list[Finding]:
    """Return the findings whose paths enter and leave no more calls than their checks allow: other tiers allow any."""
    most = {check.id: check.max_calls for check in checks if check.tier == "default" and check.max_calls is not None}
    return [finding for finding in findings if finding.check not in most or n_calls(finding) <= most[finding.check]]


def n_calls(finding: Finding) -> int:
    """Return how often the path enters or leaves a function."""
    return sum(step.message in PASSING for step in finding.path)
