"""Evaluation of a checked program on the threads of one machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, TypedDict

from engine.budget import Budget, Meter
from engine.database import Columns, Database, Widening
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy
from engine.evaluation.execution import Execution, Options
from engine.evaluation.split_evaluation import SplitEvaluation
from engine.evaluation.strata_beside import StrataBeside
from engine.evaluation.stratum_evaluation import StratumEvaluation
from engine.evaluation.translated_ids import TranslatedIds
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


class Evaluation(SplitEvaluation[StratumStatistics]):
    """The strata of a program, and what is let go meanwhile.

    `names` are the relations that are asked for; the others are tests of existence.
    """

    def __init__(self, state: StratumEvaluation, names: Iterable[str]) -> None:
        self.state, self.names = state, tuple(names)
        self.execution, self.strata = state.execution, state.program.strata
        self.statistics: dict[int, StratumStatistics] = {}
        self.n_rows = 0
        self.readers: Counter[str] | None = None
        super().__init__(state.symbols, state.records, state.program.records, state.execution.options)

    def run(self) -> Result:
        self.execution.tend, self.execution.is_accompanied = self.tend, self.is_accompanied
        self.evaluate_all()
        return self.result()

    def result(self) -> Result:
        state = self.state
        plan = None if state.explainer is None else state.explainer.explanation()
        records = {name: table.columns for name, table in state.records.items()}
        asked = {name: state.relations[name] for name in self.names}
        statistics = [self.statistics[at] for at in range(len(self.strata))]
        return Result(state.symbols, records, RelationColumns(asked), statistics, plan, tuple(state.left_out))

    # ---- the order

    @cached_property
    def order(self) -> StrataOrder:
        """The order of strata: that of the program, unless a copy of the process may take part."""
        sizes = [len(stratum.clauses) for stratum in self.strata]
        large = list(self.large_recursions()) if self.has_processors else []
        if not large:
            return StrataOrder(sizes, [()] * len(sizes), [], [False] * len(sizes))
        needs = needs_of(self.strata, self.reads, self.state.grown_by)
        return StrataOrder(sizes, needs, large, map(self.state.may_move, self.strata))

    @property
    def has_processors(self) -> bool:
        """True if a copy of the process may be made, has a processor of its own, and enough to do."""
        pool = self.execution.pool
        if len(pool.workers) < 2 or not (can_fork() and pool.has_process) or LEDGER.is_given or self.state.tells_all:
            return False
        return self.state.n_facts >= self.options.aside_facts

    def large_recursions(self) -> Iterator[int]:
        for at, stratum in enumerate(self.strata):
            if stratum.recursive and len(stratum.clauses) >= self.options.large_clauses:
                yield at

    @property
    def may_give(self) -> bool:
        return not self.state.unfinished

    @cached_property
    def reads(self) -> list[set[str]]:
        return [{name for each in outlines for name in each.reads} for outlines in self.state.outlines]

    def written(self, at: int) -> set[str]:
        own, widenings = self.strata[at].relations, self.state.widenings
        return {*own, *(widenings[name].into for name in own if name in widenings)}

    # ---- strata

    def evaluate(self, at: int) -> StratumStatistics:
        return self.state.stratum(self.state.finishable(self.strata[at]))

    def evaluate_there(self, at: int) -> StratumStatistics:
        state = self.state
        if len(state.execution.pool.workers) > 1:
            state.execution = state.execution.alone(state.meter)
        with state.meter.over([state.relations[name] for name in self.strata[at].relations]):
            return state.evaluated(self.strata[at])

    def begin_beside(self) -> StrataBeside[StratumStatistics] | None:
        """Begin it unless rules have a budget: what both threads make would be charged to them."""
        if self.state.meter.budget.writers:
            return None
        state = self.state.beside()

        def evaluate(at: int) -> StratumStatistics:
            return self.evaluate_beside(state, at)

        def give_back(at: int) -> None:
            for name in self.strata[at].relations:
                self.state.relations[name].clear()
            self.order.take_back([at])

        def stop() -> None:
            state.meter.ends_s = -inf

        return StrataBeside(self.changed, self.order.next_beside, evaluate, self.finished, give_back, stop)

    def evaluate_beside(self, state: StratumEvaluation, at: int) -> StratumStatistics:
        state.constants = self.state.constants
        return state.evaluated(self.strata[at])

    def finished(self, at: int, done: StratumStatistics) -> None:
        self.order.finish(at)
        self.statistics[at] = done
        self.n_rows += done.rows
        self.forget(at)

    def forget(self, at: int) -> None:
        """Let go of what none that is left reads, once many rows have been derived."""
        if self.n_rows <= self.options.large_rows:
            return
        if self.readers is None:
            left = (self.touched(each) for each in self.order.not_done if each != at)
            self.readers = Counter(chain(self.names, *left))
            unread = self.state.relations.keys() - self.readers.keys()
        else:
            self.readers.subtract(self.touched(at))
            unread = {name for name in self.touched(at) if not self.readers[name]}
        for name in unread:
            self.state.let_go(name)

    def touched(self, at: int) -> set[str]:
        """The relations that a stratum reads or writes."""
        return self.written(at) | self.reads[at]

    # ---- what is handed over

    def held(self, names: Iterable[str]) -> dict[str, Columns]:
        relations = [self.state.relations[name] for name in names if name in self.state.relations]
        return {relation.name: relation.columns() for relation in relations if relation.n}

    def n_bytes(self, names: Iterable[str]) -> float:
        relations = [self.state.relations[name] for name in names if name in self.state.relations]
        is_plain = all(type(relation) is Relation for relation in relations)
        return sum(relation.n_bytes for relation in relations) if is_plain else inf

    def adopt(self, at: int, done: StratumStatistics, held: Mapping[str, Columns], ids: TranslatedIds) -> None:
        self.state.adopt(self.strata[at], held, ids)

    def take_over(self, held: Mapping[str, Columns], ids: TranslatedIds) -> None:
        self.state.take_over(held, ids)


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
