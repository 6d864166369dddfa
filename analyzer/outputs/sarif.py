"""SARIF 2.1.0 as GitHub code scanning reads it, within its limits. No time and no run-dependent id is in it."""

from __future__ import annotations

import gzip
import os
import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from analyzer.escaping import json_text
from analyzer.history.causes import Cause
from analyzer.history.comparison import Comparison
from analyzer.report import Check, Finding, Place, Problem, Report, Step, Weakening

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 25_000
MAX_GZIPPED_BYTES = 10_000_000
MAX_FLOW_STEPS = 1_000
MAX_FULL_DESCRIPTION = 1_024
MAX_TAGS = 20
RANK = {"error": 0, "warning": 1, "note": 2}


def render_sarif(report: Report, version: str, comparison: Comparison | None = None) -> str:
    """Return the report as a SARIF log. Beyond a limit, the least severe results are left out, and it says so.

    With a comparison, results say whether they are new; the fingerprints of fixed findings are properties of the run,
    for results that are absent would be shown as alerts.
    """
    kept = _most_severe(report, MAX_RESULTS)
    while True:
        log = _log(report, kept, version)
        if comparison:
            _add_baseline(log["runs"][0], kept, comparison)
        text = json_text(log)
        if not kept or len(text) < MAX_GZIPPED_BYTES or len(gzip.compress(text.encode())) <= MAX_GZIPPED_BYTES:
            return text
        kept = _most_severe(report, len(kept) // 2)


def _most_severe(report: Report, limit: int) -> list[Finding]:
    """Return at most `limit` findings, the most severe ones, in the report's order."""
    if len(report.findings) <= limit:
        return list(report.findings)
    rank = {check.id: RANK[check.severity] for check in report.checks}
    order = sorted(range(len(report.findings)), key=lambda i: (rank[report.findings[i].check], i))
    return [report.findings[i] for i in sorted(order[:limit])]


def _log(report: Report, kept: list[Finding], version: str) -> dict[str, Any]:
    index = {check.id: i for i, check in enumerate(report.checks)}
    driver = {
        "name": "Datalyze",
        "semanticVersion": version,
        "rules": [_rule(check) for check in report.checks],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "datalyze/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, len(report.findings) - len(kept))],
        "results": [_result(finding, index, report) for finding in kept],
    }
    if report.revision:
        run["properties"] = {"revision": report.revision}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _add_baseline(run: dict[str, Any], kept: list[Finding], comparison: Comparison) -> None:
    """Let results say what they are against the base, and new ones which change brought them."""
    states = comparison.states
    for finding, result in zip(kept, run["results"], strict=True):
        result["baselineState"] = states[finding.fingerprint]
        if cause := comparison.causes.get(finding.fingerprint):
            related = result.setdefault("relatedLocations", [])
            related.append(_changed(cause, comparison.head.prefix, len(related)))
    for weakening in comparison.weakened:
        for finding, result in zip(kept, run["results"], strict=True):
            if weakening.kind == "suppression" and weakening.fingerprint == finding.fingerprint:
                result["suppressions"][0]["status"] = "underReview"
    told = [_weakening(weakening, comparison.head.prefix) for weakening in comparison.weakened]
    run["invocations"][0]["toolConfigurationNotifications"] = told
    fixed = [{"rule": finding.check, "fingerprint": finding.fingerprint} for finding in comparison.fixed]
    run["properties"] = run.get("properties", {}) | {"baseRevision": comparison.base, "fixed": fixed}


def _weakening(weakening: Weakening, prefix: str) -> dict[str, Any]:
    text = f"taken away by this change: {weakening.message}"
    told = _notification(Problem(text, weakening.file, weakening.line, weakening.severity), prefix)
    about = {"kind": weakening.kind, "rule": weakening.rule, "fingerprint": weakening.fingerprint}
    return told | {"properties": {key: value for key, value in about.items() if value}}


def _changed(cause: Cause, prefix: str, id: int) -> dict[str, Any]:
    region = {"artifactLocation": _artifact(cause.file, prefix), "region": {"startLine": cause.line}}
    return {"id": id, "physicalLocation": region, "message": {"text": f"changed: {cause.how}"}}


def _rule(check: Check) -> dict[str, Any]:
    tags = [*check.tags, *(f"external/cwe/cwe-{cwe:03d}" for cwe in check.cwe)]
    properties: dict[str, Any] = {
        "precision": check.precision,
        "problem.severity": {"note": "recommendation"}.get(check.severity, check.severity),
        "tags": list(dict.fromkeys(tags))[:MAX_TAGS],
        "tier": check.tier,
    }
    if check.security_severity:
        properties["security-severity"] = check.security_severity
    return {
        "id": check.id,
        "name": check.name,
        "shortDescription": {"text": check.name},
        "fullDescription": {"text": _shorten(check.summary or check.name, MAX_FULL_DESCRIPTION)},
        "help": {"text": check.help or check.name, "markdown": check.help or check.name},
        "defaultConfiguration": {"level": check.severity},
        "properties": properties,
    }


def _result(finding: Finding, index: dict[str, int], report: Report) -> dict[str, Any]:
    check = report.checks[index[finding.check]]
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": index[finding.check],
        "level": check.severity,
        "message": {"text": finding.message},
        "locations": [_location(finding.place, report.prefix)],
        "partialFingerprints": {
            "primaryLocationLineHash": finding.line_hash,
            "datalyzeFindingId/v1": finding.fingerprint,
        },
    }
    if finding.path:
        steps = _shown(finding.path)
        result["codeFlows"] = [{"threadFlows": [{"locations": [_flow(step, report.prefix) for step in steps]}]}]
        source = finding.path[0]
        result["relatedLocations"] = [_location(source.place, report.prefix, source.message, id=0)]
    if finding.suppression:
        suppression = {"kind": "inSource"}
        if finding.suppression.reason:
            suppression["justification"] = finding.suppression.reason
        result["suppressions"] = [suppression]
    return result


