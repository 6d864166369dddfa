"""Evaluation of a checked program on the threads of one machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, TypedDict

from engine.budget import Budget, Meter
from engine.database import Columns, Database, Widening
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy
from engine.evaluation.execution import Execution, Options
from engine.evaluation.forked_strata import Finished, ForkedStrata, Task
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.evaluation.translated_ids import NewValues, TranslatedIds
from engine.language.checked_program import CheckedProgram
from engine.operating_system import can_fork, n_cores, release_free_memory
from engine.plan.push_extrema import push_extrema
from engine.plan.strata_order import StrataOrder, needs_of
from engine.result import Result, StratumStatistics
from engine.storage.memory import LEDGER
from engine.storage.relation import Relation
from engine.storage.relation_snapshot import Snapshot
from engine.storage.stored_database import StoredDatabase
from engine.tables import facts

if TYPE_CHECKING:
    from engine.tables import Table


HANDED_OVER_S = 0.004
"""The time that a copy of the process evaluates for before it hands over, which takes longer than most strata do."""
MOST_GIVEN_BYTES = 1 << 25
"""A copy that lacks more for what there is to do ends, and another begins with all that there is."""


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
            state = StratumEvaluation(push_extrema(program), database, execution, widenings, explain)
            names = (name for name in program.relations if asked is None or name in asked)
            result = Evaluation(state, names).run()
        if sum(stratum.rows for stratum in result.statistics) > execution.options.large_rows:
            release_free_memory()
        return replace(result, program=program)
    finally:
        execution.pool.close()


class Evaluation:
    """The strata of a program, in an order, some in a copy of the process, and what is let go meanwhile.

    `names` are the relations that are asked for; the others are tests of existence. `unknown` are those that have been
    written here since the copy began, or was told of them; `n_told` counts the symbols and records that the other side,
    here or there, has been told of.
    """

    def __init__(self, state: StratumEvaluation, names: Iterable[str]) -> None:
        self.state, self.names = state, tuple(names)
        self.execution, self.strata = state.execution, state.program.strata
        self.statistics: dict[int, StratumStatistics] = {}
        self.n_rows = 0
        self.readers: Counter[str] | None = None
        self.copy: ForkedStrata | None = None
        self.unknown: set[str] = set()
        self.n_told = state.n_values()

    def run(self) -> Result:
        self.execution.tend = self.tend
        try:
            while self.order.n_left:
                self.tend()
                at = self.order.next()
                if at is None:
                    self.receive(wait=True)
                else:
                    self.finished(at, self.state.stratum(self.state.finishable(self.strata[at])))
                    self.unknown |= self.written(at)
        finally:
            if self.copy is not None:
                self.copy.close()
        return self.result()

    def result(self) -> Result:
        state = self.state
        plan = None if state.explainer is None else state.explainer.explanation()
        records = {name: table.columns for name, table in state.records.items()}
        asked = {name: state.relations[name] for name in self.names}
        statistics = [self.statistics[at] for at in range(len(self.strata))]
        return Result(state.symbols, records, RelationColumns(asked), statistics, plan, tuple(state.left_out))

    def tend(self) -> None:
        """Enter what a copy of the process has derived, and let one begin or go on when there is enough for it to do.

        Called between two strata, and between two iterations of one.
        """
        while self.receive(wait=False):
            pass
        options = self.execution.options
        if self.state.unfinished:
            return
        if self.copy is None and self.order.movable_size >= options.aside_clauses:
            self.begin_copy(self.order.to_give(options.aside_clauses))
        elif self.copy is not None and self.order.size(self.copy.strata) <= options.last_clauses:
            if strata := self.order.to_give(options.aside_clauses):
                self.go_on(self.copy, strata)

    def receive(self, wait: bool) -> bool:
        """Enter the next strata that the copy has evaluated; return whether there were any."""
        copy = self.copy
        if copy is None:
            return False
        received = copy.receive(wait)
        if received is not None:
            for at, statistics in received.strata.items():
                self.state.adopt(self.strata[at], received.relations, copy.ids)
                self.finished(at, statistics)
        elif not copy.is_running:
            self.order.take_back(copy.strata)
            self.copy = None
        return received is not None

    @cached_property
    def order(self) -> StrataOrder:
        """The order of strata: that of the program, unless a copy of the process may take part."""
        sizes = [len(stratum.clauses) for stratum in self.strata]
        large = list(self.large_recursions()) if self.has_processors else []
        if not large:
            return StrataOrder(sizes, [()] * len(sizes), [], [False] * len(sizes))
        needs = needs_of(self.strata, self.reads, self.state.grown_by)
        return StrataOrder(sizes, needs, large, map(self.state.may_move, self.strata))

    @cached_property
    def reads(self) -> list[set[str]]:
        """The relations that each stratum reads."""
        return [{name for each in outlines for name in each.reads} for outlines in self.state.outlines]

    def finished(self, at: int, statistics: StratumStatistics) -> None:
        """A stratum is done: once many rows have been derived, let go of what none that is left reads."""
        self.order.finish(at)
        self.statistics[at] = statistics
        self.n_rows += statistics.rows
        if self.n_rows <= self.execution.options.large_rows:
            return
        if self.readers is None:
            self.readers = Counter(chain(self.names, *(self.touched(each) for each in self.order.not_done)))
            unread = self.state.relations.keys() - self.readers.keys()
        else:
            self.readers.subtract(self.touched(at))
            unread = {name for name in self.touched(at) if not self.readers[name]}
        for name in unread:
            self.state.let_go(name)

    def touched(self, at: int) -> set[str]:
        """The relations that a stratum reads or writes."""
        return self.written(at) | self.reads[at]

    def written(self, at: int) -> set[str]:
        own, widenings = self.strata[at].relations, self.state.widenings
        return {*own, *(widenings[name].into for name in own if name in widenings)}

    @property
    def has_processors(self) -> bool:
        """True if a copy of the process may be made, has a processor of its own, and enough to do."""
        pool = self.execution.pool
        if len(pool.workers) < 2 or not (can_fork() and pool.has_process) or LEDGER.is_given or self.state.tells_all:
            return False
        return self.state.n_facts >= self.execution.options.aside_facts

    def large_recursions(self) -> Iterator[int]:
        for at, stratum in enumerate(self.strata):
            if stratum.recursive and len(stratum.clauses) >= self.execution.options.large_clauses:
                yield at

    def begin_copy(self, strata: Sequence[int]) -> None:
        """Let a copy begin with what can be evaluated aside, unless the system has no room for a process."""
        state = self.state
        self.unknown, self.n_told = set(), state.n_values()
        ids = TranslatedIds(state.symbols, state.records, state.program.records)
        try:
            self.copy = ForkedStrata(strata, self.evaluate_in_copy, ids)
        except OSError:
            self.copy = None
            self.order.bar(strata)
        else:
            self.order.give(strata)
            self.execution.is_accompanied = self.copy.is_at_work

    def go_on(self, copy: ForkedStrata, strata: Sequence[int]) -> None:
        """Give the copy more, with what it lacks for that; where that is too much let another begin in its place."""
        lacking = self.unknown & set().union(*(self.reads[at] for at in strata))
        relations = {name: self.state.relations[name] for name in lacking & self.state.relations.keys()}
        is_plain = all(type(relation) is Relation for relation in relations.values())
        if is_plain and sum(relation.n_bytes for relation in relations.values()) <= MOST_GIVEN_BYTES:
            rows = {name: relation.columns() for name, relation in relations.items()}
            self.order.give(strata)
            copy.go_on(Task(strata, rows, self.made()))
            self.unknown -= lacking
        elif copy.is_idle:
            copy.close()
            self.begin_copy(strata)

    def made(self) -> NewValues:
        """The symbols and records that this side has made, or learned of, since the other was told the last time."""
        values = self.state.new_values(*self.n_told)
        self.n_told = self.state.n_values()
        return values

    def evaluate_in_copy(self, copy: ForkedStrata) -> Iterator[Finished]:
        """Evaluate what the copy is given, and yield it; on one thread, as a fork has no others."""
        state = self.state
        if len(state.execution.pool.workers) > 1:
            state.execution = state.execution.alone()
        yield from self.evaluate_aside(copy.strata)
        for task in copy.tasks():
            state.take_over(task.relations, copy.ids)
            yield from self.evaluate_aside(task.strata)

    def evaluate_aside(self, strata: Sequence[int]) -> Iterator[Finished]:
        """Evaluate strata in the copy, and yield them some at a time."""
        state = self.state
        while strata:
            begin = perf_counter()
            done: dict[int, StratumStatistics] = {}
            rows: dict[str, Columns] = {}
            for at in strata:
                names = self.strata[at].relations
                with state.meter.over([state.relations[name] for name in names]):
                    done[at] = state.evaluated(self.strata[at])
                rows |= {name: state.relations[name].columns() for name in names if state.relations[name].n}
                if perf_counter() - begin > HANDED_OVER_S:
                    break
            yield Finished(done, rows, self.made())
            strata = strata[len(done) :]


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
