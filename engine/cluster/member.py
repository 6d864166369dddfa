"""The evaluation of a program by one member of a group.

A relation is *replicated*, held whole by every member, or *partitioned*: each member holds the part that it owns.
What a stratum reads and is small is replicated, once for all rules; what is large is shuffled: sent to the ports where
rules join it, and joined on arrival. A recursion that decomposes needs no exchange but the first. What depends on an
order of evaluation, or makes texts or records, whose ids all must agree on, is left to the first member.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from engine.budget import Budget, BudgetExceeded, Meter
from engine.cluster.checkpoint import Checkpoints
from engine.cluster.communicator import Communicator, all_gather, broadcast
from engine.cluster.message_codec import Failure
from engine.cluster.partitioned_stratum import PartitionedStratum
from engine.cluster.superstep_exchange import Supersteps
from engine.database import Columns, Database, Widening
from engine.evaluation.execution import Execution, Options
from engine.evaluation.insert_facts import fitting_columns
from engine.evaluation.semi_naive import LimitReached
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.evaluation.translated_ids import NewValues, n_values, new_values
from engine.language.checked_program import CheckedProgram, Stratum
from engine.language.traverse import all_atoms
from engine.plan.linearise import linearise
from engine.plan.push_extrema import push_extrema
from engine.plan.rule import Absent, Compute, Fold, Match, Record, Rule, relations_of
from engine.result import StratumStatistics
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.partition import Partition
from engine.storage.relation import Relation

REPLICATED_ROWS = 1 << 22
"""A relation with no more rows is replicated when it is read."""


Saved = tuple[dict[str, tuple[Columns, int, bool]], NewValues, StratumStatistics]
"""By relation, this member's rows, the number of all rows, and whether it is replicated; new values; statistics."""


Found = tuple[NewValues, dict[str, Columns], StratumStatistics]
"""The results derived by the first member alone: new values, rows by relation, statistics."""


