"""Questions about the findings of a working tree, answered from its maintained relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.engine_errors import coded_errors
from analyzer.errors import AnalyzeError
from analyzer.escaping import json_text
from analyzer.evaluation.line_query import Question
from analyzer.explanation.finding_steps import ExplainedStep, FindingSteps
from analyzer.explanation.folded import Reason
from analyzer.explanation.program_tuples import Explanations, explained
from analyzer.explanation.questions import Extent, line_of
from analyzer.extraction.collect_facts import Progress, silent
from analyzer.findings.source_texts import Texts
from analyzer.history.ci import MAX_STATE_BYTES
from analyzer.live.live_repository import LiveRepository, Refused
from analyzer.report import Finding, Report
from analyzer.scan import ScanRequest
from analyzer.sources.frozen_tree import FrozenTree
from engine.provenance import Document, as_dot, as_text

INDENT = "  "


@dataclass(frozen=True, slots=True)
class ExplainedFinding:
    """A finding and the steps that lead to it; `whole` is its derivation, where that is asked for."""

    finding: Finding
    steps: list[ExplainedStep]
    whole: Document | None

    def document(self) -> Document:
        finding = self.finding
        found: Document = {"check": finding.check, "message": finding.message, "fingerprint": finding.fingerprint}
        found |= {"file": finding.place.file, "line": finding.place.line, "column": finding.place.column}
        if self.whole is not None:
            return found | {"derivation": self.whole}
        return found | {"steps": [step.document() for step in self.steps]}

    def lines(self) -> Iterator[str]:
        finding = self.finding
        yield f"{finding.check}  {finding.place}  {finding.fingerprint}"
        yield f"{INDENT}{finding.message}"
        if self.whole is not None:
            yield from (INDENT + line for line in as_text(self.whole))
            return
        for number, step in enumerate(self.steps, 1):
            where = f"{step.place.file}:{step.place.line}" if step.place else ""
            yield f"{number:>4}  {where}  {step.text}" + (f"  ({step.words})" if step.words else "")
            for reason in step.reasons:
                yield from reason_lines(reason, 4)


def reason_lines(reason: Reason, level: int) -> Iterator[str]:
    yield INDENT * level + reason.words + (f"  ({reason.rule})" if reason.rule else "")
    for below in reason.below:
        yield from reason_lines(below, level + 1)


@dataclass(frozen=True, slots=True)
class Scanned:
    """The report on a working tree, and the relations that it was made from."""

    report: Report
    steps: FindingSteps
    repository: LiveRepository
    tree: FrozenTree

    def explained(self, finding: Finding, full: bool) -> ExplainedFinding:
        row = self.steps.tuple_of(finding)
        if row is None:
            raise AnalyzeError("A010", f"{finding.place}: the finding is not one of the relations that are explained")
        return ExplainedFinding(finding, [] if full else self.steps.steps(row), self.steps.whole(row) if full else None)


@contextmanager
def opened(path: Path, flags: Mapping[str, Any], progress: Progress = silent) -> Iterator[LiveRepository]:
    """Give the maintained relations of a working tree."""
    repository = LiveRepository(path, flags, MAX_STATE_BYTES, progress)
    try:
        yield repository
    except Refused as error:
        raise AnalyzeError("A010", f"{error}, and so are not explained") from None
    finally:
        repository.close()


def scanned(repository: LiveRepository, request: ScanRequest | None = None, tree: FrozenTree | None = None) -> Scanned:
    """Return the report on a tree, or the files as they are, with its relations. Raises AnalyzeError, and Refused."""
    tree = tree or repository.frozen()
    report = repository.report(tree, request).report
    return Scanned(report, FindingSteps(repository.view, Texts(tree)), repository, tree)


def explain_findings(
    path: Path, what: str, flags: Mapping[str, Any], full: bool, progress: Progress = silent
) -> list[ExplainedFinding]:
    """Explain the findings of a fingerprint, or on a line FILE:LINE. Raises AnalyzeError A007 and A010."""
    question = line_of(what, path)
    with opened(path, flags, progress) as repository:
        return explained_findings(scanned(repository), what, question, full)


def explained_findings(held: Scanned, what: str, question: Question | None, full: bool) -> list[ExplainedFinding]:
    """Explain the findings on a line, or of the fingerprint `what`. Raises AnalyzeError A010."""
    findings = list(chosen(held.report.findings, what, question))
    if not findings:
        where = f"no finding on {what}" if question else f"no finding has the fingerprint {what}"
        help = f"analyze explain --why-not CHECK {what}" if question else "analyze scan --format json lists them"
        raise AnalyzeError("A010", where, help=help)
    return [held.explained(finding, full) for finding in findings]


def chosen(findings: Sequence[Finding], what: str, question: Question | None) -> Iterator[Finding]:
    for finding in findings:
        place = finding.place
        if question is None:
            if finding.fingerprint.startswith(what):
                yield finding
        elif place.file == question.file and place.line <= question.line <= place.end_line:
            yield finding


def explain_tuples(
    path: Path, atom: str, flags: Mapping[str, Any], extent: Extent, progress: Progress = silent
) -> Explanations:
    """Explain the tuples of a scan's relations that match an atom, or why none does; raises as `explain_atom` does."""
    with opened(path, flags, progress) as repository:
        return explained_tuples(repository, atom, extent)


def explained_tuples(
    repository: LiveRepository,
    atom: str,
    extent: Extent,
    request: ScanRequest | None = None,
    tree: FrozenTree | None = None,
) -> Explanations:
    """Do the same for relations that are maintained. Raises Refused for other options than these are for."""
    tree = tree or repository.frozen()
    repository.follow(tree, request)
    with coded_errors(repository.path):
        return explained(FindingSteps(repository.view, Texts(tree)).explainer, atom, extent)


def render_findings(explained: Sequence[ExplainedFinding], format: str) -> str:
    """Return explanations in one of FORMATS; a graph is that of the whole derivation."""
    if format == "json":
        return json_text({"findings": [each.document() for each in explained]})
    if format == "dot":
        return "".join(as_dot(each.whole) for each in explained if each.whole is not None)
    return "\n\n".join("\n".join(each.lines()) for each in explained) + "\n"
