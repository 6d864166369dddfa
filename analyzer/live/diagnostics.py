"""Findings as an editor shows them: diagnostics with the path as related information, and quick fixes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from analyzer.report import SEVERITIES as SEVERITIES_OF_CHECKS
from analyzer.report import Check, Finding, Place, Report

SOURCE = "analyze"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
COMMENTS = {
    **dict.fromkeys((".py", ".pyi"), "#"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".java", ".go", ".c", ".h"), "//"),
}
"""What begins a comment to the end of the line, by the suffix of a file."""
WHY = "reason: "
WHY_NOT, SILENCE = "analyze.whyNot", "source.analyze.whyNot"
"""The command that says why a check reports nothing on a line, and the kind of the actions that offer it."""
IMPORT = re.compile(r"\s*(import [\w.]+( as \w+)?|from [\w.]+ import \w+( as \w+)?)\s*(#.*)?$")
"""An import of one name."""
YAML_LOAD = re.compile(r"\byaml\.load\(([^(),]+)(, *Loader *= *yaml\.(Unsafe|Full)?Loader)?\)")

Lines = Callable[[str], Sequence[str]]


class Positions:
    """Places of a report, 1-based and in characters, as positions of a client, 0-based and in its units."""

    def __init__(self, codec: PositionCodec, lines: Lines) -> None:
        self._codec, self._lines = codec, lines

    def range(self, place: Place) -> types.Range:
        begin = types.Position(place.line - 1, place.column - 1)
        end = types.Position(place.end_line - 1, place.end_column - 1)
        return self._codec.range_to_client_units([*self._lines(place.file)], types.Range(begin, end))

    def character(self, file: str, position: types.Position) -> tuple[int, int]:
        """Return the 1-based line and column of a position of the client."""
        found = self._codec.position_from_client_units([*self._lines(file)], position)
        return found.line + 1, found.character + 1


def diagnostics_of(report: Report, root: Path, positions: Positions) -> dict[str, list[types.Diagnostic]]:
    """Return the diagnostics of the open findings by file."""
    checks = {check.id: check for check in report.checks}
    found: dict[str, list[types.Diagnostic]] = {}
    for finding in report.open_findings:
        made = diagnostic(finding, checks[finding.check], root, positions)
        found.setdefault(finding.place.file, []).append(made)
    return found


def diagnostic(finding: Finding, check: Check, root: Path, positions: Positions) -> types.Diagnostic:
    steps = [
        types.DiagnosticRelatedInformation(
            types.Location((root / step.place.file).as_uri(), positions.range(step.place)), step.message or "here"
        )
        for step in finding.path
    ]
    return types.Diagnostic(
        range=positions.range(finding.place),
        message=finding.message,
        severity=SEVERITIES[check.severity],
        code=finding.check,
        source=SOURCE,
        related_information=steps or None,
        data={"fingerprint": finding.fingerprint},
    )


def moved(report: Report, texts: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> Report:
    """Return a report on earlier texts with its findings where their lines are now; those whose line is gone go.

    `texts` gives, by file, the lines that were analysed and those that are shown.
    """
    lines = {file: line_numbers(*both) for file, both in texts.items()}
    findings = []
    for finding in report.findings:
        place, numbers = finding.place, lines.get(finding.place.file)
        if numbers is None:
            findings.append(finding)
        elif place.line in numbers and place.end_line in numbers:
            now = replace(place, line=numbers[place.line], end_line=numbers[place.end_line])
            findings.append(replace(finding, place=now))
    return replace(report, findings=tuple(findings))


def line_numbers(before: Sequence[str], now: Sequence[str]) -> dict[int, int]:
    """Return where lines stand now, by where they stood; 1-based."""
    blocks = difflib.SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    return {block.a + i + 1: block.b + i + 1 for block in blocks for i in range(block.size)}


def quick_fixes(uri: str, lines: Sequence[str], found: Sequence[types.Diagnostic]) -> list[types.CodeAction]:
    """Return the fixes of some diagnostics of a file: a comment that suppresses it, and rewrites that are certain."""
    actions = []
    suffix = Path(uri).suffix
    for each in found:
        at = each.range.start.line
        if each.source != SOURCE or not 0 <= at < len(lines):
            continue
        actions += rewrites(uri, lines[at], at, each)
        if mark := COMMENTS.get(suffix):
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            comment = f"{indent}{mark} analyze: ignore[{each.code}] {WHY}\n"
            actions.append(action(f"Suppress {each.code} here, with a reason", uri, line_range(at, at), comment, each))
    return actions


def rewrites(uri: str, line: str, at: int, found: types.Diagnostic) -> list[types.CodeAction]:
    """Return the rewrites of a line that keep what the program does, but for what is reported."""
    if not uri.endswith((".py", ".pyi")):
        return []
    if found.code == "unused-import" and IMPORT.match(line):
        return [action("Remove the unused import", uri, line_range(at, at + 1), "", found)]
    if found.code == "unsafe-deserialization" and YAML_LOAD.search(line):
        safe = YAML_LOAD.sub(r"yaml.safe_load(\1)", line)
        return [action("Use yaml.safe_load", uri, line_range(at, at + 1), safe.rstrip("\r\n") + "\n", found)]
    return []


def wanted(context: types.CodeActionContext, kind: str) -> bool:
    """Return True if a client asks for actions of a kind, or does not say of which."""
    return context.only is None or any(f"{kind}.".startswith(f"{each}.") for each in context.only)


def silences(report: Report, uri: str, file: str, lines: Sequence[str], at: int) -> list[types.CodeAction]:
    """Return questions why nothing is reported on a line of code, one for each check on security of its language."""
    if not 0 <= at < len(lines) or not lines[at].strip():
        return []
    language = next((source.language for source in report.files if source.path == file), None)
    checks = [check for check in report.checks if "security" in check.tags and language in check.languages]
    titles = {check.id: f"Why is nothing reported here? ({check.id})" for check in sorted(checks, key=by_severity)}
    return [
        types.CodeAction(title, kind=SILENCE, command=types.Command(title, WHY_NOT, arguments=[uri, at, check]))
        for check, title in titles.items()
    ]


def by_severity(check: Check) -> tuple[int, str]:
    return -SEVERITIES_OF_CHECKS.index(check.severity), check.id


def line_range(first: int, end: int) -> types.Range:
    return types.Range(types.Position(first, 0), types.Position(end, 0))


def action(title: str, uri: str, at: types.Range, text: str, found: types.Diagnostic) -> types.CodeAction:
    edit = types.WorkspaceEdit(changes={uri: [types.TextEdit(at, text)]})
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, diagnostics=[found], edit=edit)
