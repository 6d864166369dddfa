"""Which findings of a commit are new against another one, which stayed, and which are gone.

Findings are told apart by content first (`fingerprint`): this survives moved lines and renamed files. Equal ones in
several files are paired by path. What is left is paired by file and by GitHub's hash of the line, which survives
statements that come or go beside an equal one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from analyzer.commits.causes import Cause
from analyzer.report import SEVERITIES, Finding, Report, Weakening


@dataclass(frozen=True, slots=True)
class Comparison:
    """The report of `head`, whose findings are `new` or `unchanged`; `fixed` are those of the base that are gone.

    Suppressed findings are never new. `hidden` are those of the head that are suppressed, or left out of a generated
    file, and were not so in the base: they are not fixed. `causes` holds, by fingerprint of a new finding, the change
    that brought it. `weakened` is what the head's own files would take away, `added` what they would add once the head
    is somebody's base.
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
        """Return 3 when incomplete, else 1 for what is severe enough, else 0.

        That is an open finding ("any") or a new one by `severity`, or what is taken away by `weakened`.
        """
        if not (self.head.complete and self.base_complete):
            return 3
        counted = self.new if fail_on == "new" else self.head.open_findings
        found = {self.head.check(finding.check).severity for finding in counted}
        return int(fails(found, severity) or fails({item.severity for item in self.weakened}, weakened))

    @property
    def states(self) -> dict[str, str]:
        """SARIF's baselineState of each finding of the head, by fingerprint."""
        new = {finding.fingerprint for finding in self.new}
        return {f.fingerprint: "new" if f.fingerprint in new else "unchanged" for f in self.head.findings}


def fails(severities: Iterable[str], threshold: str) -> bool:
    """Return True if one of the severities is a threshold, or beyond."""
    return threshold != "never" and any(SEVERITIES.index(item) >= SEVERITIES.index(threshold) for item in severities)


def compare(base: Report, head: Report) -> Comparison:
    """Return the findings of `head` by what they are against those of `base`."""
    open_before = set(base.open_findings)
    before = dict(paired([*base.findings, *base.left_out], [*head.findings, *head.left_out]))
    new, unchanged, hidden = [], [], []
    for finding in head.open_findings:
        (unchanged if before.get(finding) in open_before else new).append(finding)
    for finding in (*head.findings, *head.left_out):
        was = before.get(finding)
        if (finding.suppression or finding in head.left_out) and (was is None or was in open_before):
            hidden.append(finding)
    stayed = {before.get(finding) for finding in (*unchanged, *hidden)}
    fixed = [finding for finding in base.open_findings if finding not in stayed]
    parts = (tuple(part) for part in (new, unchanged, fixed, hidden))
    return Comparison(base.revision, head, *parts, base_complete=base.complete)


def paired(base: Iterable[Finding], head: Iterable[Finding]) -> list[tuple[Finding, Finding]]:
    """Return (finding of head, finding of base) for those that are the same; each is in one pair at most."""
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
    """Return the fingerprint without the number that tells equal ones apart."""
    return finding.fingerprint.partition("-")[0]


def _pair(
    old: Iterable[Finding], new: Iterable[Finding], key: Callable[[Finding], Hashable]
) -> list[tuple[Finding, Finding]]:
    """Pair findings of equal keys, in the order of their places."""
    waiting: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in reversed(list(old)):
        waiting[key(finding)].append(finding)
    return [(finding, waiting[key(finding)].pop()) for finding in new if waiting[key(finding)]]
