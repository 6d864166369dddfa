"""Questions that are explained: which finding or tuples, or which silence of a check."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from analyzer.evaluation.line_query import Question

FINGERPRINT = re.compile(r"[0-9a-f]{6,20}(-\d+)?")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is explained: up to `limit` tuples, each by its n-th derivation, down to a depth."""

    limit: int = 1
    number: int = 1
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """A question: why a check reports nothing on a line, of data from another line if there is one.

    `where` is how the user has named the line.
    """

    check: str
    where: str
    line: Question
    begin: Question | None = None

    @classmethod
    def parse(cls, path: Path, check: str, where: str, begin: str | None) -> Silence:
        """Read lines as FILE:LINE. Raises AnalyzeError A007."""
        return cls(check, where, Question.parse(where, path), None if begin is None else Question.parse(begin, path))


def line_of(what: str, path: Path) -> Question | None:
    """Return the line that FILE:LINE names, or None for a fingerprint. Raises AnalyzeError A007."""
    return None if FINGERPRINT.fullmatch(what) else Question.parse(what, path)
