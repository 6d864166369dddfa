"""The changed line that caused a new finding."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzer.report import Finding, Place

Lines = Mapping[str, Sequence[int]]
"""The changed lines of each changed file, in order."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A changed line, and how the finding depends on it."""

    file: str
    line: int
    how: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def shown(finding: Finding) -> list[Place]:
    """Return the places of a finding: the sink, then the steps of its path backwards."""
    return [finding.place, *(step.place for step in reversed(finding.path))]


def cause_on_path(finding: Finding, changed: Lines) -> Cause | None:
    """Return the changed line on the finding's path that is nearest to the sink."""
    for place in shown(finding):
        if line := within(place, changed):
            how = "the reported line has changed" if place == finding.place else "a line on its path has changed"
            return Cause(place.file, line, how)
    return None


def cause_near_path(finding: Finding, changed: Lines) -> Cause | None:
    """Return the changed line nearest to the finding's path, in a file on it."""
    found = nearest(shown(finding), changed)
    return Cause(*found, "the nearest change in a file on its path") if found else None


def nearest(places: Sequence[Place], changed: Lines) -> tuple[str, int] | None:
    """Return (file, line) of the changed line nearest to one of the places."""
    near = [
        (distance, rank, place.file, line)
        for rank, place in enumerate(places)
        for distance, line in _near(place, changed)
    ]
    return min(near)[2:] if near else None


def within(place: Place, changed: Lines) -> int:
    """Return the first changed line of a place, or 0."""
    lines = changed.get(place.file, ())
    at = bisect_left(lines, place.line)
    return lines[at] if at < len(lines) and lines[at] <= place.end_line else 0


def _near(place: Place, changed: Lines) -> list[tuple[int, int]]:
    """Return (distance, line) of the first changed line in a place, or else of those before and after it."""
    if line := within(place, changed):
        return [(0, line)]
    lines = changed.get(place.file, ())
    at = bisect_left(lines, place.line)
    return [(abs(line - place.line), line) for line in lines[max(0, at - 1) : at + 1]]
