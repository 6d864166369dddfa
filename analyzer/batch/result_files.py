"""The results of one repository as files: three tables and a SARIF log; and their paths in the data sets.

The row of a repository in `coverage` is published last and marks it as done. The files are deterministic: they depend
only on the plan, not on time, machine or run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from analyzer import VERSION
from analyzer.batch.batch_plan import Target
from analyzer.outputs.sarif import coverage_as_dict, render_sarif
from analyzer.outputs.sqlite import FILES, FINDINGS, file_rows, finding_rows
from analyzer.report import Problem, Report

COVERAGE = {
    **{
        "source": str,
        "revision": str,
        "commit_hash": str,
        "bytes": int,
        "status": str,
        "reason": str,
        "exit_code": int,
    },
    **{"files_parsed": int, "files_partly_parsed": int, "files_failed": int, "files_skipped": int, "lines": int},
    **{"calls_resolved": int, "calls_by_name": int, "calls_unresolved": int, "findings": int, "suppressed": int},
    **{"languages": str, "skipped": str, "problems": str},
}
"""One row per repository. `status` is complete, incomplete or failed; the last three columns are JSON."""
TABLES = {"findings": FINDINGS, "files": FILES, "coverage": COVERAGE}
ARROW = {int: pyarrow.int64(), str: pyarrow.string()}
SARIF = "report.sarif"


def write(report: Report, target: Target, fail_on: str, directory: Path, failed: str = "") -> None:
    """Write the files of a repository; `failed` is the reason of its failure, or ""."""
    rows = {"findings": finding_rows(report), "files": file_rows(report)}
    rows["coverage"] = iter([coverage_row(report, target, fail_on, failed)])
    for name, columns in TABLES.items():
        pyarrow.parquet.write_table(table(rows[name], columns), directory / f"{name}.parquet")
    text = render_sarif(report, VERSION)
    (directory / SARIF).write_text(text, encoding="utf-8", errors="surrogateescape")


def write_failure(target: Target, reason: str, directory: Path) -> None:
    """Write the files of a repository that could not be scanned."""
    report = Report(target.source, target.commit, problems=(Problem(f"not analysed: {reason}"),))
    write(report, target, "warning", directory, reason)


def coverage_row(report: Report, target: Target, fail_on: str, failed: str) -> dict[str, Any]:
    counts, coverage = coverage_as_dict(report), report.coverage
    return {
        **{"source": target.source, "revision": target.revision, "commit_hash": target.commit, "bytes": target.n_bytes},
        "status": "failed" if failed else "complete" if report.complete else "incomplete",
        "reason": failed or incomplete(report),
        "exit_code": report.exit_code(fail_on),
        "files_parsed": coverage.parsed,
        "files_partly_parsed": len(coverage.unparsed),
        "files_failed": counts["filesFailed"],
        "files_skipped": sum(counts["skipped"].values()),
        "lines": coverage.lines,
        "calls_resolved": coverage.calls_resolved,
        "calls_by_name": coverage.calls_by_name,
        "calls_unresolved": coverage.calls_unresolved,
        "findings": len(report.open_findings),
        "suppressed": len(report.findings) - len(report.open_findings),
        "languages": json.dumps(counts["languages"]),
        "skipped": json.dumps(counts["skipped"]),
        "problems": json.dumps([asdict(problem) for problem in report.problems]),
    }


def incomplete(report: Report) -> str:
    """Return in one line why a report is incomplete, or ""."""
    parts = []
    if report.coverage.unparsed:
        parts.append(f"{len(report.coverage.unparsed)} partly parsed")
    errors = [problem for problem in report.problems if problem.level == "error"]
    if errors:
        first = f"{errors[0].file}: " * bool(errors[0].file) + errors[0].message
        parts.append(first + f" (and {len(errors) - 1} more)" * (len(errors) > 1))
    return "; ".join(parts)


def table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, type]) -> pyarrow.Table:
    """Return rows as a table with these columns; missing values are null."""
    listed = list(rows)
    arrays = [pyarrow.array([text_safe(row.get(name)) for row in listed], ARROW[columns[name]]) for name in columns]
    return pyarrow.Table.from_arrays(arrays, names=list(columns))


def text_safe(value: Any) -> Any:
    """Return text with bytes that are not UTF-8 escaped, since neither Parquet nor SQLite accepts them."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def publish(attempt: Path, name: str, workspace: Path) -> None:
    """Move the files of a repository to their places in the data sets, its coverage last."""
    moves = [(f"{table}.parquet", part(name, table)) for table in TABLES if table != "coverage"]
    moves += [(SARIF, Path("sarif") / f"{name}.sarif"), ("coverage.parquet", part(name, "coverage"))]
    for file, place in moves:
        (workspace / place).parent.mkdir(parents=True, exist_ok=True)
        os.replace(attempt / file, workspace / place)


def part(name: str, table: str) -> Path:
    """Return the path of a repository's rows in a data set partitioned by repository."""
    return Path(table) / f"repository={name}" / "part-0.parquet"


def read(workspace: Path, name: str, table: str) -> list[dict[str, Any]]:
    """Return the published rows of a repository."""
    file = pyarrow.parquet.ParquetFile(workspace / part(name, table))
    return file.read().to_pylist()
