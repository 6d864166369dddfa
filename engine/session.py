"""A session: facts and results shared by successive programs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from threading import Lock
from typing import Unpack

from engine.database import Columns, Database, EvaluationError
from engine.evaluation.evaluator import RelationColumns, SharedOptions, evaluate, record_table
from engine.evaluation.execution import Execution, Options
from engine.evaluation.insert_facts import fitting_columns, store_facts
from engine.language.checked_program import CheckedProgram, Record, Relation, Type
from engine.language.syntax import Directive
from engine.operating_system import n_cores
from engine.plan.value_encoding import dtype_of
from engine.result import Result
from engine.storage.record_table import RecordTable
from engine.storage.relation import Relation as Stored
from engine.storage.relation_catalogue import Catalogue, Shape
from engine.storage.stored_database import StoredDatabase
from engine.storage.trace import Handle, Trace


class Session:
    """Relations that programs share, with one table of symbols and one table for each record type.

    A program that only reads a relation attaches to what the session holds: rows and arrangements are those that an
    earlier program has built (McSherry et al., 2020). Programs may run at the same time; each sees the relations as
    they were when it began.
    """

    def __init__(self, database: Database, *, threads: int | None = None, options: Options | None = None) -> None:
        self.symbols = database.symbols
        self.threads = threads or n_cores()
        self.options = options or Options()
        self.catalogue = Catalogue()
        self._facts = dict(database.relations)
        self._given_records = database.records
        self._records: dict[str, tuple[tuple, RecordTable]] = {}
        self._lock = Lock()

    def evaluate(self, program: CheckedProgram, *, keep: Iterable[str] = (), **others: Unpack[SharedOptions]) -> Result:
        """Evaluate a program on the session's relations, and add the relations `keep` of its result to the session.

        `others` are further options of `engine.evaluate`, but for threads and sizes, which are those of the session.
        Raises EvaluationError, also where the program and the session disagree on the columns of a relation.
        """
        kept = list(keep)
        for name in kept:
            if name not in program.relations:
                raise EvaluationError(f"{name}: the program has no relation of that name to keep")
        if program.outputs or program.printsizes:
            # What is kept is given out as well: all its tuples are needed.
            kept_too = (Directive("output", name) for name in kept)
            program = replace(program, outputs=(*program.outputs, *kept_too))
        with ExitStack() as stack:
            relations = {
                name: stack.enter_context(handle).relation
                for name, relation in program.relations.items()
                if (handle := self._open(relation, program.number_bits)) is not None
            }
            database = StoredDatabase(self.symbols, self._record_tables(program), relations)
            result = evaluate(program, database, threads=self.threads, options=self.options, **others)
        assert isinstance(result.relations, RelationColumns)
        for name in kept:
            self._publish(program.relations[name], program.number_bits, result.relations)
        return result

    def holds(self, name: str) -> bool:
        """Return True if the session has rows for a relation."""
        return name in self._facts or name in self.catalogue

    def give(self, name: str, columns: Columns) -> None:
        """Add facts for a relation that the session does not hold yet."""
        if self.holds(name):
            raise EvaluationError(f"{name}: the session holds it already; insert more rows, or drop it first")
        with self._lock:
            self._facts[name] = columns

    def insert(self, name: str, columns: Columns) -> int:
        """Insert rows into a relation, as its next version. Return the number of new rows."""
        trace = self._trace(name)
        return trace.insert(fitting_columns(trace, columns))

    def remove(self, name: str, columns: Columns) -> int:
        """Delete rows from a relation, as its next version. Return the number of deleted rows."""
        trace = self._trace(name)
        return trace.remove(fitting_columns(trace, columns))

    def open(self, name: str) -> Handle:
        """Return a handle on a relation that a program has read or that was kept."""
        return self._trace(name).open()

    def _trace(self, name: str) -> Trace:
        trace = self.catalogue.find(name)
        if trace is None:
            raise EvaluationError(f"{name}: the session has no such relation that a program has read or that was kept")
        return trace

    def drop(self, name: str) -> None:
        """Drop a relation. Programs that are reading it are not affected."""
        with self._lock:
            self._facts.pop(name, None)
        self.catalogue.drop(name)

    def _open(self, relation: Relation, number_bits: int) -> Handle | None:
        """Return a handle on a relation if it is held; facts that no program has read yet are stored first."""
        shape = shape_of(relation, number_bits)
        with self._lock:
            columns = self._facts.get(relation.name)
            if columns is not None:
                stored = Stored(relation.name, relation.arity, shape.dtype)
                execution = Execution(self.threads, self.options)
                try:
                    store_facts(execution, stored, columns)
                    execution.advance([stored])
                finally:
                    execution.pool.close()
                stored.finish()
                self.catalogue.publish(shape, stored)
                del self._facts[relation.name]
        trace = self.catalogue.find(relation.name, shape)
        return None if trace is None else trace.open()

    def _publish(self, relation: Relation, number_bits: int, columns: RelationColumns) -> None:
        stored = columns.stored(relation.name)
        if isinstance(stored, Stored):
            self.drop(relation.name)
            self.catalogue.publish(shape_of(relation, number_bits), stored)

    def _record_tables(self, program: CheckedProgram) -> dict[str, RecordTable]:
        with self._lock:
            for name, record in program.records.items():
                kinds = kinds_of(record, program.number_bits)
                if name not in self._records:
                    self._records[name] = kinds, record_table(program, name, self._given_records.get(name))
                elif self._records[name][0] != kinds:
                    raise EvaluationError(
                        f"{name}: an earlier program has a record type of this name with other fields"
                    )
            return {name: self._records[name][1] for name in program.records}


def shape_of(relation: Relation, number_bits: int) -> Shape:
    """The shape of a declared relation."""
    dtype = dtype_of((column.type.kind for column in relation.columns), number_bits)
    return Shape(tuple(kind_of(column.type) for column in relation.columns), dtype)


def kinds_of(record: Record, number_bits: int) -> tuple:
    """Return the shape on which programs must agree to share a record type."""
    branches = tuple((branch.name, *(kind_of(field.type) for field in branch.fields)) for branch in record.branches)
    return number_bits, tuple(kind_of(field.type) for field in record.fields), branches


def kind_of(type: Type) -> str:
    """Return the kind of a column's values; for a record, its table."""
    return type.record or type.kind
