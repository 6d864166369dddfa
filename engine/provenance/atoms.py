"""Atoms as people write them: read from text, written as text with the values that they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.database import Columns
from engine.incremental.maintained_program import MaintainedProgram
from engine.io.value_text import Printer
from engine.language.checked_program import CheckedClause, CheckedProgram, Field, Type
from engine.language.clause_text import constant_text, literal_text
from engine.language.diagnostics import Report
from engine.language.parse_query import SOURCE, argument, negated, read_atom
from engine.language.syntax import Constant, Literal, RecordTerm, Term, Variable, Wildcard
from engine.language.traverse import substitute_literal
from engine.plan.value_encoding import encode
from engine.provenance.tuple_lookup import Tuple, TupleLookup

NO_RECORD = -1
"""A value that no record has."""


@dataclass(frozen=True)
class Pattern:
    """An atom whose terms are values, or None for any value. `equal` are positions with one variable."""

    relation: str
    values: tuple[int | None, ...]
    equal: tuple[tuple[int, int], ...] = ()

    @property
    def row(self) -> tuple[int, ...] | None:
        """The values, if all are known."""
        known = tuple(value for value in self.values if value is not None)
        return known if len(known) == len(self.values) else None


class AtomReader:
    """Reads atoms over the relations of a view."""

    def __init__(self, program: CheckedProgram, view: MaintainedProgram) -> None:
        self.program, self.view = program, view

    def read(self, text: str) -> Pattern:
        """Return the pattern of an atom such as `path(1, _)`. Raises ProgramError."""
        report = Report({SOURCE: text})
        atom = read_atom(text, self.program, report)
        columns = self.program.relations[atom.relation].columns
        values = tuple(self._value(*each, report) for each in zip(atom.arguments, columns, strict=True))
        report.raise_if_errors()
        first: dict[str, int] = {}
        names = [(at, term.name) for at, term in enumerate(atom.arguments) if isinstance(term, Variable)]
        equal = [(first[name], at) for at, name in names if first.setdefault(name, at) != at]
        return Pattern(atom.relation, values, tuple(equal))

    def _value(self, term: Term, column: Field, report: Report) -> int | None:
        table = column.type.record
        if table is not None and isinstance(term, RecordTerm) and term.branch is None:
            return self._record(table, term, report)
        read = argument(term, column, report)
        return encode(read, self.view.symbols) if isinstance(read, Constant) else None

    def _record(self, table: str, term: RecordTerm, report: Report) -> int:
        """Return the record with these fields, all of them constants; NO_RECORD if there is none."""
        fields = self.program.records[table].fields
        if len(fields) != len(term.arguments) or any(
            isinstance(negated(t), Variable | Wildcard) for t in term.arguments
        ):
            report.error("E016", f"a record of an atom has {len(fields)} constants as fields", term.span)
            return NO_RECORD
        values = [self._value(*each, report) for each in zip(term.arguments, fields, strict=True)]
        held = self.view.records[table]
        row = np.array([[NO_RECORD if value is None else value] for value in values], held.dtype)
        return int(held.find(row, 1, np.arange(len(fields)))[0]) or NO_RECORD


def tuples_of(pattern: Pattern, tuples: TupleLookup) -> list[Tuple]:
    """Return the tuples that a pattern matches."""
    if not pattern.values:
        return [(pattern.relation, ())] if tuples.rows(pattern.relation).n else []
    bound = {at: value for at, value in enumerate(pattern.values) if value is not None}
    rows = tuples.matching(pattern.relation, bound).T.tolist()
    return [(pattern.relation, tuple(row)) for row in rows if all(row[a] == row[b] for a, b in pattern.equal)]


class LiveRecords(Mapping[str, Columns]):
    """The record tables of a view, as they are when one is asked for."""

    def __init__(self, view: MaintainedProgram) -> None:
        self.view = view

    def __getitem__(self, name: str) -> Columns:
        return self.view.records[name].columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.view.records)

    def __len__(self) -> int:
        return len(self.view.records)


class AtomWriter:
    """Writes atoms and instantiated literals. Another way to write values is a subclass."""

    def __init__(self, program: CheckedProgram, view: MaintainedProgram) -> None:
        self.program = program
        self.printer = Printer(program.records, LiveRecords(view), view.symbols)

    def value(self, value: int, type: Type) -> str:
        if type.kind == "symbol":
            return constant_text(Constant(self.printer.texts([value], type)[0], "symbol"))
        return self.printer.text(value, type)

    def atom(self, relation: str, values: Sequence[int | str | None]) -> str:
        """Return an atom; None is written as a wildcard, a variable by its name."""
        return f"{relation}({', '.join(self.values(relation, values))})"

    def values(self, relation: str, values: Sequence[int | str | None]) -> list[str]:
        """Return the terms of an atom, written as in `atom`."""
        columns = self.program.relations[relation].columns
        return [self._term(value, column.type) for value, column in zip(values, columns, strict=True)]

    def _term(self, value: int | str | None, type: Type) -> str:
        if value is None or (isinstance(value, str) and not value.isidentifier()):
            return "_"
        return value if isinstance(value, str) else self.value(value, type)

    def literal(self, literal: Literal, clause: CheckedClause, bindings: Mapping[str, int]) -> str:
        """Return a literal of a clause with the values of its variables, as far as they are bound."""

        values: dict[str, Term] = {
            name: Constant(self.value(value, clause.variables[name]), "text")
            for name, value in bindings.items()
            if name in clause.variables
        }
        return literal_text(substitute_literal(literal, values))
