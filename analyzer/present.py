"""From bare findings to those a reader sees: source lines, line hashes, suppressions, order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analyzer.fingerprint import line_hashes
from analyzer.report import Finding, Step, Suppression
from analyzer.suppress import covered_line, suppress
from analyzer.trees import Tree

FRAME_BEFORE = 2
FRAME_AFTER = 1
FRAME_MAX = 12


class Texts:
    """The texts of files, read once each. An unreadable file has no lines: its findings are shown without a frame."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self._hashes: dict[str, list[str]] = {}

    def text(self, path: str) -> str:
        if path not in self._texts:
            try:
                self._texts[path] = decode(self._tree.read(path))
            except OSError:
                self._texts[path] = ""
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        """Return the lines without their ends; only line feeds end a line, as in the facts."""
        if path not in self._lines:
            self._lines[path] = [line.removesuffix("\r") for line in self.text(path).split("\n")]
        return self._lines[path]

    def line(self, path: str, number: int) -> str:
        lines = self.lines(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def line_hash(self, path: str, number: int) -> str:
        if path not in self._hashes:
            self._hashes[path] = line_hashes(self.text(path))
        hashes = self._hashes[path]
        return hashes[min(number, len(hashes)) - 1]


def decode(data: bytes) -> str:
    """Return the text as GitHub's uploader reads it: UTF-8, what is not becoming replacement characters."""
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Presented:
    findings: tuple[Finding, ...]
    unused: tuple[Suppression, ...]


def present(findings: Iterable[Finding], suppressions: Sequence[Suppression], tree: Tree) -> Presented:
    """Return the findings with frames, line hashes and suppressions, ordered by place and check."""
    texts = Texts(tree)
    ordered = sorted(findings, key=lambda finding: (finding.place, finding.check, finding.message))
    covering = [(covered_line(item, texts.lines(item.file)), item) for item in suppressions]
    marked, unused = suppress((_with_text(finding, texts) for finding in ordered), covering)
    return Presented(tuple(marked), tuple(unused))


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
