"""A bootstrap of maintained relations, of which a copy of the process evaluates some strata.

Tuples are handed over with their iterations and counts, under ids that go on here as they are. They stay as they came
until something reads them (see `MaintainedRelation.sleep`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from threading import active_count
from typing import TYPE_CHECKING

import numpy as np

from engine.evaluation.split_evaluation import SplitEvaluation
from engine.evaluation.translated_ids import TranslatedIds
from engine.incremental.bounded_recursion import BoundedRecursion
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.make_strata import Stratum
from engine.operating_system import can_fork
from engine.plan.strata_order import StrataOrder
from engine.storage.memory import LEDGER

if TYPE_CHECKING:
    from engine.database import Columns
    from engine.incremental.maintained_program import MaintainedProgram


@dataclass(slots=True)
class HandedOver:
    """The tuples of a relation by id, from the other process, until they are read: once."""

    n: int
    rows: Columns
    later: np.ndarray
    count: np.ndarray
    n_sorted: int = 0

    @classmethod
    def of(cls, relation: MaintainedRelation) -> HandedOver:
        n = relation.n_ids
        return cls(n, relation.partitions[0].rows[: relation.width, :n], relation.later[:n], relation.count[:n])

    def read_into(self, rows: Columns, later: np.ndarray, count: np.ndarray) -> None:
        rows[:, : self.n], later[: self.n], count[: self.n] = self.rows, self.later, self.count
        del self.rows, self.later, self.count


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """The result of a stratum: ids of facts that stand in the program, those of them that are given, and iterations."""

    permanent: Mapping[str, np.ndarray]
    repeated: Mapping[str, np.ndarray]
    iterations: int


class SplitBootstrap(SplitEvaluation[Bootstrapped | None]):
    """Evaluates the strata of a view from scratch, on facts; `done` is called when one is."""

    def __init__(self, view: MaintainedProgram, facts: Mapping[str, Columns], done: Callable[[int], None]) -> None:
        self.view, self.facts, self.done = view, facts, done
        super().__init__(view.symbols, view.records, view.prepared.records, view.options)

    def run(self) -> None:
        pool = self.view.pool
        pool.tend, pool.is_accompanied = self.tend, self.is_accompanied
        try:
            self.evaluate_all()
        finally:
            pool.tend = pool.is_accompanied = bool

    # ---- the order

    @cached_property
    def order(self) -> StrataOrder:
        strata = self.view.strata
        sizes = [n_rules(stratum) for stratum in strata]
        writer = {relation.name: at for at, stratum in enumerate(strata) for relation in stratum.relations}
        needs = [{writer[name] for name in read if name in writer} - {at} for at, read in enumerate(self.reads)]
        return StrataOrder(sizes, needs, self.large_recursions, map(self.may_move, strata))

    @property
    def pays(self) -> bool:
        """True if a copy of the process may be made, has a processor of its own, and enough to do."""
        if self.view.threads < 2 or not can_fork() or active_count() > 1 or LEDGER.is_given:
            return False
        n_facts = sum(rows.shape[1] for rows in self.facts.values())
        return n_facts >= self.options.aside_facts and bool(self.large_recursions)

    @cached_property
    def large_recursions(self) -> list[int]:
        return [
            at
            for at, stratum in enumerate(self.view.strata)
            if len(stratum.relations) > 1 and n_rules(stratum) >= self.options.large_clauses
        ]

    def may_move(self, stratum: Stratum) -> bool:
        """Return True if a copy may evaluate a stratum: tuples of known types are all that there is to hand over."""
        return (
            isinstance(stratum, MaintainedStratum)
            and all(type(relation) is MaintainedRelation for relation in stratum.relations)
            and stratum.names <= self.view.prepared.tables.keys()
            and not stratum.meter.charges(stratum.relations)
        )

    @cached_property
    def reads(self) -> list[set[str]]:
        return [{relation.name for relation in stratum.inputs} for stratum in self.view.strata]

    def written(self, at: int) -> Collection[str]:
        return [relation.name for relation in self.view.strata[at].relations]

    # ---- strata

    def evaluate(self, at: int) -> None:
        self.view.strata[at].bootstrap(self.facts)

    def evaluate_there(self, at: int) -> Bootstrapped:
        self.view.pool.stay_alone()
        stratum = self.view.strata[at]
        assert isinstance(stratum, MaintainedStratum)
        stratum.bootstrap(self.facts)
        return Bootstrapped(by_name(stratum.permanent), by_name(stratum.repeated), stratum.iterations)

    def finished(self, at: int, done: Bootstrapped | None) -> None:
        self.order.finish(at)
        self.forget(at)

    def forget(self, at: int) -> None:
        self.done(at)

    # ---- what is handed over

    def held(self, names: Iterable[str]) -> dict[str, HandedOver]:
        relations = [self.view.joined[name] for name in names]
        return {relation.name: HandedOver.of(relation) for relation in relations if relation.n_ids}

    def n_bytes(self, names: Iterable[str]) -> float:
        relations = [self.view.joined[name] for name in names]
        is_plain = self.view.prepared.tables.keys() >= {relation.name for relation in relations}
        return sum(relation.n_bytes_of_tuples for relation in relations) if is_plain else inf

    def adopt(self, at: int, done: Bootstrapped | None, held: Mapping[str, HandedOver], ids: TranslatedIds) -> None:
        stratum = self.view.strata[at]
        assert isinstance(stratum, MaintainedStratum) and done is not None
        self.take_over(
            {relation.name: held[relation.name] for relation in stratum.relations if relation.name in held}, ids
        )
        for relation in stratum.relations:
            stratum.permanent[relation] = done.permanent[relation.name]
            stratum.repeated[relation] = done.repeated[relation.name]
        stratum.iterations = done.iterations

    def take_over(self, held: Mapping[str, HandedOver], ids: TranslatedIds) -> None:
        for name, tuples in held.items():
            ids.translated(self.view.prepared.tables_of(name), tuples.rows)
            self.view.joined[name].sleep(tuples)


def n_rules(stratum: Stratum) -> int:
    """Return the number of a stratum's rules, where they are what keeps it up to date; else 0."""
    if isinstance(stratum, BoundedRecursion):
        return n_rules(stratum.final)
    return len(stratum.needs) if isinstance(stratum, MaintainedStratum) else 0


def by_name(ids: Mapping[MaintainedRelation, np.ndarray]) -> dict[str, np.ndarray]:
    return {relation.name: found for relation, found in ids.items()}
