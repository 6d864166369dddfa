"""The evaluation of a stratum: its facts, its rules to a fixpoint, and what a bound makes of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from engine.budget import Meter, TimeIsUp
from engine.database import Always, Columns, Database, OutOfMemory, Widening
from engine.evaluation.bindings import Bindings
from engine.evaluation.cardinality import Statistics
from engine.evaluation.declared_storage import new_relation, record_table
from engine.evaluation.execution import Execution
from engine.evaluation.held_constants import HeldConstants
from engine.evaluation.insert_facts import adopt_facts, checked_columns, fitting_columns, insert_columns, store_facts
from engine.evaluation.insert_stages import Admission, Stage, Staging
from engine.evaluation.semi_naive import LimitReached, SemiNaiveComponent
from engine.evaluation.translated_ids import TranslatedIds, table_of
from engine.evaluation.value_order import Ranking
from engine.evaluation.vectorized_functors import Functors
from engine.language.checked_program import CheckedClause, CheckedProgram, Stratum
from engine.language.clause_outline import Outline, only, outlines_of
from engine.language.syntax import Constant, RecordTerm
from engine.language.traverse import all_atoms, literal_terms
from engine.operating_system import peak_bytes
from engine.plan.existence import Splitter
from engine.plan.flatten import contribution, flatten
from engine.plan.program_slice import deriving
from engine.plan.rule import Rule
from engine.plan.value_encoding import encode
from engine.result import StratumStatistics
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.memory import LEDGER, MemoryLimitReached, empty, size_text
from engine.storage.relation import Relation
from engine.storage.relation_snapshot import Snapshot
from engine.storage.spill_files import spill_directory
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols

if TYPE_CHECKING:
    from engine.evaluation.explainer import Explainer


BRIEF_S = 0.005
"""A stratum that takes no longer is not asked for the peak of memory: to look takes longer than to evaluate most."""


class StratumEvaluation:
    """All relations and records of a program, and the evaluation of one stratum after the other.

    Clauses that read empty relations are left out, unless it `tells_all`, that is, statistics and plans are to list
    every rule. `left_out` are the clauses that a budget of time has left no room for, `unfinished` their relations.
    """

    def __init__(
        self,
        program: CheckedProgram,
        database: Database | StoredDatabase,
        execution: Execution,
        widenings: Sequence[Widening],
        explained: bool,
    ) -> None:
        self.declared = dict(program.relations)
        self.program = program = replace(program, relations=self.declared)
        self.outlines = [outlines_of(stratum.clauses) for stratum in program.strata]
        self.database, self.execution, self.meter = database, execution, execution.meter
        self.tells_all = explained or execution.profiled
        self.peak_bytes = peak_bytes()
        self.unfinished: set[str] = set()
        self.left_out: list[CheckedClause] = []
        self.widenings = {widening.relation: widening for widening in widenings}
        self.limits = {name: iter(widening.max_rows) for name, widening in self.widenings.items()}
        execution.widenings = self.widenings
        execution.row_limits = {
            name: n for name, limits in self.limits.items() if (n := next(limits, None)) is not None
        }
        execution.dated = {name for name, widening in self.widenings.items() if not isinstance(widening.choose, Always)}
        self.symbols = database.symbols
        bits = program.number_bits
        written = {each.head for outlines in self.outlines for each in outlines}.union(w.into for w in widenings)
        self.written = written
        written |= program.ordered | {r.name for r in program.relations.values() if "eqrel" in r.qualifiers}
        self.attached = {
            name: held
            for name, held in database.relations.items()
            if isinstance(held, Snapshot) and name in program.relations and name not in written
        }
        self.records = {name: record_table(program, name, database.records.get(name)) for name in program.records}
        order = Ranking(program, self.symbols, self.records).order
        self.relations = {
            name: self.attached.get(name) or new_relation(declared, bits, order)
            for name, declared in program.relations.items()
        }
        self.explainer = explainer(program, self.symbols) if explained else None
        bound = dict(self.relations)
        signatures = constant_signatures(chain.from_iterable(self.outlines))
        statistics = Statistics(bound, signatures, execution.options.min_sampled)
        self.bindings = Bindings(bound, self.records, Functors(bits, self.symbols), statistics)
        to_rule = partial(flatten, program=program, encode=self.encode)
        self.constants = HeldConstants(self.relations)
        self.staging = Staging(program, bound, to_rule, order, self.insert)

    def beside(self) -> StratumEvaluation:
        """Return the same evaluation for a second thread, which evaluates other strata on its own."""
        made = copy(self)
        made.meter = Meter(None, self.symbols, self.meter.ends_s)
        made.execution = self.execution.alone(made.meter)
        return made

    @cached_property
    def grown_by(self) -> dict[str, str]:
        """The relations that widenings add facts to, with those whose stratum then restarts."""
        return {w.into: w.relation for w in self.widenings.values() if {w.into, w.relation} <= self.relations.keys()}

    @property
    def n_facts(self) -> int:
        """The number of facts."""
        return sum(map(n_rows, self.database.relations.values()))

    def may_move(self, stratum: Stratum) -> bool:
        """Return True if a copy of the process may evaluate a stratum: its rows are all that there is to hand over."""
        relations = [self.relations[name] for name in stratum.relations]
        special = self.attached.keys() | self.widenings.keys() | self.grown_by.keys()
        return (
            special.isdisjoint(stratum.relations)
            and all(type(relation) is Relation for relation in relations)
            and not any(outline.counts for outline in outlines_of(stratum.clauses))
            and not (self.branched and any(map(self.has_branches, stratum.clauses)))
            and not self.meter.charges(relations)
        )

    @cached_property
    def branched(self) -> set[str]:
        """The records of algebraic data types."""
        return {name for name, record in self.program.records.items() if record.branches}

    def has_branches(self, clause: CheckedClause) -> bool:
        """Return True if a clause looks into values of an algebraic data type, whose columns have no one type."""
        terms = chain.from_iterable(map(literal_terms, (clause.head, *clause.body)))
        return any(isinstance(term, RecordTerm) and term.type in self.branched for term in terms)

    def adopt(self, stratum: Stratum, columns: Mapping[str, Columns], ids: TranslatedIds) -> None:
        """Enter what a copy has derived: the columns of relations that have rows."""
        members = [self.relations[name] for name in stratum.relations]
        self.enter([relation for relation in members if relation.name in columns], columns, ids)
        self.finish_relations(members)

    def take_over(self, columns: Mapping[str, Columns], ids: TranslatedIds) -> None:
        """Put the rows of complete relations, from the process that this one is a copy of, in place of what is here."""
        made = [Relation(name, len(found), found.dtype) for name, found in columns.items()]
        self.enter(made, columns, ids)
        self.finish_relations(made)
        self.constants = HeldConstants(self.relations)

    def enter(self, relations: Sequence[Relation], columns: Mapping[str, Columns], ids: TranslatedIds) -> None:
        """Enter rows, with ids of another process, into relations that have none."""
        for relation in relations:
            found = columns[relation.name]
            rows = empty(found.shape, relation.dtype)
            rows[...] = ids.translated(map(table_of, self.program.relations[relation.name].columns), found)
            relation.partitions[0].adopt(rows)
        if relations:
            self.execution.advance(relations)

    def let_go(self, name: str) -> None:
        """Forget a relation that nothing reads any more."""
        del self.relations[name], self.bindings.relations[name]

    def stratum(self, stratum: Stratum) -> StratumStatistics:
        members = [self.relations[name] for name in stratum.relations]
        try:
            with self.meter.over(members):
                return self.evaluated(stratum)
        except MemoryLimitReached as reached:
            raise OutOfMemory(self.too_large(stratum, reached)) from None
        except TimeIsUp:
            return self.finish_early(stratum, members)

    def finish_early(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Empty a stratum whose time is up, and let the others have GRACE of the time that was given, once.

        From then on only rules that read finished relations are evaluated, and no recursion begins: what is derived is
        right, and `left_out` tells all that is missing.
        """
        self.left_out += stratum.clauses
        self.unfinished.update(stratum.relations)
        self.meter.extend()
        for worker in self.execution.pool.workers:
            worker.forget()
        for relation in members:
            relation.clear()
        self.finish_relations(members)
        return StratumStatistics(stratum.relations, stratum.recursive)

    def finishable(self, stratum: Stratum) -> Stratum:
        """Return the stratum with the rules that read finished relations, once time is up."""
        if not self.unfinished:
            return stratum
        barred = [
            clause
            for clause in stratum.clauses
            if (stratum.recursive and not clause.is_fact)
            or not self.unfinished.isdisjoint(atom.relation for atom in all_atoms(clause))
        ]
        if not barred:
            return stratum
        self.left_out += barred
        self.unfinished.update(stratum.relations)
        return replace(stratum, clauses=tuple(clause for clause in stratum.clauses if clause not in barred))

    def too_large(self, stratum: Stratum, reached: MemoryLimitReached) -> str:
        """Say what holds the memory that is used up."""
        written = [relation for relation in list(self.relations.values()) if isinstance(relation, Relation)]
        largest = max(written, key=lambda relation: relation.n_bytes)
        n_rows = sum(partition.n for partition in largest.partitions)
        first, *others = stratum.relations
        names = f"{first} and {len(others)} relations evaluated with it" if others else first
        disk = "" if LEDGER.can_spill else f", set TMPDIR to a directory on disk ({spill_directory()} is in memory)"
        return (
            f"{names}: evaluation needs more than the memory limit of "
            f"{size_text(reached.limit_bytes)}; {largest.name} holds {size_text(largest.n_bytes)} of it, "
            f"{n_rows:,} rows with their indexes, and all but relations {size_text(LEDGER.other_bytes)}; "
            f"raise the limit (--memory-limit){disk} or bound what the rules derive"
        )

    def evaluated(self, stratum: Stratum) -> StratumStatistics:
        begin = perf_counter()
        members = [self.relations[name] for name in stratum.relations]
        restarts = discarded = 0
        if self.attached.keys() & stratum.relations:
            return StratumStatistics(stratum.relations, False, rows=members[0].n)
        while True:
            # What is added to keep a relation small may be the first that a clause reads.
            fruitful = stratum if self.tells_all else self.fruitful(stratum)
            if not (self.tells_all or fruitful.clauses or any(map(self.is_given, stratum.relations))):
                self.finish_relations(members)
                return StratumStatistics(stratum.relations, stratum.recursive, peak_bytes=self.peak_bytes)
            try:
                done = self.fixpoint(fruitful, members)
                break
            except LimitReached as reached:
                self.widen(reached.relation)
                discarded += sum(relation.n for relation in members)
                for relation in members:
                    relation.clear()
                restarts += 1
        done.elapsed_s = perf_counter() - begin
        done.restarts, done.discarded = restarts, discarded
        done.rows = sum(relation.n for relation in members)
        if done.elapsed_s > BRIEF_S:
            self.peak_bytes = peak_bytes()
        done.peak_bytes = self.peak_bytes
        return done

    def fixpoint(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Derive what a stratum does, and before it the tests of existence that its clauses are split into."""
        if not (stratum.clauses or self.tells_all or any(map(self.program.is_ordered, stratum.relations))):
            return self.only_given(stratum, members)
        splitter = Splitter(self.program)
        *tests, whole = splitter.stratum(stratum)
        for name in splitter.made:
            self.declared[name] = splitter.made[name]
            self.relations[name] = self.bindings.relations[name] = Relation(name, 0, np.dtype(np.int32))
        done = [self.component(each, [self.relations[name] for name in each.relations]) for each in (*tests, whole)]
        if not splitter.made:
            return done[0]
        return replace(done[-1], relations=stratum.relations, rules=[rule for each in done for rule in each.rules])

    def component(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        admissions = self.staging.admissions(stratum.relations)
        facts, rules, stages = self.rules(stratum, admissions)
        if not self.tells_all:
            rules = list(self.constants.matching(rules, stratum.relations))
        component = SemiNaiveComponent(members, rules, self.bindings, self.execution, stages, stratum.premappable)
        for relation in members:
            self.load(relation, admissions.get(relation.name))
        for name, rows in facts.items():
            if name in admissions:
                admissions[name].admit_in_turn(rows)
            else:
                self.insert(self.relations[name], rows)
        done = component.run()
        if self.explainer is not None:
            self.explainer.add(component)
        component.close()
        self.finish_relations(members)
        return done

    def only_given(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        """Take the facts of relations to which no rule adds anything."""
        for relation in members:
            self.load(relation, None)
        self.execution.advance(members)
        self.finish_relations(members)
        return StratumStatistics(stratum.relations, False)

    def finish_relations(self, members: Iterable[Relation]) -> None:
        for relation in members:
            self.relations[relation.name] = self.bindings.relations[relation.name] = relation.finish()

    def fruitful(self, stratum: Stratum) -> Stratum:
        """Return the stratum without clauses that read a relation without rows, or a recursion that nothing begins."""
        members = frozenset(stratum.relations)
        clauses = []
        for at, outline in enumerate(outlines_of(stratum.clauses)):
            needs = {name for name, _ in outline.needs}
            if all(self.relations[name].n for name in needs - members):
                clauses.append((at, outline.head, needs & members))
        kept = deriving(clauses, set(filter(self.is_given, members)))
        return (
            stratum
            if len(kept) == len(stratum.clauses)
            else replace(stratum, clauses=only(stratum.clauses, sorted(kept)))
        )

    def is_given(self, name: str) -> bool:
        """Return True if the database has rows of a relation."""
        held = self.database.relations.get(name)
        return held is not None and n_rows(held) > 0

    def widen(self, outgrown: Relation) -> None:
        """Add the facts that are to keep a relation small, and go on to its next limit."""
        widening = self.widenings[outgrown.name]
        more = widening.choose(outgrown.columns())
        limit = next(self.limits[outgrown.name], None)
        if limit is None:
            del self.execution.row_limits[outgrown.name]
        else:
            self.execution.row_limits[outgrown.name] = limit
        into = self.relations[widening.into]
        rows = np.concatenate([into.columns(), checked_columns(into.name, into.arity, more)], axis=1)
        into.clear()
        self.insert(into, rows)
        self.execution.advance([into])
        into.settle()
        self.constants = HeldConstants(self.relations)

    def rules(
        self, stratum: Stratum, admissions: Mapping[str, Admission]
    ) -> tuple[dict[str, Columns], list[Rule], dict[str, Stage]]:
        """Return the constant facts among the clauses of a stratum as columns, its rules, and their stages."""
        rows: dict[str, list[tuple[int, ...]]] = defaultdict(list)
        rules: list[Rule] = []
        stages: dict[str, Stage] = {}
        for clause in sorted(stratum.clauses, key=lambda clause: not clause.is_fact):
            name = clause.head.relation
            # Where the first row counts, a constant fact stands in line behind one that a rule computes.
            if is_constant(clause) and not (name in admissions and rules):
                rows[name].append(tuple(self.encode(term) for term in contribution(clause.head)))
            else:
                rules += self.staging.rules(clause, admissions.get(name), stages)
        facts = {
            name: np.array(found, self.relations[name].dtype).reshape(len(found), -1).T for name, found in rows.items()
        }
        return facts, rules, stages

    def encode(self, constant: Constant) -> int:
        return encode(constant, self.symbols)

    def load(self, relation: Relation, admission: Admission | None) -> None:
        """Insert the facts that the database holds for a relation, as far as it lets them in."""
        held = self.database.relations.get(relation.name)
        if admission is not None and held is not None:
            held = held.columns() if isinstance(held, Snapshot) else held
            admission.admit(fitting_columns(relation, held))
        elif isinstance(held, Snapshot) and not isinstance(relation, AggregateRelation):
            for block in held.blocks():
                self.execution.load(relation, block)
        elif held is not None and relation.name in self.written:
            store_facts(self.execution, relation, held.columns() if isinstance(held, Snapshot) else held)
        elif held is not None:
            adopt_facts(self.execution, relation, held)

    def insert(self, relation: Relation, columns: Columns) -> None:
        insert_columns(self.execution, relation, columns)


def explainer(program: CheckedProgram, symbols: Symbols) -> Explainer:
    from engine.evaluation.explainer import Explainer

    return Explainer(program, symbols)


def n_rows(held: Columns | Snapshot) -> int:
    return held.n if isinstance(held, Snapshot) else held.shape[1]


def is_constant(clause: CheckedClause) -> bool:
    return clause.is_fact and all(isinstance(term, Constant) for term in contribution(clause.head))


def constant_signatures(outlines: Iterable[Outline]) -> Counter[tuple[str, tuple[int, ...]]]:
    """Count the atoms of bodies by relation and the columns that hold constants."""
    return Counter(
        (relation, tuple([column for column, _, _ in asked]))
        for outline in outlines
        for relation, asked in outline.needs
        if asked
    )
