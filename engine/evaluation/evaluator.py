"""Evaluation of a checked program on the threads of one machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from engine.budget import Budget, Meter, TimeIsUp
from engine.database import Always, Columns, Database, EvaluationError, OutOfMemory, Widening
from engine.evaluation.bindings import Bindings
from engine.evaluation.cardinality import Statistics
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy
from engine.evaluation.execution import Execution, Options
from engine.evaluation.forked_strata import Finished, ForkedStrata
from engine.evaluation.held_constants import HeldConstants
from engine.evaluation.insert_facts import adopt_facts, checked_columns, fitting_columns, insert_columns, store_facts
from engine.evaluation.insert_stages import Admission, Stage, Staging
from engine.evaluation.semi_naive import LimitReached, SemiNaiveComponent
from engine.evaluation.value_order import Declarations, Ranking
from engine.evaluation.vectorized_functors import Functors
from engine.language.checked_program import CheckedClause, CheckedProgram, Stratum, Type
from engine.language.checked_program import Relation as Declared
from engine.language.syntax import Atom, Constant, RecordTerm
from engine.language.traverse import all_atoms, literal_terms
from engine.operating_system import can_fork, n_cores, peak_bytes, release_free_memory
from engine.plan.existence import split_existence
from engine.plan.flatten import contribution, flatten
from engine.plan.program_slice import deriving
from engine.plan.push_extrema import push_extrema
from engine.plan.rule import Rule
from engine.plan.strata_order import StrataOrder, needs_of
from engine.plan.value_encoding import dtype_of, encode
from engine.result import Result, StratumStatistics
from engine.storage.accumulator import AggregatedColumn
from engine.storage.aggregate_partition import Shape
from engine.storage.aggregate_relation import AggregateRelation
from engine.storage.equivalence_union_find import Equivalence
from engine.storage.memory import LEDGER, MemoryLimitReached, empty, size_text
from engine.storage.record_table import RecordTable
from engine.storage.relation import Relation
from engine.storage.relation_snapshot import Snapshot
from engine.storage.spill_files import spill_directory
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols
from engine.tables import facts

if TYPE_CHECKING:
    from engine.evaluation.explainer import Explainer
    from engine.tables import Table


BRIEF_S = 0.005
"""A stratum that takes no longer is not asked for the peak of memory: to look takes longer than to evaluate most."""


class SharedOptions(TypedDict, total=False):
    """The keyword arguments of `evaluate` that a view does not decide."""

    policy: CoordinationPolicy
    widenings: Sequence[Widening]
    profile: bool
    explain: bool
    memory_limit: int | None
    budget: Budget | None
    ends_s: float | None
    asked: Collection[str] | None


class EvaluateOptions(SharedOptions, total=False):
    """The keyword arguments of `evaluate`."""

    threads: int | None
    options: Options | None


def evaluate(
    program: CheckedProgram,
    database: Database | StoredDatabase | Mapping[str, Table],
    *,
    threads: int | None = None,
    policy: CoordinationPolicy = GLOBAL,
    options: Options | None = None,
    widenings: Sequence[Widening] = (),
    profile: bool = False,
    explain: bool = False,
    memory_limit: int | None = None,
    budget: Budget | None = None,
    ends_s: float | None = None,
    asked: Collection[str] | None = None,
) -> Result:
    """Return the relations of a program on the facts of a database, the same for any threads, policy and options.

    Where a program has outputs, other relations may lack tuples that these do not need (see `push_extrema`).
    Facts may be given as tables by relation (see `engine.facts`). Of a database the symbol table grows by new symbols;
    its arrays stay as they are. With `profile` the statistics of the
    result hold the costs of each rule by iteration; with `explain` it holds the plan that evaluation ended with.
    The process is held to `memory_limit` bytes, by default to most of the machine's memory: what is not in use is
    spilled to files. Raises EvaluationError when that is not enough, and for facts that do not fit their declaration.
    `budget` bounds some strata: BudgetExceeded. At the moment `ends_s` of the monotonic clock evaluation ends with what
    is finished (see `Evaluation.wind_up`); the result says what is left out.
    Where the relations `asked` for are named, the result has these only; of a large one others are let go when they
    have been read.
    """
    if isinstance(database, Mapping):
        database = facts(program, database)
    meter = Meter(budget, database.symbols, ends_s)
    execution = Execution(threads or n_cores(), options or Options(), policy, meter)
    execution.profiled = profile
    try:
        with LEDGER.limited(memory_limit):
            result = Evaluation(push_extrema(program), database, execution, widenings, explain, asked).run()
        if sum(stratum.rows for stratum in result.statistics) > execution.options.large_rows:
            release_free_memory()
        return replace(result, program=program)
    finally:
        execution.pool.close()


class Evaluation:
    """The state of one evaluation: all relations and records, the rules of each stratum.

    `names` are the relations that are asked for; the others are tests of existence. Clauses that read empty relations
    are left out, unless it `tells_all`, that is, statistics and plans are to list every rule.
    """

    def __init__(
        self,
        program: CheckedProgram,
        database: Database | StoredDatabase,
        execution: Execution,
        widenings: Sequence[Widening],
        explained: bool,
        asked: Collection[str] | None = None,
    ) -> None:
        self.names = tuple(name for name in program.relations if asked is None or name in asked)
        self.program = program = split_existence(program)
        self.database, self.execution, self.meter = database, execution, execution.meter
        self.tells_all = explained or execution.profiled
        self.peak_bytes = peak_bytes()
        self.unfinished: set[str] = set()
        self.left_out: list[CheckedClause] = []
        self.statistics: dict[int, StratumStatistics] = {}
        self.n_rows = 0
        self.readers: Counter[str] | None = None
        self.widenings = {widening.relation: widening for widening in widenings}
        self.limits = {name: iter(widening.max_rows) for name, widening in self.widenings.items()}
        execution.counted = {name: {name, *widening.counted} for name, widening in self.widenings.items()}
        execution.row_limits = {
            name: n for name, limits in self.limits.items() if (n := next(limits, None)) is not None
        }
        execution.dated = {name for name, widening in self.widenings.items() if not isinstance(widening.choose, Always)}
        self.symbols = database.symbols
        bits = program.number_bits
        written = {clause.head.relation for clause in program.clauses}.union(w.into for w in widenings)
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
        statistics = Statistics(bound, constant_signatures(program), execution.options.min_sampled)
        self.bindings = Bindings(bound, self.records, Functors(bits, self.symbols), statistics)
        to_rule = partial(flatten, program=program, encode=self.encode)
        self.constants = HeldConstants(self.relations)
        self.staging = Staging(program, bound, to_rule, order, self.insert)

    def run(self) -> Result:
        strata, order = self.program.strata, self.order()
        copy: ForkedStrata | None = None
        try:
            while order.n_left:
                if copy is None and order.movable_size >= self.execution.options.aside_clauses and not self.unfinished:
                    copy = self.begin_copy(order)
                at = order.next()
                if at is not None:
                    self.statistics[at] = self.stratum(self.finishable(strata[at]))
                    self.finished(order, at)
                while copy is not None and (received := copy.receive(wait=at is None)) is not None:
                    self.take_over(copy, received)
                    self.finished(order, received.stratum)
                    if at is None:
                        break
                if copy is not None and not copy.is_running:
                    order.take_back(copy.strata)
                    copy = None
        finally:
            if copy is not None:
                copy.close()
        plan = None if self.explainer is None else self.explainer.explanation()
        records = {name: table.columns for name, table in self.records.items()}
        asked = {name: self.relations[name] for name in self.names}
        statistics = [self.statistics[at] for at in range(len(strata))]
        return Result(self.symbols, records, RelationColumns(asked), statistics, plan, tuple(self.left_out))

    def order(self) -> StrataOrder:
        """The order of strata: that of the program, unless a copy of the process may take part."""
        strata = self.program.strata
        sizes = [len(stratum.clauses) for stratum in strata]
        large = list(self.large_recursions()) if self.has_processors else []
        if not large:
            return StrataOrder(sizes, [()] * len(strata), [], [False] * len(strata))
        return StrataOrder(sizes, needs_of(strata, self.reads, self.grown_by), large, map(self.may_move, strata))

    @cached_property
    def reads(self) -> list[set[str]]:
        """The relations that each stratum reads."""
        return [{atom.relation for clause in s.clauses for atom in all_atoms(clause)} for s in self.program.strata]

    def finished(self, order: StrataOrder, at: int) -> None:
        """A stratum is done: once many rows have been derived, let go of what none that is left reads."""
        order.finish(at)
        self.n_rows += self.statistics[at].rows
        if self.n_rows <= self.execution.options.large_rows:
            return
        if self.readers is None:
            self.readers = Counter(chain(self.names, *(self.touched(each) for each in order.not_done)))
            unread = self.relations.keys() - self.readers.keys()
        else:
            self.readers.subtract(self.touched(at))
            unread = {name for name in self.touched(at) if not self.readers[name]}
        for name in unread:
            del self.relations[name], self.bindings.relations[name]

    def touched(self, at: int) -> set[str]:
        """The relations that a stratum reads or writes."""
        own = self.program.strata[at].relations
        return {*own, *(self.widenings[name].into for name in own if name in self.widenings), *self.reads[at]}

    # ---- strata that a copy of this process evaluates

    @property
    def has_processors(self) -> bool:
        """True if a copy of the process may be made, has a processor of its own, and enough to do."""
        pool = self.execution.pool
        if len(pool.workers) < 2 or not (can_fork() and pool.has_process) or LEDGER.is_given or self.tells_all:
            return False
        return sum(map(n_rows, self.database.relations.values())) >= self.execution.options.aside_facts

    def large_recursions(self) -> Iterator[int]:
        for at, stratum in enumerate(self.program.strata):
            if stratum.recursive and len(stratum.clauses) >= self.execution.options.large_clauses:
                yield at

    @cached_property
    def grown_by(self) -> dict[str, str]:
        """The relations that widenings add facts to, with those whose stratum then restarts."""
        return {w.into: w.relation for w in self.widenings.values() if {w.into, w.relation} <= self.relations.keys()}

    def may_move(self, stratum: Stratum) -> bool:
        """Return True if a copy may evaluate a stratum: its rows are all that there is to hand over."""
        relations = [self.relations[name] for name in stratum.relations]
        special = self.attached.keys() | self.widenings.keys() | self.grown_by.keys()
        return (
            special.isdisjoint(stratum.relations)
            and all(type(relation) is Relation for relation in relations)
            and not any(clause.counters or has_records(clause) for clause in stratum.clauses)
            and not self.meter.charges(relations)
        )

    def begin_copy(self, order: StrataOrder) -> ForkedStrata | None:
        """Let a copy begin with what can be evaluated aside; None where the system has no room for a process."""
        strata = order.give()
        try:
            copy = ForkedStrata(strata, self.evaluate_in_copy, self.symbols)
        except OSError:
            order.take_back(strata)
            return None
        self.execution.is_accompanied = copy.is_at_work
        return copy

    def evaluate_in_copy(self, at: int) -> tuple[list[Columns], StratumStatistics]:
        """Evaluate a stratum in the copy, on one thread: others there are none."""
        if len(self.execution.pool.workers) > 1:
            self.execution = self.execution.alone()
        stratum, n_records = self.program.strata[at], [table.columns.shape[1] for table in self.records.values()]
        with self.meter.over([self.relations[name] for name in stratum.relations]):
            statistics = self.evaluated(stratum)
        if n_records != [table.columns.shape[1] for table in self.records.values()]:
            raise EvaluationError("new records have no ids outside this copy")
        return [self.relations[name].columns() for name in stratum.relations], statistics

    def take_over(self, copy: ForkedStrata, received: Finished) -> None:
        """Enter what a copy has derived."""
        self.statistics[received.stratum] = received.statistics
        members = [self.relations[name] for name in self.program.strata[received.stratum].relations]
        for relation, columns in zip(members, received.relations, strict=True):
            rows = empty(columns.shape, relation.dtype)
            rows[...] = copy.translated(self.program.relations[relation.name], columns)
            relation.partitions[0].adopt(rows)
        self.execution.advance(members)
        self.finish_relations(members)

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
        written = [relation for relation in self.relations.values() if isinstance(relation, Relation)]
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
        restarts = 0
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
                for relation in members:
                    relation.clear()
                restarts += 1
        done.elapsed_s = perf_counter() - begin
        done.restarts = restarts
        done.rows = sum(relation.n for relation in members)
        if done.elapsed_s > BRIEF_S:
            self.peak_bytes = peak_bytes()
        done.peak_bytes = self.peak_bytes
        return done

    def fixpoint(self, stratum: Stratum, members: Sequence[Relation]) -> StratumStatistics:
        admissions = self.staging.admissions(stratum.relations)
        if not (stratum.clauses or admissions or self.tells_all):
            return self.only_given(stratum, members)
        facts, rules, stages = self.rules(stratum, admissions)
        if not self.tells_all:
            rules = [rule for rule in rules if self.constants.may_match(rule, stratum.relations)]
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
        for at, clause in enumerate(stratum.clauses):
            reads = {atom.relation for atom in clause.body if isinstance(atom, Atom)}
            if all(self.relations[name].n for name in reads - members):
                clauses.append((at, clause.head.relation, reads & members))
        kept = deriving(clauses, set(filter(self.is_given, members)))
        if len(kept) == len(stratum.clauses):
            return stratum
        return replace(stratum, clauses=tuple(clause for at, clause in enumerate(stratum.clauses) if at in kept))

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


class RelationColumns(Mapping[str, Columns]):
    """The columns of each relation, put together when asked for."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self._relations = relations

    def __getitem__(self, name: str) -> Columns:
        return self._relations[name].columns()

    def stored(self, name: str) -> Relation | Snapshot:
        return self._relations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._relations)

    def __len__(self) -> int:
        return len(self._relations)


