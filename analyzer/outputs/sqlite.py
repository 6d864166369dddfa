"""Findings, files and runs in SQLite, one row a run, so that several scans can be queried together."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import AnalyzeError
from analyzer.report import Report

if TYPE_CHECKING:
    from sqlite_utils import Database


def save_to_database(report: Report, path: Path, elapsed_s: float) -> None:
    """Add the report to the database at `path`, which is made where it is missing, in one transaction.

    Raises AnalyzeError S001 where the file is not such a database or cannot be written.
    """
    import sqlite3

    import sqlite_utils

    try:
        database = sqlite_utils.Database(path)
        with database.atomic():
            _create_tables(database)
            run = _insert_run(database, report, elapsed_s)
            database.table("files").insert_all({"run": run, **row} for row in file_rows(report))
            database.table("findings").insert_all({"run": run, **row} for row in finding_rows(report))
        database.close()
    except (sqlite3.Error, OSError) as error:
        raise AnalyzeError("S001", f"cannot write the database {path}: {error}") from None


RUNS = {
    **{"id": int, "started": str, "target": str, "revision": str, "complete": int, "elapsed_s": float},
    **{"files": int, "lines": int, "findings": int, "suppressed": int},
}
FILES = {"path": str, "language": str, "blob": str, "lines": int, "status": str}
FINDINGS = {
    **{"rule": str, "severity": str, "message": str, "file": str, "line": int, "column": int},
    **{"end_line": int, "end_column": int, "fingerprint": str, "line_hash": str, "path": str, "suppressed": str},
}


def _create_tables(database: Database) -> None:
    database.table("runs").create(RUNS, pk="id", if_not_exists=True)
    run = [("run", "runs", "id")]
    database.table("files").create({"run": int, **FILES}, foreign_keys=run, if_not_exists=True)
    database.table("findings").create({"run": int, **FINDINGS}, foreign_keys=run, if_not_exists=True)
    database.table("findings").create_index(["run", "rule"], if_not_exists=True)
    database.table("findings").create_index(["fingerprint"], if_not_exists=True)


def _insert_run(database: Database, report: Report, elapsed_s: float) -> int:
    row = {
        "started": datetime.fromtimestamp(time.time() - elapsed_s, UTC).isoformat(timespec="seconds"),
        "target": report.target,
        "revision": report.revision,
        "complete": int(report.complete),
        "elapsed_s": round(elapsed_s, 3),
        "files": report.coverage.files,
        "lines": report.coverage.lines,
        "findings": len(report.open_findings),
        "suppressed": len(report.findings) - len(report.open_findings),
    }
    key = database.table("runs").insert(row).last_pk
    assert isinstance(key, int)
    return key


def file_rows(report: Report) -> Iterator[dict[str, object]]:
    """One row a file: parsed, partly parsed, failed, or skipped with the reason."""
    unparsed = report.coverage.unparsed
    for file in report.files:
        status = "partly parsed" if file.path in unparsed else "parsed"
        yield {**asdict(file), "status": status}
    for reason, paths in report.coverage.skipped.items():
        for path in paths:
            yield {"path": path, "status": f"skipped: {reason}"}
    for problem in report.problems:
        if problem.file:
            yield {"path": problem.file, "status": f"failed: {problem.message}"}


def finding_rows(report: Report) -> Iterator[dict[str, object]]:
    """One row a finding, suppressed ones among them."""
    severity = {check.id: check.severity for check in report.checks}
    for finding in report.findings:
        yield {
            "rule": finding.check,
            "severity": severity[finding.check],
            "message": finding.message,
            **asdict(finding.place),
            "fingerprint": finding.fingerprint,
            "line_hash": finding.line_hash,
            "path": json.dumps([{**asdict(step.place), "message": step.message} for step in finding.path]),
            "suppressed": finding.suppression.reason or "yes" if finding.suppression else None,
        }
