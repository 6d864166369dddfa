"""The comparison of two reports: new, unchanged and fixed findings.

Findings are matched by content first (`fingerprint`), which survives moved lines and renamed files. Equal ones in
several files are matched by path. The rest is matched by file and by GitHub's hash of the line, which survives
insertion and deletion of statements beside an equal one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from analyzer.exit_codes import exit_code
from analyzer.history.causes import Cause
from analyzer.report import Finding, Report, Weakening, reaches


@dataclass(frozen=True, slots=True)
class Comparison:
    """The report of `head`, whose findings are `new` or `unchanged`; `fixed` are findings only of the base.

    Suppressed findings are never new. `hidden` are those of the head that are suppressed, or left out of a generated
    file, and were not so in the base: they are not fixed. `causes` maps fingerprints of new findings to the changes
    that caused them. `weakened` and `added` are what the head's own settings would lose and add once it is a base.
    """

    base: str
    head: Report
    new: tuple[Finding, ...]
    unchanged: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    hidden: tuple[Finding, ...] = ()
    base_complete: bool = True
    causes: dict[str, Cause] = field(default_factory=dict)
    weakened: tuple[Weakening, ...] = ()
    added: tuple[str, ...] = ()

    def exit_code(self, fail_on: str, severity: str, weakened: str) -> int:
        """Return 3 if incomplete, else 1 if something reaches its threshold, else 0.

        The threshold is `severity` for open ("any") or new findings, and `weakened` for weakenings.
        """
        counted = self.new if fail_on == "new" else self.head.open_findings
        found = {self.head.check(finding.check).severity for finding in counted}
        fails = reaches(found, severity) or reaches({item.severity for item in self.weakened}, weakened)
        return exit_code(self.head.complete and self.base_complete, fails)

    @property
    def states(self) -> dict[str, str]:
        """SARIF's baselineState of each finding of the head, by fingerprint."""
        new = {finding.fingerprint for finding in self.new}
        return {f.fingerprint: "new" if f.fingerprint in new else "unchanged" for f in self.head.findings}


def compare(base: Report, head: Report) -> Comparison:
    """Return the comparison of two reports."""
    open_before = set(base.open_findings)
    before = dict(paired([*base.findings, *base.left_out], [*head.findings, *head.left_out]))
    new: list[Finding] = []
    unchanged: list[Finding] = []
    hidden: list[Finding] = []
    for finding in head.open_findings:
        (unchanged if before.get(finding) in open_before else new).append(finding)
    for finding in (*head.findings, *head.left_out):
        was = before.get(finding)
        if (finding.suppression or finding in head.left_out) and (was is None or was in open_before):
            hidden.append(finding)
    stayed = {before.get(finding) for finding in (*unchanged, *hidden)}
    fixed = [finding for finding in base.open_findings if finding not in stayed]
    return Comparison(
        base.revision, head, tuple(new), tuple(unchanged), tuple(fixed), tuple(hidden), base_complete=base.complete
    )


def paired(base: Iterable[Finding], head: Iterable[Finding]) -> list[tuple[Finding, Finding]]:
    """Return matching findings as (finding of head, finding of base); each is in at most one pair."""
    pairs: list[tuple[Finding, Finding]] = []
    old, new = list(base), list(head)
    for key in (
        lambda finding: (stem(finding), finding.place.file),
        stem,
        lambda finding: (finding.check, finding.place.file, finding.line_hash.partition(":")[0]),
    ):
        found = _pair(old, new, key)
        pairs += found
        seen = {id(finding) for pair in found for finding in pair}
        old = [finding for finding in old if id(finding) not in seen]
        new = [finding for finding in new if id(finding) not in seen]
    return pairs


def stem(finding: Finding) -> str:
    """Return the fingerprint without the suffix that distinguishes equal ones."""
    return finding.fingerprint.partition("-")[0]


def _pair(
    old: Iterable[Finding], new: Iterable[Finding], key: Callable[[Finding], Hashable]
) -> list[tuple[Finding, Finding]]:
    """Pair findings of equal keys, in the order of their places."""
    waiting: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in reversed(list(old)):
        waiting[key(finding)].append(finding)
    return [(finding, waiting[key(finding)].pop()) for finding in new if waiting[key(finding)]]
