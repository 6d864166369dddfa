"""Complete findings for reports: source lines, line hashes, suppressions, order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analyzer.configuration.suppressions import covered_line, suppress
from analyzer.findings.source_texts import Texts
from analyzer.findings.statement_lines import Statements
from analyzer.report import Finding, Step, Suppression

FRAME_BEFORE = 2
FRAME_AFTER = 1
FRAME_MAX = 12


@dataclass(frozen=True, slots=True)
class Presented:
    findings: tuple[Finding, ...]
    unused: tuple[Suppression, ...]


def present(
    findings: Iterable[Finding], suppressions: Sequence[Suppression], texts: Texts, statements: Statements
) -> Presented:
    """Return the findings with frames, line hashes and suppressions, ordered by place and check.

    Of findings of a check that say the same of one line, and of data from one place, the first is left.
    """
    ordered = _said_once(sorted(findings, key=lambda finding: (finding.place, finding.check, finding.message)))
    covering = [(covered_line(item, texts.lines(item.file)), item) for item in suppressions]
    marked, unused = suppress((_with_text(finding, texts) for finding in ordered), covering, statements.lines)
    return Presented(tuple(marked), tuple(unused))


def _said_once(ordered: Iterable[Finding]) -> Sequence[Finding]:
    first: dict[tuple[object, ...], Finding] = {}
    for finding in ordered:
        origin = finding.path[0].place if finding.path else finding.place
        said = (finding.place.file, finding.place.line, finding.check, finding.message, origin)
        first.setdefault(said, finding)
    return tuple(first.values())


def _with_text(finding: Finding, texts: Texts) -> Finding:
    place = finding.place
    lines = texts.lines(place.file)
    first = max(1, place.line - FRAME_BEFORE)
    last = min(len(lines), place.end_line + FRAME_AFTER, first + FRAME_MAX - 1)
    return replace(
        finding,
        line_hash=texts.line_hash(place.file, place.line),
        frame=_trimmed(lines[first - 1 : last], place.line - first),
        frame_line=first,
        path=tuple(_with_code(step, texts) for step in finding.path),
    )


def _trimmed(lines: Sequence[str], keep: int) -> tuple[str, ...]:
    """Drop blank lines from the end of a frame, not those up to index `keep`."""
    end = len(lines)
    while end > keep + 1 and not lines[end - 1].strip():
        end -= 1
    return tuple(lines[:end])


def _with_code(step: Step, texts: Texts) -> Step:
    return replace(step, code=texts.line(step.place.file, step.place.line))
