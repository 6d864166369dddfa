"""The result of a scan: findings with their paths, coverage, problems. Immutable, and without timings.

Paths are relative to the scanned directory, also those of rules above it (`../.analyze/rules/own.dl`); those of files
that the command line names are absolute.

Every output (text, JSON, SARIF, SQLite, exit code) is made from a `Report` and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from analyzer.exit_codes import exit_code

SEVERITIES = ("note", "warning", "error")
"""The severities of findings, the least first."""


def reaches(severities: Iterable[str], threshold: str) -> bool:
    """Return True if one of the severities is at least the threshold; none reaches "never"."""
    return threshold != "never" and any(SEVERITIES.index(item) >= SEVERITIES.index(threshold) for item in severities)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A region of a file: 1-based lines and columns (in characters), `end_column` exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A step on the path from source to sink; `code` is the source line there."""

    place: Place
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The metadata of a check. `help` is Markdown, `summary` its first paragraph.

    `context` is the context policy that it requests, or empty; `tier` is one of `rules.catalogue.TIERS`; paths through
    more calls than `max_calls`, down to another layer by more than `calls_down`, or of data that functions of other
    files give more than `max_returns` times, prove little; `also` are the names under which other tools report the
    same, `languages` those that it looks at.
    """

    id: str
    name: str
    severity: str
    precision: str
    message: str
    help: str = ""
    summary: str = ""
    cwe: tuple[int, ...] = ()
    security_severity: str = ""
    tags: tuple[str, ...] = ()
    context: str = ""
    tier: str = "default"
    max_calls: int | None = None
    max_returns: int | None = None
    calls_down: int = 0
    also: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """`analyze: ignore[rules] reason` in a comment at `line`; no rules means every rule.

    A `foreign` one is another tool's comment that names its own rules; the reason is that comment.
    """

    file: str
    line: int
    rules: tuple[str, ...]
    reason: str
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a check at `place`; `path` leads from source to sink, and is empty for checks without data flow.

    `fingerprint` is made of content only and survives moved lines and renamed files; `line_hash` is GitHub's
    primaryLocationLineHash. `frame` holds the source lines around `place`, the first being line `frame_line`.
    """

    check: str
    message: str
    place: Place
    path: tuple[Step, ...] = ()
    fingerprint: str = ""
    line_hash: str = ""
    frame: tuple[str, ...] = ()
    frame_line: int = 1
    suppression: Suppression | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A failure to analyse something, or a warning about the run itself.

    `code` is the source line, and `column` up to `end_column` the wrong part of it; `help` says what to do. A problem
    of several files has the first of its `places`.
    """

    message: str
    file: str = ""
    line: int = 0
    level: str = "error"
    column: int = 0
    end_column: int = 0
    code: str = ""
    help: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Weakening:
    """A loss of findings caused by a change itself, in its own review or in later ones.

    `kind` is suppression, generated, finding, file, check, ignored, configuration or rules. One that concerns a finding
    has its severity, rule, place and fingerprint.
    """

    kind: str
    severity: str
    message: str
    file: str = ""
    line: int = 0
    rule: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was analysed. `blob` is git's hash of its bytes."""

    path: str
    language: str
    blob: str
    lines: int


@dataclass(frozen=True, slots=True)
class Coarsened:
    """The number of places with coarser analysis, and the first of them."""

    count: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The analysed part of a tree. `skipped` maps a reason to files; `unparsed` a file to its lines without facts,
    `generated` a generated file to the number of findings left out in it. `n_weaker` findings are left to the audit
    tier, since their paths prove less.

    `coarsened` counts places of coarser analysis by kind (`rules/lib/coarser_results.dl`).
    Calls: `resolved` reach a function of the repository or a library by its qualified name, `by_name` only a name.
    """

    parsed: int = 0
    lines: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    unparsed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    generated: Mapping[str, int] = field(default_factory=dict)
    n_weaker: int = 0
    calls_resolved: int = 0
    calls_by_name: int = 0
    calls_unresolved: int = 0
    coarsened: Mapping[str, Coarsened] = field(default_factory=dict)

    @property
    def files(self) -> int:
        return self.parsed + len(self.unparsed)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one scan. `findings` are ordered by place, then check, and include suppressed ones.

    `prefix` leads from the repository's top to the scanned directory ("" or ending in "/"). `left_out` are findings in
    generated files that do not concern security.
    """

    target: str
    revision: str = ""
    prefix: str = ""
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    left_out: tuple[Finding, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    files: tuple[SourceFile, ...] = ()
    problems: tuple[Problem, ...] = ()
    unused_suppressions: tuple[Suppression, ...] = ()

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.suppression is None)

    @property
    def complete(self) -> bool:
        """True if everything that should have been analysed was."""
        return not self.coverage.unparsed and not any(problem.level == "error" for problem in self.problems)

    def check(self, check_id: str) -> Check:
        return next(check for check in self.checks if check.id == check_id)

    def severities(self) -> Counter[str]:
        """Return the number of open findings by severity."""
        severity = {check.id: check.severity for check in self.checks}
        return Counter(severity[finding.check] for finding in self.open_findings)

    def exit_code(self, fail_on: str = "warning") -> int:
        """Return 3 when incomplete, else 1 when an open finding is at least as severe as `fail_on`, else 0."""
        return exit_code(self.complete, reaches(self.severities(), fail_on))