def new_relation(declared: Declared, bits: int, order: Callable[[Columns, Sequence[Type]], np.ndarray]) -> Relation:
    """Return an empty relation; `order` puts rows in the order of their values."""
    if declared.aggregated:
        return AggregateRelation(declared.name, shape_of(declared, bits, order))
    dtype = dtype_of((column.type.kind for column in declared.columns), bits)
    if "eqrel" in declared.qualifiers:
        return Equivalence(declared.name, dtype)
    return Relation(declared.name, declared.arity, dtype)


def shape_of(declared: Declared, bits: int, order: Callable[[Columns, Sequence[Type]], np.ndarray]) -> Shape:
    """Return how a relation with aggregates is stored: contributors of its sums stand behind its columns, in turn."""
    types = [*(c.type for c in declared.columns), *(t for a in declared.aggregated for t in a.contributors)]
    dtype = dtype_of((type.kind for type in types), bits)
    columns, width = [], declared.arity
    for a in declared.aggregated:
        keys = tuple(range(width, width + len(a.contributors)))
        by_key = None if a.by_value else partial(order, types=a.contributors)
        kind = declared.columns[a.column].type.kind
        columns.append(AggregatedColumn(declared.name, a.column, a.kind, kind, dtype, bits, keys, a.tagged, by_key))
        width += len(keys)
    group = np.array(declared.group, np.int64)
    return Shape(declared.arity, dtype, group, tuple(columns), width - declared.arity)


