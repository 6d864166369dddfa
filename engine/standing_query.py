"""Queries that a view keeps answered, at the cost of what changes; with parameters, for the values last given."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.database import Columns
from engine.language.build_items import ANSWERS
from engine.language.checked_program import CheckedProgram, Relation
from engine.language.extension import DEMAND, question, renamed
from engine.language.source import Source
from engine.queries import answering
from engine.result import TableSet

if TYPE_CHECKING:
    from engine.incremental.installations import Installed
    from engine.incremental.maintained_program import MaintainedProgram
    from engine.view import Commit, View

NUMBERS = count(1)
"""Numbers for the relations of queries, by which no two of them share a name."""
NUMBERED = "#"
"""Stands before the number, and in no name that a program declares."""


def numbered(program: CheckedProgram, held: Container[str]) -> tuple[CheckedProgram, Mapping[str, str]]:
    """Return a program with names of its own for relations that are not held, and these names."""
    number = next(NUMBERS)
    names = {name: f"{name}{NUMBERED}{number}" for name in program.relations if name not in held}
    return renamed(program, names), names


@contextmanager
def answered(view: MaintainedProgram, program: CheckedProgram) -> Iterator[str]:
    """Give the name of the relation that holds the answers of a query, while its program is installed on a view."""
    program, names = numbered(answering(program), view.relations)
    installed = view.install(program)
    try:
        yield names[ANSWERS]
    finally:
        view.uninstall(installed)


class StandingQuery:
    """A query on a view. It is a context manager, and holds memory until it is closed.

    Its rules are written for it once, by magic sets, so that what its parameters and constants do not ask for is not
    derived; the relations of the view are read as they are. `columns` are its variables without its parameters.
    """

    def __init__(
        self, view: View, text: str, sources: Iterable[Source] = (), parameters: Mapping[str, str] | None = None
    ) -> None:
        """Raises ProgramError and EvaluationError."""
        self._view, self.parameters = view, tuple(parameters or ())
        held = view.program
        asked = answering(question(held, text, sources, parameters or {}))
        self.program, names = numbered(asked, held.relations)
        self.name, self._demand = names[ANSWERS], names.get(DEMAND, "")
        self.columns = self.program.relations[self.name].columns[len(self.parameters) :]
        self._declared = declaring(self.program, Relation(ANSWERS, self.columns))
        self._given: Columns | None = None
        self._installed: Installed = view.install(self.program)

    def __enter__(self) -> StandingQuery:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go what only this query needs."""
        self._view.uninstall(self._installed)

    def answers(self, *values: Any) -> TableSet:
        """Return the answers as they are now, in the relation ANSWERS, for values of the parameters.

        Raises TableError for a value that is not of its type.
        """
        if len(values) != len(self.parameters):
            raise TypeError(f"the query has {len(self.parameters)} parameters, {len(values)} values are given")
        if self.parameters:
            self._ask_for(values)
        return self._read(self._view.relations[self.name])

    def inserted(self, commit: Commit) -> TableSet:
        """Return the answers that a commit has brought."""
        return self._read(commit.inserted.relations[self.name])

    def deleted(self, commit: Commit) -> TableSet:
        """Return the answers that a commit has taken away."""
        return self._read(commit.deleted.relations[self.name])

    @property
    def n_bytes(self) -> int:
        """The memory that its relations and their indexes take, without those that it shares."""
        return self._view.bytes_of(self._installed)

    def _ask_for(self, values: tuple[Any, ...]) -> None:
        """Let these values be the ones that are asked for."""
        rows = self._view.encoded(self._demand, [values])
        if self._given is None or not np.array_equal(rows, self._given):
            before = {} if self._given is None else {self._demand: self._given}
            self._view.change_installed({self._demand: rows}, before)
            self._given = rows

    def _read(self, rows: Columns) -> TableSet:
        return TableSet(self._declared, self._view.symbols, self._view.records, {ANSWERS: rows[len(self.parameters) :]})


def declaring(program: CheckedProgram, relation: Relation) -> CheckedProgram:
    """Return a program of one relation, for reading it."""
    return replace(program, relations={relation.name: relation}, strata=(), inputs=(), outputs=())
