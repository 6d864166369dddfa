"""A view: the relations of a program, kept up to date as facts are inserted and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from engine.database import Columns, Database, EvaluationError
from engine.evaluation.evaluator import SharedOptions, evaluate
from engine.evaluation.execution import Options
from engine.incremental.delta_files import KnownRecords
from engine.incremental.installations import Installed
from engine.incremental.maintained_program import MaintainedProgram, nothing
from engine.incremental.maintained_relation import MaintainedEquivalence
from engine.incremental.update_policy import DEFAULT, POLICIES, Maintainer
from engine.language.checked_program import CheckedProgram, Record, Relation, Type
from engine.language.extension import question
from engine.language.source import Source
from engine.queries import answering
from engine.result import Result, Tables, TableSet
from engine.standing_query import NUMBERED, StandingQuery
from engine.storage.stored_database import StoredDatabase
from engine.symbols import Symbols
from engine.tables import encode, facts
from engine.versions import Versions

if TYPE_CHECKING:
    from engine.tables import Table

NOTHING: Mapping[str, Table] = {}


@dataclass
class Commit:
    """The changes of a commit: `inserted` and `deleted` hold the tuples that differ, facts and derived ones.

    `strategy` is "update" or "bootstrap", `reason` says why. Of an equivalence the tuples are elements, each with the
    least one of its class.
    """

    inserted: TableSet
    deleted: TableSet
    strategy: str
    reason: str

    @property
    def changed(self) -> list[str]:
        """The names of the relations in which tuples differ, but for those of queries."""
        inserted, deleted = self.inserted.relations, self.deleted.relations
        differ = (name for name in inserted if inserted[name].shape[1] or deleted[name].shape[1])
        return sorted(name for name in differ if NUMBERED not in name)


class View(Tables):
    """The relations of a program, kept up to date as facts are inserted and deleted.

    `insert` and `delete` collect facts; `commit` applies them at the cost of what they change, or evaluates from
    scratch where `policy` expects that to be faster. A fact that was inserted and then deleted before a commit is not
    there, one that was deleted and then inserted is. Programs come and go: `install` maintains one beside the view's
    own, `evaluate` runs one once. A view holds threads until it is closed.

    One thread at a time changes a view and reads what it maintains. Any others may `evaluate` and `ask` meanwhile: they
    see all relations as of the commit that was the last when they began.
    """

    def __init__(
        self,
        program: CheckedProgram,
        given: Database | Mapping[str, Table] = NOTHING,
        *,
        policy: str = DEFAULT,
        threads: int | None = None,
        options: Options | None = None,
    ) -> None:
        """Evaluate a program on facts. Raises TableError and EvaluationError."""
        held = facts(program, given) if isinstance(given, Mapping) else given
        empty = Database(held.symbols, held.records)
        kept = MaintainedProgram(program, empty, threads=threads, options=options)
        self.program, self._own, self._installed = program, program, dict[Installed, CheckedProgram]()
        self._threads, self._options, self._versions = threads, options, Versions()
        self._maintainer = Maintainer(kept, POLICIES[policy]())
        self._maintainer.bootstrap(held.relations)
        self._inserted: dict[str, Columns] = {}
        self._deleted: dict[str, Columns] = {}

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads of the view."""
        self._maintainer.view.close()

    # ---- programs and queries beside its own

    def install(self, program: CheckedProgram) -> Installed:
        """Maintain a further program, too, from now on.

        Relations that it has no rules for are those of the view, with their indexes; it brings the others. Raises
        EvaluationError where it derives a relation that is there, or declares one with other columns.
        """
        self._check(program)
        with self._versions.writing:
            installed = self._maintainer.view.install(program)
        self._installed[installed] = program
        self.program = self.program.extended(program)
        return installed

    def uninstall(self, installed: Installed) -> None:
        """Let a further program go, with all that no other one needs."""
        with self._versions.writing:
            self._maintainer.view.uninstall(installed)
        brought = self._installed.pop(installed).relations.keys()
        found = self._own
        for program in self._installed.values():
            found = found.extended(program)
        self.program = found
        self._versions.forget(brought - found.relations.keys())

    def evaluate(self, program: CheckedProgram, **options: Unpack[SharedOptions]) -> Result:
        """Evaluate a program once, on the view's relations as of the last commit, and keep nothing of it.

        A relation that it has rules for begins with the tuples of the view, and the view's stays as it is. What an
        earlier program has read is there with its indexes. `options` are those of `engine.evaluate`, without threads
        and sizes. Raises EvaluationError, also where it declares a relation with other columns.
        """
        self._check(program)
        names = program.relations.keys() & self.program.relations.keys()
        records = dict(self._maintainer.view.records)
        with self._versions.reading(names, self._columns) as relations:
            database = StoredDatabase(self.symbols, records, relations)
            return evaluate(program, database, threads=self._threads, options=self._options, **options)

    def ask(self, text: str, sources: Iterable[Source] = (), **options: Unpack[SharedOptions]) -> Result:
        """Return the answers to a query, in the relation ANSWERS, as `evaluate` does. Raises as `query` does."""
        return self.evaluate(answering(question(self.program, text, sources)), **options)

    def query(
        self, text: str, sources: Iterable[Source] = (), parameters: Mapping[str, str] | None = None
    ) -> StandingQuery:
        """Return a query that is kept answered, such as `path(x, y), !arc(x, y)`.

        It may read relations of further sources. `parameters` are variables and their types, whose values are given
        when it is asked. Raises ProgramError and EvaluationError.
        """
        return StandingQuery(self, text, sources, parameters)

    def bytes_of(self, installed: Installed) -> int:
        """Return the memory that the relations of a further program take, without those that it shares."""
        return self._maintainer.view.installations.n_bytes(installed)

    def change_installed(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        """Change facts of relations that further programs have brought, beside the view's commits."""
        with self._versions.writing:
            self._maintainer.view.update(inserted, deleted)

    def _columns(self, name: str) -> Columns:
        """Return the tuples of a relation, which may have gone with its program since a thread looked for it."""
        if name not in self._maintainer.view.relations:
            raise EvaluationError(f"{name}: the program that brought this relation has been uninstalled")
        return self._maintainer.view.columns(name)

    def _check(self, program: CheckedProgram) -> None:
        """Raise EvaluationError where a program and the view do not mean the same by a name, or by numbers."""
        if program.number_bits != self.program.number_bits:
            raise EvaluationError(f"numbers have {self.program.number_bits} bits here, not {program.number_bits}")
        for name in program.relations.keys() & self.program.relations.keys():
            if kinds_of(program.relations[name]) != kinds_of(self.program.relations[name]):
                raise EvaluationError(f"{name}: there is a relation of that name, with other columns")
        for name in program.records.keys() & self.program.records.keys():
            if fields_of(program.records[name]) != fields_of(self.program.records[name]):
                raise EvaluationError(f"{name}: there is a record type of that name, with other fields")

    # ---- changes

    def insert(self, name: str, table: Table) -> None:
        """Insert facts with the next commit. Raises TableError."""
        rows = self.encoded(name, table)
        self._inserted[name] = joined(self._inserted.get(name), rows)

    def delete(self, name: str, table: Table) -> None:
        """Delete facts with the next commit; what is not there is not deleted. Raises TableError."""
        rows = self.encoded(name, table)
        self._deleted[name] = joined(self._deleted.get(name), rows)
        if name in self._inserted:
            self._inserted[name] = without(self._inserted[name], rows)

    def commit(self, watch: Callable[[], None] = nothing) -> Commit:
        """Apply what has been inserted and deleted since the last commit. Raises EvaluationError.

        `watch` is called between pieces of work; it may raise, and must not use the view. Whatever is raised, the view
        is as it was before, and what was collected for this commit is dropped.
        """
        inserted, self._inserted = self._inserted, {}
        deleted, self._deleted = self._deleted, {}
        with self._versions.writing:
            outcome = self._maintainer.apply(inserted, deleted, watch)
            changes, held = outcome.changes, self._maintainer.view.relations
            self._versions.follow(changes, {name for name in changes if isinstance(held[name], MaintainedEquivalence)})
        return Commit(
            self._table_set({name: change.inserted for name, change in changes.items()}),
            self._table_set({name: change.deleted for name, change in changes.items()}),
            outcome.strategy,
            outcome.reason,
        )

    def encoded(self, name: str, table: Table) -> Columns:
        """Return a table as columns of a relation. Raises TableError."""
        return encode(self.program, name, table, KnownRecords(self._maintainer.view))

    def _table_set(self, changed: Mapping[str, Columns]) -> TableSet:
        unchanged = {name: np.empty((held.arity, 0), np.int64) for name, held in self.program.relations.items()}
        return TableSet(self.program, self.symbols, self.records, {**unchanged, **changed})

    # ---- what is there now

    @property
    def symbols(self) -> Symbols:
        return self._maintainer.view.symbols

    @property
    def records(self) -> Mapping[str, Columns]:
        return self._maintainer.view.result().records

    @property
    def relations(self) -> Mapping[str, Columns]:
        return self._maintainer.view.result().relations


def kinds_of(relation: Relation) -> list[str]:
    """Return the kinds of a relation's columns; for a record, its table."""
    return [kind_of(column.type) for column in relation.columns]


def fields_of(record: Record) -> tuple[object, ...]:
    """Return the kinds of a record's fields, and of those of its branches."""
    branches = tuple((branch.name, *(kind_of(field.type) for field in branch.fields)) for branch in record.branches)
    return tuple(kind_of(field.type) for field in record.fields), branches


def kind_of(type: Type) -> str:
    """Return the kind of a column's values; for a record, its table."""
    return type.record or type.kind


def joined(before: Columns | None, rows: Columns) -> Columns:
    return rows if before is None else np.concatenate([before, rows], axis=1)


def without(rows: Columns, others: Columns) -> Columns:
    """Return the rows that are not among others; all are [arity, n]."""
    if not len(rows):
        return rows[:, :0] if others.shape[1] else rows
    kept: np.ndarray = ~np.isin(as_keys(rows), as_keys(others))
    return rows[:, kept]


def as_keys(rows: Columns) -> np.ndarray:
    """Return each row as one value that can be compared."""
    return np.ascontiguousarray(rows.T, np.int64).view([("", np.int64)] * len(rows)).reshape(-1)
