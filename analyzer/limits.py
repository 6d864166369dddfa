"""What a scan may take: given by whoever runs it, never by what is scanned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from analyzer.report import Problem
from analyzer.rulebook import Rulebook

if TYPE_CHECKING:
    import engine
    from engine.budget import Budget
    from engine.incremental.prepared import Prepared

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Limits:
    """Rules that are not bundled may derive `rule_rows` in each of their relations, in `rule_s` seconds each stratum.

    Rows decide, so the report is the same on every machine; time, and the memory there is, are backstops. The defaults
    are far beyond what rules derive that are meant: points-to of a million lines has seven million rows. A scan comes
    to its end after `timeout_s` seconds, with what it has.
    """

    rule_rows: int = 20_000_000
    rule_s: float = 600.0
    timeout_s: float | None = None

    @property
    def ends_s(self) -> float | None:
        """The moment of the monotonic clock at which a scan ends that begins now."""
        return None if self.timeout_s is None else monotonic() + self.timeout_s

    def budget(self, program: engine.CheckedProgram | Prepared, book: Rulebook) -> Budget | None:
        """Return the budget of the users' rules in a program, if there are any."""
        if not book.user:
            return None  # To look into a prepared program takes longer than an update.
        from engine.budget import Budget
        from engine.incremental.prepared import Prepared
        from engine.plan.apart import written_by

        writers = written_by(program.program if isinstance(program, Prepared) else program, book.user)
        return Budget(writers, self.rule_rows, self.rule_s) if writers else None


def leaving_out(book: Rulebook, work: Callable[[], Made]) -> Made:
    """Return what comes of some work on a rulebook.

    Where users' rules exceed their budget, their sources are taken out of the book, each becomes a problem of the
    report, and the work begins again.
    """
    from engine.budget import BudgetExceeded

    while True:
        try:
            return work()
        except BudgetExceeded as exceeded:
            for name in sorted(exceeded.sources):
                book.problems.append(Problem(f"left out: its rules cannot be evaluated: {exceeded.reason}", name))
            book.leave_out(set(exceeded.sources))
