"""What an evaluation may take: rows, seconds and text for rules that nobody vouches for, and a moment when all ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from engine.database import EvaluationError
from engine.storage.memory import MemoryLimitReached
from engine.storage.partition import RowsReached
from engine.symbols import Symbols

if TYPE_CHECKING:
    from engine.storage.relation import Relation

GRACE = 0.1
"""When time is up, evaluation has so much more of it for what is still to be had."""
SLACK = 4
"""A relation may pass its budget by this factor within an iteration, at whose end the budget is looked at."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the strata of some relations may take: `rows` in each of these, the rest in all of their strata together.

    `writers` are these relations, each with the sources to blame for it: those whose rules derive it. Rows decide,
    because they are the same on every machine; `seconds` and `characters` of new texts, and the memory limit of the
    evaluation, are backstops for what derives much without keeping it.
    """

    writers: Mapping[str, Collection[str]]
    rows: int
    seconds: float
    characters: int = 1 << 28


class BudgetExceeded(EvaluationError):
    """The rules of some `sources` have taken more than their budget, or cannot be evaluated; `reason` says why."""

    def __init__(self, sources: Collection[str], reason: str) -> None:
        super().__init__(f"{', '.join(sorted(sources))}: {reason}")
        self.sources, self.reason = frozenset(sources), reason


class TimeIsUp(Exception):
    """The moment has come at which an evaluation was to end."""


class Meter:
    """Compares what strata take with a budget, and the time with the moment `ends_s` of the monotonic clock.

    `watch` is for whoever does a piece of work of a stratum, in any thread: it raises when there must be no more.
    """

    def __init__(self, budget: Budget | None, symbols: Symbols, ends_s: float | None = None) -> None:
        self.budget, self.symbols, self.ends_s = budget, symbols, ends_s
        self.left_s = inf if budget is None else budget.seconds
        self.is_extended = False
        self.charged: tuple[Relation, ...] = ()
        self.started_s = self.begun_s = monotonic()
        self.begun_characters = 0

    @contextmanager
    def over(self, relations: Sequence[Relation]) -> Iterator[None]:
        """Charge what happens in the context to the stratum of these relations.

        Raises BudgetExceeded for a stratum with a budget, also where it meets the memory limit or has no value.
        """
        self.charged = tuple(r for r in relations if self.budget is not None and owner(r) in self.budget.writers)
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
            raise self.exceeded("they need more memory than there is") from None
        except EvaluationError as error:
            if not self.charged or isinstance(error, BudgetExceeded):
                raise
            raise self.exceeded(str(error)) from None
        finally:
            if self.charged:
                self.left_s -= monotonic() - self.begun_s
            self.charged = ()

    def charges(self, relations: Iterable[Relation]) -> bool:
        """Return True if what a stratum takes is compared with a budget."""
        return self.budget is not None and any(owner(relation) in self.budget.writers for relation in relations)

    def watch(self) -> None:
        """Raise BudgetExceeded or TimeIsUp when the stratum at hand must end."""
        now = monotonic()
        if self.ends_s is not None and now > self.ends_s:
            raise TimeIsUp
        if not self.charged:
            return
        if now - self.begun_s > self.left_s:
            raise self.exceeded(f"they take more than {self.budget.seconds:g} s")
        if any(relation.exceeds(SLACK * self.budget.rows) for relation in self.charged):
            raise RowsReached
        if self.symbols.n_characters - self.begun_characters > self.budget.characters:
            raise self.exceeded(f"they make more than {self.budget.characters:,} characters of new texts")

    def extend(self) -> None:
        """Allow GRACE of the time that there was, the first time."""
        if self.ends_s is not None and not self.is_extended:
            self.ends_s += GRACE * (self.ends_s - self.started_s)
            self.is_extended = True

    def check_rows(self) -> None:
        """Raise BudgetExceeded where a relation has more rows than it may have; called when all threads rest."""
        for relation in self.charged:
            if relation.exceeds(self.budget.rows):
                raise self.too_many_rows()

    def too_many_rows(self) -> BudgetExceeded:
        return self.exceeded(f"they derive more than {self.budget.rows:,} rows")

    def exceeded(self, reason: str) -> BudgetExceeded:
        sources = (self.budget.writers[owner(relation)] for relation in self.charged)
        return BudgetExceeded(set().union(*sources), reason)


def owner(relation: Relation) -> str:
    """Return the name of the relation that another one, made for its rules, is a part of."""
    return relation.name.partition("&")[0]


UNMETERED = Meter(None, Symbols())
"""Lets everything pass."""
