"""Plans that know in which iteration each instantiation of a rule derives its head, before and after a batch.

The body is joined over all tuples that have ever been there. Behind each atom stands a `Stamp`, which raises the
registers BEFORE and AFTER to the iterations of the atom's tuple in the two states and drops what holds in neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns
from engine.evaluation.bindings import Bindings
from engine.evaluation.compile_expressions import Unsatisfiable
from engine.evaluation.compile_plan import Builder, Plan
from engine.evaluation.operators import Constant, Operator
from engine.incremental.agenda import Agenda
from engine.incremental.maintained_relation import MaintainedRelation
from engine.kernels.iterations import stamp, stamp_absent
from engine.plan.join_order import order
from engine.plan.rule import Absent, Match, Rule

if TYPE_CHECKING:
    from engine.evaluation.worker_pool import Worker

BEFORE, AFTER = "#before", "#after"


@dataclass
class Epoch:
    """The comparison of a stratum: first of the inputs `opening` before and after an update, later of its own batches.

    `own` are the relations of the stratum; all others count as derived in iteration 0.
    """

    own: frozenset[str]
    opening: frozenset[str] = frozenset()
    exact: bool = True

    def is_fixed(self, relation: MaintainedRelation) -> bool:
        """Return True if a relation's tuples count with the iterations that they have now, in both states."""
        return relation.name not in self.own and relation.name not in self.opening


