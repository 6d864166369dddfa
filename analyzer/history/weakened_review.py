"""Weakenings of a review by the head's own files: by comments, by changed kinds of files, by settings.

A review by the base's settings must still report the effect of the head's settings once it is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.findings.generated import is_generated
from analyzer.findings.source_texts import Texts
from analyzer.history.causes import Lines
from analyzer.history.comparison import Comparison, compare
from analyzer.report import Finding, Report, Weakening
from analyzer.sources.trees import GitTree


def by_comments(comparison: Comparison, changed: Lines) -> Iterator[Weakening]:
    """Yield the findings hidden by a suppression that the change adds, or that covers lines it changes.

    On unchanged lines, the base's own comments apply.
    """
    for finding in comparison.hidden:
        if finding.suppression is None:
            continue
        lines = sorted((finding.suppression.line, finding.place.line, finding.place.end_line))
        touched = changed.get(finding.place.file, ())
        if any(lines[0] <= line <= lines[-1] for line in touched):
            yield of_finding("suppression", finding, comparison.head, "suppressed by this change")


def by_marks(comparison: Comparison, old_tree: GitTree) -> Iterator[Weakening]:
    """Yield the findings left out because the change marks an existing file as generated."""
    texts = Texts(old_tree)
    for finding in comparison.hidden:
        path = finding.place.file
        if finding.suppression is None and old_tree.object(path) and not is_generated(path, texts.lines(path)):
            yield of_finding("generated", finding, comparison.head, "left out: this change marks the file as generated")


def by_contents(base: Report, head: Report, new_tree: GitTree) -> Iterator[Weakening]:
    """Yield the files that were analysed in the base, in the same or another path, and are left out in the head."""
    before, after = {source.path for source in base.files}, {source.path for source in head.files}
    gone = {source.blob for source in base.files if source.path not in after}
    skipped_before = {path for paths in base.coverage.skipped.values() for path in paths}
    for reason, skipped in head.coverage.skipped.items():
        for path in skipped:
            if path in before or (path not in skipped_before and new_tree.object(path) in gone):
                yield Weakening("file", "warning", f"is no longer analysed: {reason}", path)


def by_findings(head: Report, own: Report) -> tuple[list[Weakening], list[str]]:
    """Return the findings of a report that are missing from that by the head's own settings, and additional ones."""
    comparison = compare(head, own)
    gone = (*comparison.fixed, *comparison.hidden)
    listed = [of_finding("finding", finding, head, "not found with the head's own settings") for finding in gone]
    n_new = len(comparison.new)
    return listed, [f"{n_new} finding{'s' * (n_new != 1)} more with the head's own settings"] if n_new else []


def of_finding(kind: str, finding: Finding, report: Report, why: str) -> Weakening:
    severity = next((check.severity for check in report.checks if check.id == finding.check), "note")
    message = f"{why}: {finding.message}"
    place = finding.place
    return Weakening(kind, severity, message, place.file, place.line, finding.check, finding.fingerprint)


def in_order(weakenings: Iterable[Weakening]) -> tuple[Weakening, ...]:
    """Return distinct weakenings, ordered by file and line."""
    return tuple(sorted(set(weakenings), key=lambda item: (item.file, item.line, item.kind, item.rule, item.message)))