def _shown(path: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps that a thread flow may hold: of a longer path its beginning and its end."""
    half = MAX_FLOW_STEPS // 2
    return path if len(path) <= MAX_FLOW_STEPS else path[:half] + path[-half:]


def _flow(step: Step, prefix: str) -> dict[str, Any]:
    return {"location": _location(step.place, prefix, step.message)}


def _location(place: Place, prefix: str, message: str = "", id: int | None = None) -> dict[str, Any]:
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    location: dict[str, Any] = {} if id is None else {"id": id}
    location["physicalLocation"] = {"artifactLocation": _artifact(place.file, prefix), "region": region}
    if message:
        location["message"] = {"text": message}
    return location


def _artifact(path: str, prefix: str) -> dict[str, str]:
    """Return where a file is: from the repository's top, but for one that the command line names."""
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    inside = posixpath.normpath(prefix + path)
    return {"uri": quote(inside, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    notifications = list(_notifications(report))
    if left_out:
        text = f"{left_out} of {len(report.findings)} results are left out: they exceed the limits of code scanning."
        notifications.append({"level": "warning", "message": {"text": text}})
    return {
        "executionSuccessful": report.complete,
        "toolExecutionNotifications": notifications,
        "properties": {"coverage": coverage_as_dict(report)},
    }


def _notifications(report: Report) -> Iterable[dict[str, Any]]:
    for problem in report.problems:
        yield _notification(problem, report.prefix)
    for file, lines in report.coverage.unparsed.items():
        shown = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
        yield _notification(Problem(f"syntax errors left lines without facts: {shown}", file, lines[0]), report.prefix)
    for unused in report.unused_suppressions:
        text = f"unused suppression of {', '.join(unused.rules) or 'every rule'}"
        yield _notification(Problem(text, unused.file, unused.line, "note"), report.prefix)


def _notification(problem: Problem, prefix: str) -> dict[str, Any]:
    text = problem.message + (f"\n{problem.help}" if problem.help else "")
    notification: dict[str, Any] = {"level": problem.level, "message": {"text": text}}
    if problem.file:
        place: dict[str, Any] = {"artifactLocation": _artifact(problem.file, prefix)}
        if problem.line:
            columns = {"startColumn": problem.column, "endColumn": problem.end_column} if problem.column else {}
            place["region"] = {"startLine": problem.line, **columns}
        notification["locations"] = [{"physicalLocation": place}]
    elif problem.places:
        notification["locations"] = [_location(place, prefix) for place in problem.places]
    return notification


def coverage_as_dict(report: Report) -> dict[str, Any]:
    """Return the coverage block that JSON and SARIF share."""
    coverage = report.coverage
    return {
        "filesParsed": coverage.parsed,
        "filesPartlyParsed": len(coverage.unparsed),
        "filesFailed": len({problem.file for problem in report.problems if problem.file and problem.level == "error"}),
        "lines": coverage.lines,
        "languages": dict(sorted(coverage.languages.items())),
        "skipped": {reason: len(files) for reason, files in sorted(coverage.skipped.items())},
        "leftToAudit": coverage.n_weaker,
        "generated": {"files": len(coverage.generated), "findingsLeftOut": sum(coverage.generated.values())},
        "coarsened": {
            kind: {"count": found.count, "places": [str(place) for place in found.places]}
            for kind, found in coverage.coarsened.items()
        },
        "calls": {
            "resolved": coverage.calls_resolved,
            "byNameOnly": coverage.calls_by_name,
            "unresolved": coverage.calls_unresolved,
        },
    }


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
