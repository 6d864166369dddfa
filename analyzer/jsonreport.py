"""The report as JSON: the same content as the text output, for programs. No time is in it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from analyzer.report import Finding, Report
from analyzer.sarif import coverage_as_dict


def render_json(report: Report, version: str) -> str:
    """Return the report as a JSON object, in a stable order."""
    severity = {check.id: check.severity for check in report.checks}
    document = {
        "tool": "datalyze",
        "version": version,
        "revision": report.revision,
        "complete": report.complete,
        "findings": [_finding(finding, severity[finding.check]) for finding in report.findings],
        "coverage": coverage_as_dict(report)
        | {"unparsed": report.coverage.unparsed, "skippedFiles": report.coverage.skipped},
        "problems": [asdict(problem) for problem in report.problems],
        "unusedSuppressions": [asdict(suppression) for suppression in report.unused_suppressions],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


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
