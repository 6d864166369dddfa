"""Strata that are evaluated anew when an input has changed, and compared with what was there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from engine.budget import Budget
from engine.database import Columns
from engine.evaluation.evaluator import RelationColumns, evaluate
from engine.evaluation.execution import Options
from engine.incremental.maintained_relation import MaintainedRelation
from engine.kernels.iterations import ABSENT
from engine.language.checked_program import CheckedProgram, Stratum
from engine.language.syntax import Atom
from engine.language.traverse import all_atoms
from engine.storage.equivalence_union_find import Equivalence
from engine.storage.record_table import RecordTable
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols


def obstacle(program: CheckedProgram, stratum: Stratum) -> str:
    """Say why a stratum cannot be kept up to date tuple by tuple, if it cannot."""
    for name in stratum.relations:
        relation = program.relations[name]
        if relation.choice or name in program.limits:
            return "its rows depend on the order of evaluation"
        if "eqrel" in relation.qualifiers:
            return "it is an equivalence"
    if any(clause.counters for clause in stratum.clauses):
        return "it counts"
    return ""


def given_name(relation: str) -> str:
    """Return the name of what holds the facts that a relation was given, apart from what it derives."""
    return f"{relation}!given"


def as_program(program: CheckedProgram, stratum: Stratum) -> CheckedProgram:
    """A stratum as a program of its own: behind strata of the relations that it reads, which are rows, aggregated."""
    read = {atom.relation for clause in stratum.clauses for atom in all_atoms(clause)} - {*stratum.relations}
    inputs = {name: replace(program.relations[name], aggregated=()) for name in sorted(read)}
    return replace(
        program,
        relations=inputs | {name: program.relations[name] for name in stratum.relations},
        strata=(*(Stratum((name,), False, ()) for name in sorted(read)), stratum),
        outputs=(),
        printsizes=(),
        limitsizes=tuple(d for d in program.limitsizes if d.relation in stratum.relations),
    )


class RecomputedStratum:
    """A stratum that is evaluated as a program of its own. All of its tuples have the iteration 0.

    Of an equivalence the classes are kept, not the pairs.

    `program` gives that program, see `as_program`; `given` are the facts of its relations, `reason` says why they are
    not kept up to date.
    """

    def __init__(
        self,
        relations: Sequence[MaintainedRelation],
        inputs: Sequence[MaintainedRelation],
        program: Callable[[], CheckedProgram],
        symbols: Symbols,
        records: Mapping[str, RecordTable],
        threads: int,
        options: Options,
        reason: str,
        budget: Budget | None,
    ) -> None:
        self.relations, self.inputs, self._program = [*relations], [*inputs], program
        self.symbols, self.records, self.threads, self.options, self.reason = symbols, records, threads, options, reason
        self.budget = budget
        dtypes = {relation.name: (relation.width, relation.dtype) for relation in self.relations}
        self.given = {name: MaintainedRelation(given_name(name), *shape) for name, shape in dtypes.items()}
        self.iterations = 0

    def bootstrap(self, facts: Mapping[str, Columns]) -> None:
        self.give(facts, 0)
        self.evaluate()
        for relation in self.relations:
            relation.begin()

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        changed = self.give(deleted, ABSENT) | self.give(inserted, 0)
        if changed or any(len(ids) for relation in self.inputs for ids in relation.changes()):
            if self.holds_any() or self.may_begin():
                self.evaluate()

    def holds_any(self) -> bool:
        """Return whether there is a tuple, or a fact."""
        return any(len(relation.present()) for relation in (*self.relations, *self.given.values()))

    def may_begin(self) -> bool:
        """Return False if nothing follows while there is no tuple: each rule needs one, or another input's."""
        return any(all(relation.n for relation in needed) for needed in self._beginnings)

    @cached_property
    def _beginnings(self) -> list[list[MaintainedRelation]]:
        """For each rule that needs no tuple of these relations, the inputs that it needs one of."""
        inputs, own = {relation.name: relation for relation in self.inputs}, self.given.keys()
        bodies = [
            [literal.relation for literal in clause.body if isinstance(literal, Atom)]
            for clause in self._program().strata[-1].clauses
        ]
        return [[inputs[name] for name in body if name in inputs] for body in bodies if own.isdisjoint(body)]

    def give(self, facts: Mapping[str, Columns], iteration: int) -> bool:
        """Let rows be facts, or (ABSENT) be facts no more; return whether that changes any."""
        changed = False
        for name, given in self.given.items():
            if name in facts:
                changed |= len(given.enter(given.add(facts[name]), iteration)) > 0
        return changed

    def undo(self) -> None:
        """There is nothing left of an update but in relations."""

    def facts(self) -> dict[str, Columns]:
        """The facts of the last state."""
        return {name: given.columns() for name, given in self.given.items()}

    def evaluate(self) -> None:
        for relation, rows in self.evaluated():
            replace_rows(relation, relation.present(), rows)

    def evaluated(self) -> Iterator[tuple[MaintainedRelation, Columns]]:
        """Yield the relations, and the rows that they should hold."""
        facts = {relation.name: relation.generators() for relation in self.inputs}
        facts |= self.facts()
        database = StoredDatabase(self.symbols, self.records, facts)
        result = evaluate(self._program(), database, threads=self.threads, options=self.options, budget=self.budget)
        assert isinstance(result.relations, RelationColumns)
        for relation in self.relations:
            stored = result.relations.stored(relation.name)
            rows = stored.represented() if isinstance(stored, Equivalence) else stored.columns()
            yield relation, np.asarray(rows, relation.dtype)


def replace_rows(relation: MaintainedRelation, before: np.ndarray, rows: Columns) -> None:
    """Let a relation hold these rows instead of some tuples, and close its stratum."""
    after = relation.add(rows)
    relation.set_facts(np.setdiff1d(before, after), np.setdiff1d(after, before))
    relation.arrange()
    relation.close_stratum()