class Member(StratumEvaluation):
    """The state of one member.

    `n_rows` counts the rows of a relation over all members, `n_derived` the rows that this member owns.
    """

    def __init__(
        self,
        program: CheckedProgram,
        database: Database,
        group: Communicator,
        options: Options,
        replicated_rows: int,
        checkpoints: Checkpoints | None,
        partition_by: Mapping[str, tuple[int, ...]],
        widenings: Sequence[Widening],
        budget: Budget | None,
    ) -> None:
        execution = Execution(1, options, meter=Meter(budget, database.symbols))
        super().__init__(program, database, execution, widenings, False)
        self.tells_all = True  # Where this member has no rows of a relation, another one may have some.
        self.group, self.replicated_rows, self.checkpoints = group, replicated_rows, checkpoints
        self.partition_by = partition_by
        self.replicated: set[str] = set()
        self.n_rows: dict[str, int] = {}
        self.n_derived = 0
        self.statistics: list[StratumStatistics] = []

    def part(self, name: str) -> Columns:
        """This member's part of a relation: of one that is replicated, the first has all."""
        relation = self.relations[name]
        return relation.columns()[:, : 0 if name in self.replicated and self.group.rank else None]

    # ---- strata

    def restored_or_evaluated(self, stratum: Stratum) -> StratumStatistics:
        """Evaluate a stratum, or take it from a checkpoint."""
        if self.checkpoints is None:
            return self.evaluated_by_all(stratum)
        name = f"stratum-{len(self.statistics)}"
        saved = self.checkpoints.load(name)
        if saved is not None:
            return self.restore(stratum, saved)
        before = n_values(self.symbols, self.records)
        done = self.evaluated_by_all(stratum)
        rows = {n: (self.relations[n].columns(), self.n_rows[n], n in self.replicated) for n in stratum.relations}
        self.checkpoints.save(name, (rows, new_values(self.symbols, self.records, before), done))
        return done

    def evaluated_by_all(self, stratum: Stratum) -> StratumStatistics:
        done = self.stratum(stratum)
        done.rows = sum(self.n_rows[name] for name in stratum.relations)
        return done

    def restore(self, stratum: Stratum, saved: Saved) -> StratumStatistics:
        rows, values, done = saved
        self.intern_values(*values)
        for name, (columns, n, is_replicated) in rows.items():
            held = self.of_distinct_rows(self.relations[name], [columns])
            self.relations[name] = self.bindings.relations[name] = held.finish()
            self.n_rows[name] = n
            if is_replicated:
                self.replicated.add(name)
        return done

    def intern_values(self, texts: Sequence[str], records: Mapping[str, Columns]) -> None:
        """Take in symbols and records; those that are known keep their ids."""
        self.symbols.intern(texts)
        for name, columns in records.items():
            self.records[name].construct(np.ascontiguousarray(columns), columns.shape[1], np.arange(len(columns)))

    def fixpoint(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        reason = self.obstacle(stratum, members)
        if reason:
            done = self.by_first_member(stratum, members)
        elif not stratum.clauses and self.n_given(stratum) <= self.replicated_rows:
            done = self.replicated_facts(stratum, members)
        else:
            done = self.by_all_members(stratum, members)
        done.reason = reason
        return done

    def obstacle(self, stratum: Stratum, members: Sequence[Relation]) -> str:
        """Say why the first member must evaluate a stratum alone, if it must."""
        if not self.program.ordered.isdisjoint(stratum.relations) or any(c.counters for c in stratum.clauses):
            return "its rows depend on the order of evaluation"
        if not stratum.premappable or not all(relation.is_exact for relation in members):
            return "its aggregates depend on the order of evaluation"
        if not self.execution.row_limits.keys().isdisjoint(stratum.relations):
            return "its size is looked at after each iteration"
        if self.meter.charges(members):
            return "its rules have a budget"
        if not all(relation.splits for relation in members):
            return "no column partitions an equivalence"
        rules = [self.staging.rules(clause, None, {}) for clause in stratum.clauses]
        if any(makes_values(rule.body) for made in rules for rule in made):
            return "it makes symbols or records"
        return ""

    def n_given(self, stratum: Stratum) -> int:
        given = self.database.relations.get(stratum.relations[0])
        return sum(all_gather(self.group, 0 if given is None else given.shape[1]))

    def given(self, relation: Relation) -> Columns:
        """The facts of this member for a relation."""
        held = self.database.relations.get(relation.name)
        return np.empty((relation.arity, 0), relation.dtype) if held is None else fitting_columns(relation, held)

    def replicated_facts(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Replicate facts that no rule adds to."""
        for relation in members:
            for part in all_gather(self.group, self.given(relation)):
                self.insert(relation, part)
        self.execution.advance(members)
        self.finish(members, replicated=True)
        return StratumStatistics(stratum.relations, False, policy="broadcast")

    def finish(self, members: Iterable[Relation], *, replicated: bool) -> None:
        for relation in members:
            done = relation.finish()
            self.relations[relation.name] = self.bindings.relations[relation.name] = done
            self.n_rows[relation.name] = done.n if replicated else sum(all_gather(self.group, done.n))
            if replicated:
                self.replicated.add(relation.name)

    def replicate(self, names: Iterable[str]) -> None:
        """Replicate relations of earlier strata."""
        for name in names:
            if name not in self.replicated:
                found = self.relations[name]
                self.finish([self.of_distinct_rows(found, all_gather(self.group, found.columns()))], replicated=True)

    # ---- alone

    def by_first_member(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Have the first member evaluate a stratum, and give the others what it has found."""
        read = {atom.relation for clause in stratum.clauses for atom in all_atoms(clause)}
        self.replicate(sorted(read - set(stratum.relations)))
        given = [(relation.name, all_gather(self.group, self.given(relation))) for relation in members]
        facts = {name: np.concatenate(parts, axis=1) for name, parts in given}
        self.database = replace(self.database, relations={**self.database.relations, **facts})
        found = broadcast(self.group, self.within_budget(stratum, members) if self.group.rank == 0 else None)
        if isinstance(found, Failure):
            raise found.error  # By all members alike.
        values, rows, done = found
        self.intern_values(*values)
        self.finish([self.of_distinct_rows(self.relations[name], [rows[name]]) for name in rows], replicated=True)
        return done

    def within_budget(self, stratum: Stratum, members: Sequence[Relation]) -> Found | Failure:
        """Evaluate a stratum here; return what is new, or that it takes more than its budget."""
        before = n_values(self.symbols, self.records)
        try:
            with self.meter.over(members):
                done, widened = self.within_limits(stratum, members)
        except BudgetExceeded as exceeded:
            return Failure.of(exceeded)
        names = (*stratum.relations, *widened)
        values = new_values(self.symbols, self.records, before)
        return values, {name: self.relations[name].columns() for name in names}, done

    def within_limits(self, stratum: Stratum, members: Sequence[Relation]) -> tuple[StratumStatistics, set[str]]:
        """Evaluate a stratum here, from the start again whenever it is widened; return by which relations it was."""
        widened: set[str] = set()
        while True:
            try:
                return super().fixpoint(stratum, members), widened
            except LimitReached as reached:
                self.widen(reached.relation)
                widened.add(self.widenings[reached.relation.name].into)
                for relation in members:
                    relation.clear()

    def of_distinct_rows(self, relation: Relation, parts: Iterable[Columns]) -> Relation:
        """Return a relation of rows that are known to be distinct."""
        rows, held = Partition(relation.arity, relation.dtype), Relation(relation.name, relation.arity, relation.dtype)
        for part in parts:
            rows.extend(part)
        held.replace([rows])
        return held

    # ---- together

    def by_all_members(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Evaluate a stratum with all members; each ends with its part of the relations."""
        facts, rules, _ = self.rules(stratum, {})
        rows = {relation.name: self.contributions(relation) for relation in members}
        for name, constant in facts.items() if self.group.rank == 0 else ():
            rows[name].append(constant)
        base = f"{members[0].name}&base"
        groups = {relation.name: relation.group for relation in members}
        linear = None if members[0].is_keyed else linearise(groups, members[0].arity, rules, base)
        if linear is not None:
            rules, rows = self.begin(members[0], base, rules, linear, rows), {}
        done = self.derive(members, rules, rows)
        for made in {base} & self.n_rows.keys():
            del self.relations[made], self.bindings.relations[made], self.n_rows[made]
            self.replicated.discard(made)
        self.n_derived += sum(self.relations[relation.name].n for relation in members)
        return done

    def begin(
        self,
        relation: Relation,
        base: str,
        rules: Sequence[Rule],
        linear: Sequence[Rule],
        rows: Mapping[str, Sequence[Columns]],
    ) -> list[Rule]:
        """Derive what a recursion begins from as a relation `base` of its own; return the rules that go on from it."""
        first = copy(relation)
        first.name = base
        first.clear()
        self.relations[base] = self.bindings.relations[base] = first
        start = [replace(rule, relation=base) for rule in rules if relation.name not in rule.relations()]
        self.derive([first], start, {base: rows[relation.name]})
        recursive = next(rule for rule in linear if relation.name in rule.relations())
        columns = tuple(f"@{column}" for column in range(relation.arity))
        wide = dict.fromkeys(columns, relation.dtype == np.int64)
        return [replace(recursive, head=columns, body=(Match(base, columns),), wide=wide), recursive]

    def contributions(self, relation: Relation) -> list[Columns]:
        """The facts of this member for a relation, if it has any, as they are inserted."""
        rows = self.given(relation)
        if not rows.shape[1]:
            return []
        return [relation.contributions(rows) if isinstance(relation, AggregateRelation) else rows]

    def derive(
        self, members: Sequence[Relation], rules: Sequence[Rule], rows: Mapping[str, Sequence[Columns]]
    ) -> StratumStatistics:
        """Evaluate rules from some rows on; each member ends with its part of the relations."""
        names = {relation.name for relation in members}
        shuffled = self.shuffled(rules, names)
        self.replicate(sorted({n for rule in rules for n in rule.relations()} - names - set(shuffled)))
        work = PartitionedStratum(
            rules, members, [self.relations[name] for name in shuffled], self.bindings, self.partition_by
        )
        steps = work.supersteps(self.group, self.execution)
        for relation in members:
            for part in rows.get(relation.name, ()):
                steps.offer(relation, part)
        self.resume(steps)
        done = work.run(steps, self.checkpoint)
        self.finish(members, replicated=False)
        return done

    def shuffled(self, rules: Sequence[Rule], written: Collection[str]) -> list[str]:
        """The relations that are too large to be replicated, and that rules read by positive atoms only."""
        matched = {x.relation for rule in rules for x in rule.body if isinstance(x, Match)}
        large = {n for n in matched - self.replicated - set(written) if self.n_rows[n] > self.replicated_rows}
        return sorted(large - {n for rule in rules for n in others(rule)})

    def checkpoint(self, steps: Supersteps) -> None:
        """Keep what has been derived, if it is time to; the first member's clock counts."""
        if self.checkpoints is not None and broadcast(self.group, self.checkpoints.is_due):
            self.checkpoints.save(f"superstep-{len(self.statistics)}", steps.found())

    def resume(self, steps: Supersteps) -> None:
        """Go on from what had been derived when a checkpoint was made; all of it counts as new."""
        saved = None if self.checkpoints is None else self.checkpoints.load(f"superstep-{len(self.statistics)}")
        relations = {relation.name: relation for relation in steps.relations}
        for name in relations.keys() & (saved or {}).keys():
            steps.offer(relations[name], saved[name])


def makes_values(body: Iterable) -> bool:
    """Return True if literals may make a symbol or a record."""
    for literal in body:
        if isinstance(literal, Record) or isinstance(literal, Compute) and literal.result == "symbol":
            return True
        if isinstance(literal, Fold) and makes_values(literal.body):
            return True
    return False


def others(rule: Rule) -> Iterable[str]:
    """The relations that a rule reads otherwise than by a positive atom: these must be replicated."""
    for literal in rule.body:
        if isinstance(literal, Absent):
            yield literal.relation
        elif isinstance(literal, Fold):
            yield from relations_of(literal.body)


def evaluate(
    program: CheckedProgram,
    database: Database,
    group: Communicator,
    options: Options | None = None,
    replicated_rows: int = REPLICATED_ROWS,
    checkpoints: Checkpoints | None = None,
    partition_by: Mapping[str, tuple[int, ...]] | None = None,
    widenings: Sequence[Widening] = (),
    budget: Budget | None = None,
) -> Member:
    """Evaluate a program on a member's part of the facts; every member ends with its part of each relation.

    Relations with more than `replicated_rows` rows are not replicated where a join can do without. `partition_by` are
    columns to partition relations by, of those that tell their rows apart; for others they are chosen. Strata with a
    `budget` are evaluated by the first member, so that it is met by the same rows as on one machine; beyond it all
    raise BudgetExceeded.
    """
    program = push_extrema(program)
    options = options or Options()
    member = Member(
        program, database, group, options, replicated_rows, checkpoints, partition_by or {}, widenings, budget
    )
    for stratum in member.program.strata:
        member.statistics.append(member.restored_or_evaluated(stratum))
    return member