def n_rows(held: Columns | Snapshot) -> int:
    return held.n if isinstance(held, Snapshot) else held.shape[1]


def has_records(clause: CheckedClause) -> bool:
    """Return True if a clause looks into records or makes some, but for any inside other terms."""
    return any(isinstance(term, RecordTerm) for part in (clause.head, *clause.body) for term in literal_terms(part))


def is_constant(clause: CheckedClause) -> bool:
    return clause.is_fact and all(isinstance(term, Constant) for term in contribution(clause.head))


def record_table(program: Declarations, name: str, held: Columns | RecordTable | None) -> RecordTable:
    """The table of a record type: that of a view, or one with the records given as columns."""
    if isinstance(held, RecordTable):
        return held
    record = program.records[name]
    fields = [*record.fields, *(f for branch in record.branches for f in branch.fields)]
    dtype = dtype_of((f.type.kind for f in fields), program.number_bits)
    given = None if held is None else checked_columns(name, len(record.fields), held)
    return RecordTable(len(record.fields), dtype, given)


def constant_signatures(program: CheckedProgram) -> Counter[tuple[str, tuple[int, ...]]]:
    """Count the atoms of all bodies by relation and the columns that hold constants."""
    found: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for clause in program.clauses:
        for literal in clause.body:
            if isinstance(literal, Atom):
                columns = tuple(i for i, term in enumerate(literal.arguments) if isinstance(term, Constant))
                if columns:
                    found[literal.relation, columns] += 1
    return found
