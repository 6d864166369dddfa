"""Reports as text and JSON show them: with paths from the working directory.

A report has paths from the scanned directory, `../` before what lies above it, and absolute ones of files that the
command line names. SARIF is read without a working directory, so it has paths from the repository's top instead.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from analyzer.report import Coarsened, Coverage, Finding, Place, Problem, Report, Suppression
from analyzer.sources.trees import scanned_directory

if TYPE_CHECKING:
    from analyzer.history.comparison import Comparison

Rename = Callable[[str], str]


def from_here(report: Report) -> Report:
    """Return a report with paths from the working directory."""
    return _report(report, renaming(report.target))


def comparison_from_here(comparison: Comparison) -> Comparison:
    """Return a comparison with paths from the working directory."""
    rename = renaming(comparison.head.target)
    causes = comparison.causes.items()
    return replace(
        comparison,
        head=_report(comparison.head, rename),
        new=_findings(comparison.new, rename),
        unchanged=_findings(comparison.unchanged, rename),
        fixed=_findings(comparison.fixed, rename),
        hidden=_findings(comparison.hidden, rename),
        causes={fingerprint: replace(cause, file=rename(cause.file)) for fingerprint, cause in causes},
        weakened=tuple(replace(item, file=rename(item.file)) for item in comparison.weakened),
    )


def renaming(target: str) -> Rename:
    """Return what makes of a path of a report one from the working directory; see `shown_path`."""
    directory, here = scanned_directory(target), os.getcwd()

    def rename(path: str) -> str:
        return path and shown_path(os.path.normpath(os.path.join(directory, path)), here)

    return rename


def shown_path(path: str, here: str) -> str:
    """Return an absolute path as it is written in `here`: relative if it lies below, or below what is above; absolute
    where both have no more than the root in common.
    """
    try:
        shared = os.path.commonpath([path, here])
    except ValueError:  # Two drives.
        return path
    if shared == os.path.dirname(shared):
        return path
    return os.path.relpath(path, here).replace(os.sep, posixpath.sep)


def _report(report: Report, rename: Rename) -> Report:
    return replace(
        report,
        findings=_findings(report.findings, rename),
        left_out=_findings(report.left_out, rename),
        coverage=_coverage(report.coverage, rename),
        files=tuple(replace(file, path=rename(file.path)) for file in report.files),
        problems=tuple(problem_from(problem, rename) for problem in report.problems),
        unused_suppressions=tuple(_suppression(item, rename) for item in report.unused_suppressions),
    )


def _coverage(coverage: Coverage, rename: Rename) -> Coverage:
    coarsened = coverage.coarsened.items()
    return replace(
        coverage,
        unparsed={rename(path): lines for path, lines in coverage.unparsed.items()},
        skipped={reason: tuple(map(rename, paths)) for reason, paths in coverage.skipped.items()},
        generated={rename(path): count for path, count in coverage.generated.items()},
        coarsened={kind: Coarsened(each.count, _places(each.places, rename)) for kind, each in coarsened},
    )


def _findings(findings: Iterable[Finding], rename: Rename) -> tuple[Finding, ...]:
    return tuple(_finding(finding, rename) for finding in findings)


def _finding(finding: Finding, rename: Rename) -> Finding:
    return replace(
        finding,
        place=_place(finding.place, rename),
        path=tuple(replace(step, place=_place(step.place, rename)) for step in finding.path),
        suppression=finding.suppression and _suppression(finding.suppression, rename),
    )


def problem_from(problem: Problem, rename: Rename) -> Problem:
    """Return a problem with other paths."""
    return replace(problem, file=rename(problem.file), places=_places(problem.places, rename))


def _suppression(suppression: Suppression, rename: Rename) -> Suppression:
    return replace(suppression, file=rename(suppression.file))


def _places(places: Iterable[Place], rename: Rename) -> tuple[Place, ...]:
    return tuple(_place(place, rename) for place in places)


def _place(place: Place, rename: Rename) -> Place:
    return replace(place, file=rename(place.file))
