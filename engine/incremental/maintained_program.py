"""An incrementally maintained program: its relations are updated as facts are inserted and deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TypedDict

import numpy as np

from engine.budget import Budget
from engine.database import Columns, Database
from engine.evaluation.bindings import Bindings
from engine.evaluation.cardinality import Statistics
from engine.evaluation.declared_storage import record_table
from engine.evaluation.evaluator import RelationColumns
from engine.evaluation.execution import Options
from engine.evaluation.insert_facts import fitting_columns
from engine.evaluation.vectorized_functors import Functors
from engine.incremental.bounded_recursion import Bound, BoundedRecursion
from engine.incremental.changes import Changes, change_of
from engine.incremental.demanded_arrangement import forget_idle
from engine.incremental.installations import Installations, Installed
from engine.incremental.maintained_relation import MaintainedRelation
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.incremental.make_strata import StrataMaker, Stratum, empty, held_in
from engine.incremental.prepared_program import PreparedProgram, prepare_program
from engine.incremental.recomputed_stratum import RecomputedStratum
from engine.incremental.shared_worker_pool import SharedWorkerPool
from engine.incremental.split_bootstrap import SplitBootstrap
from engine.incremental.update_plans import Feed
from engine.kernels.iterations import ABSENT
from engine.language.checked_program import CheckedProgram
from engine.operating_system import n_cores, release_free_memory, resident_bytes
from engine.result import Result
from engine.schedule.activation_graph import strata_of
from engine.schedule.executor import DEFAULT, SCHEDULERS, run
from engine.schedule.scheduler import Scheduler
from engine.schedule.signal_propagation import SignalPropagation
from engine.storage.relation import Relation
from engine.storage.stored_database import StoredDatabase

ARRANGED_SHARE = 0.25
"""What is arranged by demand takes at most this share of what tuples take."""
FEW_ROWS = 1 << 16
"""So many rows more are not worth an evaluation."""
KEPT_BYTES = 256 << 20
"""Memory that a bootstrap frees is kept for what it makes next; it goes back whenever so much has come to the process.
"""
LOOKED_AT_ROWS = 1 << 20
"""Strata of so many rows may have taken much memory: whether they have is asked then, which takes a system call."""
NO_FACTS: Mapping[str, Columns] = {}


class Stopped(Exception):
    """A stratum that runs beside this one has raised something, or the calling thread was interrupted."""


def nothing() -> None:
    """Let work go on."""


def stopped() -> None:
    """Let work end."""
    raise Stopped


class MaintainedProgramOptions(TypedDict, total=False):
    """The keyword arguments of `MaintainedProgram` that a saved state does not decide."""

    threads: int | None
    options: Options | None
    scheduler: str
    bounds: Sequence[Bound]
    budget: Budget | None


class MaintainedProgram:
    """The incrementally maintained relations of a program.

    `bootstrap` evaluates from scratch, `update` from what is there; both leave the same tuples, iterations and counts.
    With `exact` a tuple's iteration is that of its first derivation, else any one after those of all tuples it is
    derived from. `scheduler` names what decides in which order strata run, side by side or not (see `engine.schedule`);
    `n_updated` counts those that the last update has looked at. `bounds` keep recursions small, see
    `bounded_recursion`: that needs exact iterations, and an update may end with CannotUpdate. `budget` is for each
    stratum, each time anew. An update that raises is undone. With `by_demand` arrangements go as
    soon as a bootstrap has no more use for them, and updates arrange the keys that they ask for: that takes less
    memory, and less time for few updates. Further programs may be maintained beside it, see `installations`.
    """

    def __init__(
        self,
        program: CheckedProgram | PreparedProgram,
        database: Database | StoredDatabase,
        *,
        threads: int | None = None,
        options: Options | None = None,
        exact: bool = True,
        scheduler: str = DEFAULT,
        bounds: Sequence[Bound] = (),
        budget: Budget | None = None,
        by_demand: bool = False,
    ) -> None:
        self.prepared, self.symbols = prepare_program(program), database.symbols
        self.threads, self.options = threads or n_cores(), options or Options()
        self.pool = SharedWorkerPool(self.threads, self.options)
        declared = self.prepared.records
        self.records = {name: record_table(self.prepared, name, database.records.get(name)) for name in declared}
        self.exact, self.scheduler, self.bounds, self.watch = exact, scheduler, bounds, nothing
        self.budget, self.by_demand, self.arranged_limit_bytes = budget, by_demand, 0
        self.relations = empty(self.prepared.shapes, self.prepared.equivalences)
        self.joined = {**self.relations, **empty(self.prepared.projections)}
        joined: dict[str, Relation] = {**self.joined}
        self.sizes = Statistics(joined, self.prepared.signatures, self.options.min_sampled)
        self.bindings = Bindings(joined, self.records, Functors(self.prepared.number_bits, self.symbols), self.sizes)
        self.strata: list[Stratum] = []
        self.installations = Installations(self)
        maker = StrataMaker(self, self.prepared, self.installations.bindings(None))
        for component in self.prepared.components:
            self.strata.append(maker.stratum(component))
        self.n_own = len(self.strata)
        self.graph = self.own_graph = strata_of(*names_of(self.strata))

    @property
    def program(self) -> CheckedProgram:
        return self.prepared.program

    @property
    def own_strata(self) -> Sequence[Stratum]:
        """The strata of its own program, without those of programs that are installed beside it."""
        return self.strata[: self.n_own]

    def order_strata(self) -> None:
        """Find out which strata read what others write; of the program's own ones that is known already."""
        further = self.strata[self.n_own :]
        self.graph = self.own_graph.extended(*names_of(further)) if further else self.own_graph

    def add_relations(self, made: Mapping[str, MaintainedRelation]) -> None:
        self.joined.update(made)
        self.bindings.relations.update(made)

    def remove_relations(self, names: Collection[str]) -> None:
        """Forget relations that no stratum writes or reads, and what the planner knows of them."""
        for held in (self.relations, self.joined, self.bindings.relations):
            for name in names:
                held.pop(name, None)
        self.sizes.forget(names)

    # ---- programs beside its own

    def install(self, program: CheckedProgram | PreparedProgram, facts: Mapping[str, Columns] = NO_FACTS) -> Installed:
        """Maintain a further program, too, from now on; what it derives is evaluated, and nothing else.

        Relations that it has no rules for are those that are there, with their arrangements; others are its own, of
        which it may be given facts. Raises EvaluationError where there is a relation of a name that it derives, or one
        with other columns.
        """
        installed = self.installations.add(prepare_program(program))
        try:
            self.bootstrap_nodes(self.installations.nodes_of(installed), self.fitting(facts))
        except BaseException:
            self.uninstall(installed)
            raise
        return installed

    def uninstall(self, installed: Installed) -> None:
        """Let a further program go, with all that no other one needs."""
        self.installations.remove(installed)

    # ---- evaluation

    @property
    def planned_s(self) -> float:
        """The seconds that updates have spent on plans so far. Plans are reused by later ones."""
        return self.pool.planned_s

    def bootstrap(self, facts: Mapping[str, Columns], nodes: Sequence[int] | None = None) -> None:
        """Evaluate all strata, or some that are empty, from scratch. Raises EvaluationError for invalid facts."""
        facts = self.fitting(facts)
        chosen = range(len(self.strata)) if nodes is None else nodes
        if not self.by_demand:
            self.bootstrap_nodes(chosen, facts)
            return
        reading = Counter(relation for node in chosen for relation in self.strata[node].inputs)
        lock = Lock()
        released_at, n_rows = resident_bytes(), 0

        def forget(node: int) -> None:
            nonlocal released_at, n_rows
            stratum = self.strata[node]
            with lock:
                reading.subtract(stratum.inputs)
                self.forget_arrangements(node, reading)
                n_rows += sum(relation.n for relation in (*stratum.inputs, *stratum.relations))
                if n_rows < LOOKED_AT_ROWS:
                    return
                n_rows = 0
                if resident_bytes() > released_at + KEPT_BYTES:
                    release_free_memory()
                    released_at = resident_bytes()

        split = SplitBootstrap(self, facts, forget)
        if nodes is None and split.pays:
            split.run()
        else:
            self.bootstrap_nodes(chosen, facts, forget)
        release_free_memory()

    def bootstrap_nodes(
        self, nodes: Iterable[int], facts: Mapping[str, Columns], done: Callable[[int], None] = lambda node: None
    ) -> None:
        """Evaluate strata that are empty; call `done` when one is.

        Where all are evaluated, signals along the edges tell what is ready, and no ancestors need be looked for.
        """
        nodes, dag = list(nodes), self.graph.dag
        scheduler = SignalPropagation(dag) if len(nodes) == dag.n else SCHEDULERS[self.scheduler](dag)

        def work(node: int) -> list[int]:
            self.strata[node].bootstrap(facts)
            done(node)
            return []

        def rows_read(node: int) -> int:
            return sum(relation.n for relation in self.strata[node].inputs)

        self.run(scheduler, nodes, work, rows_read, facts)

    def forget_arrangements(self, node: int, reading: Mapping[MaintainedRelation, int]) -> None:
        """Give back the arrangements around a stratum that has been bootstrapped, if no other is `reading` them."""
        stratum = self.strata[node]
        if not isinstance(stratum, RecomputedStratum):
            stratum.forget_plans()
        for relation in (*stratum.inputs, *held_in(stratum)):
            if not reading[relation]:
                relation.forget_arrangements()

    def give_back(self) -> None:
        """Keep what is arranged by demand within its share of the memory of all tuples. No update may be under way."""
        awake = [relation for relation in self.tracked() if not relation.sleeps]
        arranged = [each for relation in awake for each in relation.demanded()]
        if sum(each.n_bytes for each in arranged) > self.arranged_limit_bytes:  # Tuples seldom become fewer.
            self.arranged_limit_bytes = int(ARRANGED_SHARE * sum(each.n_bytes_of_tuples for each in awake))
        forget_idle(arranged, self.arranged_limit_bytes)

    def mostly_gone(self) -> bool:
        """Return whether more than half of the rows held are of tuples that have gone."""
        awake = [relation for relation in self.tracked() if not relation.sleeps]
        return sum(each.n_ids for each in awake) > 2 * sum(len(each.present()) for each in awake) + FEW_ROWS

    def update(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> Changes:
        """Apply inserted and deleted facts. Return the changes by relation.

        What is both deleted and inserted is there afterwards; deleting what is not there changes nothing. Where an
        update raises, all is as it was before it.
        """
        inserted, deleted = self.fitting(inserted), self.fitting(deleted)
        given = {self.strata[self.graph.writer[name]] for name in (*inserted, *deleted)}
        given.update(stratum for stratum in self.strata if isinstance(stratum, BoundedRecursion))
        restoring = [each.checkpoint() for each in given if isinstance(each, MaintainedStratum | BoundedRecursion)]
        for relation in self.tracked():
            relation.open_update()
        try:
            self.n_updated = self.propagate(inserted, deleted)
        except BaseException:
            self.undo()
            for restore in restoring:
                restore()
            raise
        moved = [(each, each.moving) for each in self.relations.values() if len(each.changed)]
        for relation in self.tracked():
            relation.close_update()
        return Changes(lambda: {relation.name: change_of(relation, moving) for relation, moving in moved})

    def undo(self) -> None:
        """Undo an update that has not ended."""
        self.watch = nothing
        for stratum in self.strata:
            stratum.undo()
        for relation in [*self.bindings.relations.values()]:
            if isinstance(relation, Feed):
                relation.empty()
        for relation in self.tracked():
            relation.undo_update()

    def propagate(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> int:
        """Update the strata whose facts or inputs have changed. Return their number."""

        def work(node: int) -> list[int]:
            stratum = self.strata[node]
            stratum.update(inserted, deleted)
            changed = [relation.name for relation in stratum.relations if relation.changed_rows.n]
            return [reader for reader in self.graph.activated(changed) if may_react(self.strata[reader], changed)]

        def rows_read(node: int) -> int:
            return sum([len(relation.changed) for relation in self.strata[node].inputs])

        given = {self.graph.writer[name] for name in (*inserted, *deleted)}
        if not given or min(given) < self.n_own:
            # A bound may be another one now.
            given.update(node for node, stratum in enumerate(self.strata) if isinstance(stratum, BoundedRecursion))
        scheduler = SCHEDULERS[self.scheduler](self.graph.dag)
        return len(self.run(scheduler, sorted(given), work, rows_read, inserted, deleted))

    def run(
        self,
        scheduler: Scheduler,
        active: Iterable[int],
        work: Callable[[int], list[int]],
        rows_read: Callable[[int], int],
        *facts: Mapping[str, Columns],
    ) -> list[int]:
        """Let strata run, side by side where several are expected to touch many rows.

        The others mostly plan, which is Python. One that is evaluated anew has all threads as it is.
        """

        def pays(node: int) -> bool:
            stratum = self.strata[node]
            own = (given[r.name].shape[1] for given in facts for r in stratum.relations if r.name in given)
            expected = rows_touched(stratum.inputs, stratum.relations, rows_read(node) + sum(own))
            return not isinstance(stratum, RecomputedStratum) and expected > self.options.beside_rows

        return run(scheduler, active, work, self.threads, pays, self.stop)

    def stop(self) -> None:
        """Stop running strata at their next piece of work."""
        self.watch = stopped

    @contextmanager
    def watched(self, watch: Callable[[], None]) -> Iterator[None]:
        """Call `watch` between pieces of work. An exception from it ends a bootstrap, or an update, which is undone."""
        self.watch = watch
        try:
            yield
        finally:
            self.watch = nothing

    def empty(self) -> MaintainedProgram:
        """Return a view of the same programs, symbols and records, without tuples."""
        made = MaintainedProgram(
            self.prepared,
            StoredDatabase(self.symbols, self.records),
            threads=self.threads,
            options=self.options,
            exact=self.exact,
            scheduler=self.scheduler,
            bounds=self.bounds,
            budget=self.budget,
            by_demand=self.by_demand,
        )
        made.installations.follow(self.installations)
        return made

    def next_facts(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> dict[str, Columns]:
        """The facts of the last state, and those inserted and deleted since."""
        inserted, deleted = self.fitting(inserted), self.fitting(deleted)
        facts = {name: rows for stratum in self.strata for name, rows in stratum.facts().items()}
        for name in {*inserted, *deleted}:
            held = MaintainedRelation(name, self.relations[name].width, self.relations[name].dtype)
            for rows, iteration in ((facts.get(name), 0), (deleted.get(name), ABSENT), (inserted.get(name), 0)):
                if rows is not None:
                    held.enter(held.add(rows), iteration)
            facts[name] = held.columns()
        return facts

    def tracked(self) -> list[MaintainedRelation]:
        """All relations, projections included."""
        return [*self.joined.values()]

    def fitting(self, facts: Mapping[str, Columns]) -> dict[str, Columns]:
        """Facts in the form in which relations store them."""
        return {
            name: np.require(fitting_columns(self.shape(name), columns), self.relations[name].dtype, ["C"])
            for name, columns in facts.items()
            if name in self.relations
        }

    def shape(self, name: str) -> Relation:
        return Relation(name, self.relations[name].width, self.relations[name].dtype)

    def result(self) -> Result:
        """All relations, put together when asked for."""
        records = {name: table.columns for name, table in self.records.items()}
        return Result(self.symbols, records, RelationColumns(self.relations))

    def columns(self, name: str) -> Columns:
        """The tuples of a relation, [arity, n]."""
        return self.relations[name].columns()

    def close(self) -> None:
        self.pool.close()


def may_react(stratum: Stratum, changed: Sequence[str]) -> bool:
    """Return False if it is known at once that a stratum derives nothing from changes of relations."""
    return not isinstance(stratum, MaintainedStratum) or stratum.may_react(changed)


def names_of(strata: Sequence[Stratum]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the relations that strata write, and those that they read."""
    written = [[relation.name for relation in stratum.relations] for stratum in strata]
    return written, [[relation.name for relation in stratum.inputs] for stratum in strata]


def rows_touched(inputs: Sequence[Relation], relations: Sequence[Relation], n_first: int) -> float:
    """Return the expected number of rows that a stratum touches: `n_first` times its present ratio of rows."""
    n_read = sum([relation.n for relation in inputs])
    n_derived = sum([relation.n for relation in relations])
    return n_first * max(1.0, n_derived / n_read if n_read else 1.0)
