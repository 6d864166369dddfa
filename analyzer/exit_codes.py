"""Exit codes of commands: what they are, and how a report's findings decide one."""

from __future__ import annotations

from collections.abc import Iterable

CLEAN, FINDINGS, ERROR, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130


def exit_code(complete: bool, fails: bool) -> int:
    """Return the code of a report: what is incomplete is neither clean nor failed."""
    return INCOMPLETE if not complete else FINDINGS if fails else CLEAN


def of_all(codes: Iterable[int]) -> int:
    """Return the code of many reports."""
    return max(codes, default=CLEAN)
