"""Stages between a rule and its relation: what is done with a rule's rows before they are stored.

A rule of a relation with a choice domain or a size limit, and the first half of a rule with counters, writes to a
relation of its own. When the rule has run, in full or for one iteration, its stage takes these rows as one batch, in
the order of their values: what is stored depends on neither threads nor join orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from engine.database import Columns
from engine.kernels.choice_domains import admit
from engine.language.autoinc import split
from engine.language.checked_program import CheckedClause, CheckedProgram, Type
from engine.language.syntax import Atom, Variable
from engine.plan.rule import Rule
from engine.plan.value_encoding import dtype_of
from engine.storage.key_tables import HashedKeys
from engine.storage.relation import Relation

Order = Callable[..., np.ndarray]
Store = Callable[[Relation, Columns], None]


class Stage(Protocol):
    """Takes the rows of `source` when a rule has written them."""

    source: Relation

    def deliver(self) -> None:
        """Pass the rows on, and empty `source`."""


def drain(relation: Relation) -> Columns:
    """Return the rows of a relation that nobody reads, and empty it."""
    relation.advance()
    rows = relation.columns()
    relation.clear()
    return rows


class Admission:
    """Lets rows into a relation, as far as its choice domain and its limit allow.

    A relation without a choice domain has all its columns as the only key: a row is let in once.
    """

    def __init__(
        self,
        relation: Relation,
        choice: Sequence[Sequence[int]],
        limit: int | None,
        order: Callable[[Columns], np.ndarray],
        store: Store,
    ) -> None:
        self.relation, self.limit, self.order, self.store = relation, limit, order, store
        keys = choice or [range(relation.arity)]
        self.keys = [(np.array(key, np.int64), HashedKeys(len(key), relation.dtype)) for key in keys]
        self.taken = np.zeros((len(keys), 64), np.bool_)
        self.n = 0

    def admit(self, rows: Columns) -> None:
        """Store the rows that are let in, the least first."""
        rows, ids = self.free(rows)
        order = self.order(rows)
        self.let_in(np.ascontiguousarray(rows[:, order]), np.ascontiguousarray(ids[:, order]))

    def admit_in_turn(self, rows: Columns) -> None:
        """Store the rows that are let in, the first first."""
        self.let_in(*self.free(rows))

    def free(self, rows: Columns) -> tuple[Columns, np.ndarray]:
        """Return the rows of which no key is taken, and the ids of their keys [key, row]."""
        rows, n = np.ascontiguousarray(rows, self.relation.dtype), rows.shape[1]
        ids = np.array([table.intern(rows, 0, n, key) for key, table in self.keys], np.int32)
        most = max(table.n for _, table in self.keys)
        if most > self.taken.shape[1]:
            self.taken = np.pad(self.taken, ((0, 0), (0, 2 * most - self.taken.shape[1])))
        free = ~np.take_along_axis(self.taken, ids, axis=1).any(axis=0)
        return np.ascontiguousarray(rows[:, free]), np.ascontiguousarray(ids[:, free])

    def let_in(self, rows: Columns, ids: np.ndarray) -> None:
        n = rows.shape[1]
        admitted = np.empty(n, np.int64)
        n = admit(ids, self.taken, n if self.limit is None else min(n, self.limit - self.n), admitted)
        self.n += n
        self.store(self.relation, rows[:, admitted[:n]])


class Candidates:
    """The rows that one rule offers to an admission."""

    def __init__(self, source: Relation, admission: Admission) -> None:
        self.source, self.admission = source, admission

    def deliver(self) -> None:
        self.admission.admit(drain(self.source))


class Counter:
    """Gives out the numbers of a program's counters."""

    def __init__(self) -> None:
        self.next = 0

    def draw(self, n: int) -> np.ndarray:
        self.next += n
        return np.arange(self.next - n, self.next)


class Numbering:
    """Adds columns of new numbers to the bindings of a rule with counters."""

    def __init__(self, source: Relation, numbered: Relation, types: Sequence[Type], staging: Staging) -> None:
        self.source, self.numbered, self.types, self.staging = source, numbered, types, staging

    def deliver(self) -> None:
        rows = drain(self.source)
        rows = rows[:, self.staging.order(rows, self.types)]
        n, width = rows.shape[1], self.numbered.arity - len(rows)
        numbers = self.staging.counter.draw(n * width).reshape(n, width).T
        self.staging.store(self.numbered, np.concatenate([rows, numbers.astype(self.numbered.dtype)]))
        self.numbered.advance()


class Staging:
    """Turns the clauses of a program into rules, with stages where they are needed.

    `relations` are those that plans are bound to: the sources of stages are added to them.
    """

    def __init__(
        self,
        program: CheckedProgram,
        relations: dict[str, Relation],
        flatten: Callable[[CheckedClause], Rule],
        order: Order,
        store: Store,
    ) -> None:
        self.program, self.relations, self.flatten = program, relations, flatten
        self.order, self.store, self.counter = order, store, Counter()

    def admissions(self, names: Iterable[str]) -> dict[str, Admission]:
        """Return what lets rows into those of the relations that do not take all."""
        return {name: self.admission(name) for name in names if self.program.is_ordered(name)}

    def admission(self, name: str) -> Admission:
        declared = self.program.relations[name]
        types = [column.type for column in declared.columns]
        limit = self.program.limits.get(name)
        return Admission(self.relations[name], declared.choice, limit, partial(self.order, types=types), self.store)

    def rules(self, clause: CheckedClause, admission: Admission | None, stages: dict[str, Stage]) -> list[Rule]:
        """Return the rules of a clause; the stages they write to are added to `stages`."""
        rules = self.numbered(clause, stages) if clause.counters else [self.flatten(clause)]
        if admission is not None:
            declared = admission.relation
            source = self.relation(f"{declared.name}#{len(stages)}", declared.arity, declared.dtype)
            stages[source.name] = Candidates(source, admission)
            rules[-1] = replace(rules[-1], relation=source.name)
        return rules

    def numbered(self, clause: CheckedClause, stages: dict[str, Stage]) -> list[Rule]:
        """Return a rule for the bindings that numbers are drawn for, and one for the rest of the clause."""
        names, known, others = split(clause)
        types = [clause.variables[name] for name in names]
        name, bits = f"{clause.head.relation}#{len(stages)}", self.program.number_bits
        source = self.relation(name, len(names), dtype_of((t.kind for t in types), bits))
        kinds = [t.kind for t in types] + ["number"] * len(clause.counters)
        numbered = self.relation(f"{name}#numbered", len(kinds), dtype_of(kinds, bits))
        stages[name] = Numbering(source, numbered, types, self)
        bindings = Atom(name, tuple(map(Variable, names)))
        drawn = Atom(numbered.name, tuple(map(Variable, (*names, *clause.counters))))
        first = self.flatten(replace(clause, head=bindings, body=known))
        second = self.flatten(replace(clause, body=(drawn, *others)))
        return [replace(first, text=second.text), second]

    def relation(self, name: str, arity: int, dtype: np.dtype) -> Relation:
        self.relations[name] = Relation(name, arity, dtype)
        return self.relations[name]
