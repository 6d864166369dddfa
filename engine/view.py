"""A view: the relations of a program, kept up to date as facts are inserted and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.database import Columns, Database, EvaluationError
from engine.evaluation.execution import Options
from engine.incremental.delta_files import KnownRecords
from engine.incremental.installations import Installed
from engine.incremental.maintained_program import MaintainedProgram, nothing
from engine.incremental.update_policy import DEFAULT, POLICIES, Maintainer
from engine.language.checked_program import CheckedProgram, Relation
from engine.language.source import Source
from engine.result import Tables, TableSet
from engine.standing_query import NUMBERED, StandingQuery
from engine.symbols import Symbols
from engine.tables import encode, facts

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
    there, one that was deleted and then inserted is. A view holds threads until it is closed.
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
        self._own, self._installed = program, dict[Installed, CheckedProgram]()
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
        for name, relation in program.relations.items():
            held = self.program.relations.get(name)
            if held is not None and kinds_of(held) != kinds_of(relation):
                raise EvaluationError(f"{name}: there is a relation of that name, with other columns")
        installed = self._maintainer.view.install(program)
        self._installed[installed] = program
        return installed

    def uninstall(self, installed: Installed) -> None:
        """Let a further program go, with all that no other one needs."""
        self._maintainer.view.uninstall(installed)
        del self._installed[installed]

    def query(
        self, text: str, sources: Iterable[Source] = (), parameters: Mapping[str, str] | None = None
    ) -> StandingQuery:
        """Return a query that is kept answered, such as `path(x, y), !arc(x, y)`.

        It may read relations of further sources. `parameters` are variables and their types, whose values are given
        when it is asked. Raises ProgramError and EvaluationError.
        """
        return StandingQuery(self, text, sources, parameters)

    def ask(self, text: str, sources: Iterable[Source] = ()) -> TableSet:
        """Return the answers to a query as things are now, in the relation ANSWERS. Raises as `query` does."""
        with self.query(text, sources) as query:
            return query.answers()

    def bytes_of(self, installed: Installed) -> int:
        """Return the memory that the relations of a further program take, without those that it shares."""
        return self._maintainer.view.installations.n_bytes(installed)

    def change_installed(self, inserted: Mapping[str, Columns], deleted: Mapping[str, Columns]) -> None:
        """Change facts of relations that further programs have brought, beside the view's commits."""
        self._maintainer.view.update(inserted, deleted)

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

        `watch` is called between pieces of work; it may raise. Whatever is raised, the view is as it was before, and
        what was collected for this commit is dropped.
        """
        inserted, self._inserted = self._inserted, {}
        deleted, self._deleted = self._deleted, {}
        outcome = self._maintainer.apply(inserted, deleted, watch)
        changes = outcome.changes
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
    def program(self) -> CheckedProgram:
        """The view's program with those that are installed."""
        found = self._own
        for program in self._installed.values():
            found = found.extended(program)
        return found

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
    return [column.type.record or column.type.kind for column in relation.columns]


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
