"""Strata evaluated one after the other here, and others meanwhile: in a copy of the process, or by a second thread.

Two processes do not wait for each other, and what the interpreter does is divided, too; but each holds what it writes.
Where the process holds much a second thread takes the place of the copy: there kernels take most of the time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from threading import Condition
from time import perf_counter
from typing import Any, Generic, TypeVar

from engine.evaluation.execution import Options
from engine.evaluation.forked_strata import Finished, ForkedStrata, Task
from engine.evaluation.strata_beside import StrataBeside
from engine.evaluation.translated_ids import NewValues, TranslatedIds, n_values, new_values
from engine.language.checked_program import Record
from engine.operating_system import release_free_memory, resident_bytes
from engine.plan.strata_order import StrataOrder
from engine.storage.record_table import RecordTable
from engine.symbols import Symbols

HANDED_OVER_S = 0.004
"""The time that a copy of the process evaluates for before it hands over, which takes longer than most strata do."""
MOST_GIVEN_BYTES = 1 << 27
"""A copy that lacks more for what there is to do ends, and another begins with all that there is."""
MOST_IDLE_BYTES = 1 << 29
"""Where it holds more, a copy that waits for the end of a large recursion ends."""
Done = TypeVar("Done")
"""The result of a stratum, beside the tuples of its relations."""


class SplitEvaluation(ABC, Generic[Done]):
    """Evaluates the strata of a program, each once.

    `unknown` are the relations that have been written here since the copy began, or was told of them, and `done_here`
    the strata that have been evaluated here; `n_told` counts the symbols and records that the other side, here or
    there, has been told of. Who holds `changed` begins and finishes strata.
    """

    def __init__(
        self,
        symbols: Symbols,
        records: Mapping[str, RecordTable],
        declared: Mapping[str, Record],
        options: Options,
    ) -> None:
        self.symbols, self.records, self.declared, self.options = symbols, records, declared, options
        self.copy: ForkedStrata | None = None
        self.beside: StrataBeside[Done] | None = None
        self.changed = Condition()
        self.unknown: set[str] = set()
        self.done_here: list[int] = []
        self.n_told = n_values(symbols, records)

    # ---- what is evaluated

    @property
    @abstractmethod
    def order(self) -> StrataOrder:
        """The order of the strata; where that has no large recursions no copy is made."""

    @property
    def may_give(self) -> bool:
        """True if the copy may be given more."""
        return True

    @property
    @abstractmethod
    def reads(self) -> Sequence[set[str]]:
        """The relations that each stratum reads."""

    @abstractmethod
    def written(self, at: int) -> Collection[str]:
        """Return the relations that a stratum writes."""

    @abstractmethod
    def evaluate(self, at: int) -> Done:
        """Evaluate a stratum here."""

    @abstractmethod
    def evaluate_there(self, at: int) -> Done:
        """Evaluate a stratum in the copy, on one thread: a fork has no others."""

    @abstractmethod
    def finished(self, at: int, done: Done) -> None:
        """Learn that a stratum has been evaluated, here or there."""

    @abstractmethod
    def forget(self, at: int) -> None:
        """Let go of what none reads any more, behind a stratum that has been evaluated here or there."""

    @abstractmethod
    def held(self, names: Iterable[str]) -> dict[str, Any]:
        """Return what there is to hand over of relations that are complete; nothing of those without tuples."""

    @abstractmethod
    def n_bytes(self, names: Iterable[str]) -> float:
        """Return the size of that; infinity where it cannot be handed over."""

    @abstractmethod
    def adopt(self, at: int, done: Done, held: Mapping[str, Any], ids: TranslatedIds) -> None:
        """Enter what the copy has derived in a stratum."""

    @abstractmethod
    def take_over(self, held: Mapping[str, Any], ids: TranslatedIds) -> None:
        """Put relations of the other side in place of what is here, in the copy."""

    # ---- here

    def evaluate_all(self) -> None:
        try:
            while (at := self.next()) is not None:
                done = self.evaluate(at)
                with self.changed:
                    self.finished(at, done)
                    self.changed.notify_all()
                self.unknown.update(self.written(at))
                self.done_here.append(at)
        finally:
            self.end_copy()
            if self.beside is not None:
                self.beside.end()

    def next(self) -> int | None:
        """Return the stratum to evaluate now, as soon as there is one; None at the end."""
        with self.changed:
            while self.order.n_left:
                self.tend()
                at = self.order.next()
                if at is not None:
                    return at
                if self.beside is None:
                    self.receive(wait=True)
                else:
                    self.changed.wait()
        return None

    def tend(self) -> None:
        """Enter what the copy has derived, and let one begin or go on when there is enough for it to do.

        Called between two strata, and between two iterations of one.
        """
        while self.receive(wait=False):
            pass
        if not self.may_give or self.beside is not None:
            return
        options = self.options
        # During a large recursion the copy is asked for its results seldom: it gets all that it can do meanwhile.
        most = inf if self.order.is_at_goal else options.aside_clauses
        if self.copy is None:
            if self.order.movable_size >= options.aside_clauses:
                if self.may_copy:
                    self.begin_copy(self.order.to_give(most))
                else:
                    self.beside = self.begin_beside()
        elif self.order.size(self.copy.strata) <= options.last_clauses:
            if strata := self.order.to_give(most):
                self.go_on(self.copy, strata)
            elif self.copy.is_idle and self.order.is_at_goal and resident_bytes() > MOST_IDLE_BYTES:
                self.end_copy()

    def receive(self, wait: bool) -> bool:
        """Enter the next strata that the copy has evaluated; return whether there were any."""
        copy = self.copy
        if copy is None:
            return False
        received = copy.receive(wait)
        if received is not None:
            for at, done in received.strata.items():
                self.adopt(at, done, received.held, copy.ids)
                self.finished(at, done)
        elif not copy.is_running:
            self.order.take_back(copy.strata)
            self.copy = None
        return received is not None

    def begin_copy(self, strata: Sequence[int]) -> None:
        """Let a copy begin with what can be evaluated aside, unless the system has no room for a process."""
        self.unknown, self.done_here = set(), []
        self.n_told = n_values(self.symbols, self.records)
        ids = TranslatedIds(self.symbols, self.records, self.declared)
        release_free_memory()  # What is free would soon be written by both processes.
        try:
            self.copy = ForkedStrata(strata, self.work, ids)
        except OSError:
            self.copy = None
            self.order.bar(strata)
        else:
            self.order.give(strata)

    def go_on(self, copy: ForkedStrata, strata: Sequence[int]) -> None:
        """Give the copy more, with what it lacks for that; where that is too much another may begin in its place."""
        lacking = self.unknown & set().union(*(self.reads[at] for at in strata))
        if self.n_bytes(lacking) <= MOST_GIVEN_BYTES:
            self.order.give(strata)
            copy.go_on(Task(strata, self.held(lacking), self.made(), self.done_here))
            self.unknown, self.done_here = self.unknown - lacking, []
        elif copy.is_idle:
            self.end_copy()
            if self.may_copy:
                self.begin_copy(strata)

    def begin_beside(self) -> StrataBeside[Done] | None:
        """Let a second thread take what is ready, from now on to the end, where one may evaluate strata."""
        return None

    @property
    def may_copy(self) -> bool:
        """True unless this process holds too much for two of it."""
        return resident_bytes() <= self.options.most_copied_bytes

    def end_copy(self) -> None:
        """Let go of the copy."""
        if self.copy is not None:
            self.copy.close()
        self.copy = None

    def made(self) -> NewValues:
        """The symbols and records that this side has made, or learned of, since the other was told the last time."""
        values = new_values(self.symbols, self.records, self.n_told)
        self.n_told = n_values(self.symbols, self.records)
        return values

    def is_accompanied(self) -> bool:
        """Return True while the copy, or the second thread, keeps a processor busy."""
        if self.beside is not None:
            return self.beside.is_at_work
        return self.copy is not None and self.copy.is_at_work()

    # ---- in the copy

    def work(self, copy: ForkedStrata) -> Iterator[Finished]:
        """Evaluate what the copy is given, and yield it."""
        yield from self.evaluate_aside(copy.strata)
        for task in copy.tasks():
            self.take_over(task.held, copy.ids)
            for at in task.done:
                self.forget(at)
            yield from self.evaluate_aside(task.strata)

    def evaluate_aside(self, strata: Sequence[int]) -> Iterator[Finished]:
        """Evaluate strata in the copy, and yield them some at a time."""
        while strata:
            begin = perf_counter()
            done: dict[int, Done] = {}
            held: dict[str, Any] = {}
            for at in strata:
                done[at] = self.evaluate_there(at)
                held |= self.held(self.written(at))
                self.forget(at)
                if perf_counter() - begin > HANDED_OVER_S:
                    break
            yield Finished(done, held, self.made())
            strata = strata[len(done) :]
