"""The report as JSON: the same content as the text output, for programs. No time is in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from analyzer.escaping import json_text
from analyzer.history.comparison import Comparison
from analyzer.outputs.sarif import coverage_as_dict
from analyzer.report import Finding, Report


def render_json(report: Report, version: str) -> str:
    """Return the report as a JSON object, in a stable order."""
    document = {
        "tool": "datalyze",
        "version": version,
        "revision": report.revision,
        "complete": report.complete,
        "findings": _findings(report.findings, report),
    }
    return json_text(document | _looked_at(report))


def render_comparison(comparison: Comparison, version: str) -> str:
    """Return a comparison as a JSON object, in a stable order; `cause` is the changed line behind a new finding."""
    report = comparison.head
    new = _findings(comparison.new, report)
    for finding in new:
        cause = comparison.causes.get(finding["fingerprint"])
        finding["cause"] = asdict(cause) if cause else None
    document = {
        "tool": "datalyze",
        "version": version,
        "base": comparison.base,
        "revision": report.revision,
        "complete": report.complete and comparison.base_complete,
        "new": new,
        "fixed": _findings(comparison.fixed, report),
        "unchanged": _findings(comparison.unchanged, report),
        "takenAway": [asdict(weakening) for weakening in comparison.weakened],
        "addedOnceMerged": comparison.added,
    }
    return json_text(document | _looked_at(report))


def _looked_at(report: Report) -> dict[str, Any]:
    return {
        "coverage": coverage_as_dict(report)
        | {
            "unparsed": report.coverage.unparsed,
            "skippedFiles": report.coverage.skipped,
            "generatedFiles": report.coverage.generated,
        },
        "problems": [asdict(problem) for problem in report.problems],
        "unusedSuppressions": [asdict(suppression) for suppression in report.unused_suppressions],
    }


def _findings(findings: Iterable[Finding], report: Report) -> list[dict[str, Any]]:
    """Return findings with their severities; "" for a check of the base that did not run on the head."""
    severity = {check.id: check.severity for check in report.checks}
    return [_finding(finding, severity.get(finding.check, "")) for finding in findings]


def _finding(finding: Finding, severity: str) -> dict[str, Any]:
    return {
        "rule": finding.check,
        "severity": severity,
        "message": finding.message,
        **asdict(finding.place),
        "fingerprint": finding.fingerprint,
        "lineHash": finding.line_hash,
        "path": [{**asdict(step.place), "message": step.message, "code": step.code} for step in finding.path],
        "suppression": asdict(finding.suppression) if finding.suppression else None,
    }
