"""Leave out findings whose path is long, unless the audit tier is asked for.

Each step is true of nearly all programs and wrong of some; of many in a row one is wrong more often than not. So a long
path is worth a look, but blocks no merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.report import Check, Finding


def with_short_paths(findings: Iterable[Finding], checks: Sequence[Check]) -> list[Finding]:
    """Return the findings whose paths have no more steps than their checks allow; other tiers allow any number."""
    longest = {check.id: check.max_steps for check in checks if check.tier == "default" and check.max_steps}
    return [finding for finding in findings if len(finding.path) <= longest.get(finding.check, len(finding.path))]
