"""Resource limits of a scan, set by the user, never by the scanned repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from analyzer.evaluation.rulebook import Rulebook
from analyzer.report import Problem

if TYPE_CHECKING:
    import engine
    from engine import Budget
    from engine.incremental import PreparedProgram

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Limits:
    """Rules that are not bundled may derive `rule_rows` rows per relation, and take `rule_s` seconds in all strata.

    The limit on rows is deterministic; those on time and memory are backstops. The defaults are far beyond legitimate
    use: points-to of a million lines has seven million rows. A scan ends after `timeout_s` seconds with partial
    results. While rules are evaluated its process keeps to `memory_bytes`: what does not fit is in files.
    """

    rule_rows: int = 20_000_000
    rule_s: float = 600.0
    timeout_s: float | None = None
    memory_bytes: int | None = None

    @property
    def ends_s(self) -> float | None:
        """The deadline, on the monotonic clock, of a scan that begins now."""
        return None if self.timeout_s is None else monotonic() + self.timeout_s

    def budget(self, program: engine.OutlinedProgram | PreparedProgram, book: Rulebook) -> Budget | None:
        """Return the budget of the users' rules in a program, if there are any."""
        if not book.user:
            return None  # To look into a prepared program takes longer than an update.
        from engine import Budget, OutlinedProgram, written_by

        if isinstance(program, OutlinedProgram):
            writers = program.written_by(book.user)
        else:
            writers = written_by(program.program, book.user)
        return Budget(writers, self.rule_rows, self.rule_s) if writers else None


def leaving_out(book: Rulebook, work: Callable[[], Made]) -> Made:
    """Return the result of `work` on a rulebook.

    If users' rules exceed their budget, their sources are removed from the book and reported as problems, and the
    work is repeated.
    """
    from engine import BudgetExceeded

    while True:
        try:
            return work()
        except BudgetExceeded as exceeded:
            for name in sorted(exceeded.sources):
                book.problems.append(Problem(f"left out: its rules cannot be evaluated: {exceeded.reason}", name))
            book.leave_out(set(exceeded.sources))
