"""Resource limits of an evaluation: rows, seconds and text for untrusted rules, and a deadline for everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from engine.database import EvaluationError
from engine.storage.memory import MemoryLimitReached, RowsReached
from engine.symbols import Symbols

if TYPE_CHECKING:
    from engine.storage.relation import Relation

GRACE = 0.1
"""Extension of an evaluation's time after its deadline, as a share, for results that can still be derived."""
SLACK = 4
"""Factor by which a relation may exceed its budget within an iteration, at whose end the budget is checked."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of some relations: `rows` in each of them, the rest in all of their strata together.

    `writers` maps each of these relations to the sources whose rules derive it. The limit on rows is deterministic;
    `seconds` and `characters` of new texts, and the memory limit of the evaluation, are backstops for rules that derive
    much without storing it.
    """

    writers: Mapping[str, Collection[str]]
    rows: int
    seconds: float
    characters: int = 1 << 28


UNLIMITED = Budget({}, 0, inf, 0)
"""It charges no relation."""


class BudgetExceeded(EvaluationError):
    """The rules of some `sources` exceed their budget, or cannot be evaluated; `reason` says why."""

    def __init__(self, sources: Collection[str], reason: str) -> None:
        super().__init__(f"{', '.join(sorted(sources))}: {reason}")
        self.sources, self.reason = frozenset(sources), reason


class TimeIsUp(Exception):
    """The deadline of an evaluation has passed."""


class Meter:
    """Checks the resources of strata against a budget, and the time against the deadline `ends_s`, monotonic.

    Each piece of work of a stratum, in any thread, calls `watch`, which raises when a limit is reached.
    """

    def __init__(self, budget: Budget | None, symbols: Symbols, ends_s: float | None = None) -> None:
        self.budget = UNLIMITED if budget is None else budget
        self.symbols, self.ends_s = symbols, ends_s
        self.left_s, self.left_characters = self.budget.seconds, self.budget.characters
        self.is_extended = False
        self.charged: tuple[Relation, ...] = ()
        self.started_s = self.begun_s = monotonic()
        self.begun_characters = 0

    @contextmanager
    def over(self, relations: Sequence[Relation]) -> Iterator[None]:
        """Charge what happens in the context to the stratum of these relations.

        Raises BudgetExceeded for a stratum with a budget, also where it meets the memory limit or has no value.
        """
        self.charged = tuple(r for r in relations if owner(r) in self.budget.writers)
        self.begun_s, self.begun_characters = monotonic(), self.symbols.n_characters
        for relation in self.charged:
            relation.hold_at_most(SLACK * self.budget.rows)
        try:
            yield
            self.check_rows()
        except RowsReached:
            raise self.too_many_rows() from None
        except (MemoryLimitReached, MemoryError):
            if not self.charged:
                raise
            raise self.exceeded("they need more memory than available") from None
        except EvaluationError as error:
            if not self.charged or isinstance(error, BudgetExceeded):
                raise
            raise self.exceeded(str(error)) from None
        finally:
            if self.charged:
                self.left_s -= monotonic() - self.begun_s
                self.left_characters -= self.symbols.n_characters - self.begun_characters
            self.charged = ()

    def charges(self, relations: Iterable[Relation]) -> bool:
        """Return True if a stratum has a budget."""
        return any(owner(relation) in self.budget.writers for relation in relations)

    def watch(self) -> None:
        """Raise BudgetExceeded or TimeIsUp if the current stratum must end."""
        now = monotonic()
        if self.ends_s is not None and now > self.ends_s:
            raise TimeIsUp
        if not self.charged:
            return
        if now - self.begun_s > self.left_s:
            raise self.exceeded(f"they take more than {self.budget.seconds:g} s")
        if any(relation.exceeds(SLACK * self.budget.rows) for relation in self.charged):
            raise RowsReached
        if self.symbols.n_characters - self.begun_characters > self.left_characters:
            raise self.exceeded(f"they create more than {self.budget.characters:,} characters of new texts")

    def extend(self) -> None:
        """Extend the deadline once, by GRACE of the time given."""
        if self.ends_s is not None and not self.is_extended:
            self.ends_s += GRACE * (self.ends_s - self.started_s)
            self.is_extended = True

    def check_rows(self) -> None:
        """Raise BudgetExceeded if a relation has too many rows; called while all threads are idle."""
        for relation in self.charged:
            if relation.exceeds(self.budget.rows):
                raise self.too_many_rows()

    def too_many_rows(self) -> BudgetExceeded:
        return self.exceeded(f"they derive more than {self.budget.rows:,} rows")

    def exceeded(self, reason: str) -> BudgetExceeded:
        sources = (self.budget.writers[owner(relation)] for relation in self.charged)
        return BudgetExceeded({source for each in sources for source in each}, reason)


def owner(relation: Relation) -> str:
    """Return the name of the relation that an auxiliary one belongs to."""
    return relation.name.partition("&")[0]


UNMETERED = Meter(None, Symbols())
"""Lets everything pass."""