class Stamp(Operator):
    """Takes the iterations of an atom into account; with `untouched` it keeps what the batch has not changed.

    With `current` both states are the one after the batch.
    """

    __slots__ = ("relation", "epoch", "registers", "untouched", "current", "first", "live")

    def __init__(
        self,
        relation: MaintainedRelation,
        epoch: Epoch,
        registers: tuple[int, int, int],
        *,
        untouched: bool,
        current: bool,
        first: bool,
        live: Sequence[int],
    ) -> None:
        self.relation, self.epoch, self.registers = relation, epoch, registers
        self.untouched, self.current, self.first = untouched, current, first
        self.live = np.array(live, np.int64)

    def iterations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Return what the kernels know iterations by: see `kernels.iterations`."""
        moving = self.relation.moving
        is_fixed = self.current or self.epoch.is_fixed(self.relation)
        return self.relation.later, moving.earlier, moving.later, is_fixed

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        own = self.relation.name in self.epoch.own
        return stamp(chunk, n, *self.registers, *self.iterations(), own, self.untouched, self.first, self.live)


class StampAbsent(Stamp):
    """Does the same for a negated atom, whose columns are in the registers `key`."""

    __slots__ = ("key",)

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        ids = self.relation.ids_of(chunk, n, self.key)
        _, before, after = self.registers
        return stamp_absent(chunk, n, ids, before, after, *self.iterations(), self.untouched, self.first, self.live)


class Emit(Operator):
    """Ends a plan: writes down in the agenda what the instantiations change at their heads.

    `fresh` instantiations were none before.
    """

    __slots__ = ("relation", "epoch", "agenda", "take", "before", "after", "fresh")

    def __init__(
        self,
        relation: MaintainedRelation,
        epoch: Epoch,
        agenda: Agenda,
        take: Sequence[int],
        before: int,
        after: int,
        fresh: bool,
    ) -> None:
        self.relation, self.epoch, self.agenda, self.fresh = relation, epoch, agenda, fresh
        self.take, self.before, self.after = np.array(take, np.int64), before, after

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.agenda.watch()
        worker.produced += n
        with self.agenda.lock:
            ids = self.relation.intern(chunk, n, self.take)
            self.account(ids, chunk, n, is_fixed=False)
        return 0

    def account(self, heads: np.ndarray, chunk: Columns, n: int, *, is_fixed: bool) -> None:
        states, how = (chunk[self.before, :n], chunk[self.after, :n]), {"fresh": self.fresh, "exact": self.epoch.exact}
        self.agenda.account(self.relation, heads, states, is_fixed=is_fixed, **how)


class EmitKnown(Emit):
    """Ends a plan that has begun with heads that are not there: their ids are in the register `take[0]`."""

    __slots__ = ()

    def apply(self, worker: Worker, chunk: Columns, n: int) -> int:
        self.agenda.watch()
        worker.produced += n
        with self.agenda.lock:
            ids = np.ascontiguousarray(chunk[self.take[0], :n], np.int32)
            self.account(ids, chunk, n, is_fixed=True)
        return 0


class Stamper(Builder):
    """Builds the operators of a body with a stamp behind each atom.

    The atom `given` brings the registers itself. Atoms in `untouched` must be as they were before the batch.
    """

    def __init__(self, rule: Rule, bindings: Bindings, epoch: Epoch, given: Match | None, current: bool) -> None:
        super().__init__(rule.wide, bindings)
        self.epoch, self.given, self.current_state = epoch, given, current
        self.untouched: frozenset[int] = frozenset()
        self.recursive = bindings.relations.keys()

    def match(self, literal: Match) -> None:
        if literal is self.given:
            super().match(literal)
            return
        marker, needed = literal.terms[-1], self.needed
        self.needed = needed | {marker}
        super().match(literal)
        self.needed = needed
        relation, tuples = self.bindings.relations[literal.relation], self.register_of(marker)
        registers, first, live = self.stamped(tuples)
        self.operators.append(Stamp(relation, self.epoch, registers, first=first, live=live, **self.terms_of(literal)))

    def absent(self, literal: Absent) -> None:
        relation = self.bindings.relations[literal.relation]
        self.current()
        key = [self.register_of(term) for term in literal.terms]
        registers, first, live = self.stamped(-1)
        operator = StampAbsent(relation, self.epoch, registers, first=first, live=live, **self.terms_of(literal))
        operator.key = np.array(key, np.int64)
        self.operators.append(operator)

    def terms_of(self, literal: Match | Absent) -> dict[str, bool]:
        return {"untouched": id(literal) in self.untouched, "current": self.current_state}

    def stamped(self, tuples: int) -> tuple[tuple[int, int, int], bool, list[int]]:
        """The registers of a stamp, whether it is the first to set them, and what is in use behind it."""
        first = AFTER not in self.env
        if first:
            self.env[BEFORE], self.env[AFTER] = self.new_register(BEFORE), self.new_register(AFTER)
        registers = (tuples, self.env[BEFORE], self.env[AFTER])
        return registers, first, self.live(*registers[1:])

    def plan(self, rule: Rule, wanted: Sequence[str | int]) -> tuple[Plan, list[int]]:
        """Return a plan without its end, and the registers of what is wanted, BEFORE and AFTER."""
        steps = order(rule.body, self.given, (), every_variable(rule), self.bindings.sizes)
        try:
            self.steps([step.literal for step in steps], (*wanted, BEFORE, AFTER))
            self.current()
            for state in (BEFORE, AFTER):
                self.env.setdefault(state, Constant(0))
            registers = [self.register_of(term) for term in (*wanted, BEFORE, AFTER)]
        except Unsatisfiable:
            return Plan(None, None, None, (), tuple(steps), never=True), []
        return Plan(self.source, self.scan, self.seed, tuple(self.operators), tuple(steps)), registers


def every_variable(rule: Rule) -> set[str]:
    """The variables of a body: each of its instantiations counts, so no match is as good as another."""
    return {variable for literal in rule.body for variable in literal.variables}


def marked(rule: Rule) -> Rule:
    """Give each positive atom a last term for the id of its tuple."""
    body = [
        type(literal)(literal.relation, (*literal.terms, f"#tuple{i}")) if isinstance(literal, Match) else literal
        for i, literal in enumerate(rule.body)
    ]
    return replace(rule, body=tuple(body), wide={**rule.wide, BEFORE: False, AFTER: False})
