"""Queries: the rows of one relation that agree with some constants, without deriving the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.database import Columns, Database
from engine.language.program import CheckedProgram
from engine.language.query import read_query
from engine.language.syntax import Atom, Constant, Variable
from engine.local.evaluate import evaluate
from engine.plan.magic import demand
from engine.plan.values import encode
from engine.result import Result
from engine.session import Session
from engine.symbols import Symbols


def query(program: CheckedProgram, text: str, source: Database | Session, **options: object) -> Result:
    """Answer a query such as `tc(1, y)`: return the rows of that relation, alone, that agree with it.

    The program is rewritten by magic sets, so that what is derived depends on the query. `options` are those of
    `evaluate`. On a session, which has its own, relations that the program only reads come with the arrangements that
    earlier programs have built. Raises ProgramError for a query that does not fit the program, and EvaluationError.
    """
    return Question(program, text).ask(source, **options)


class Question:
    """A query on a program: `goal` is its atom, `program` derives what it needs."""

    def __init__(self, program: CheckedProgram, text: str) -> None:
        self.goal = read_query(text, program)
        self._demanded = demand(program, self.goal)
        self.program = self._demanded.program

    def ask(self, source: Database | Session, **options: object) -> Result:
        """Return the answers on some data."""
        if isinstance(source, Session):
            result = source.evaluate(self.program, **options)
        else:
            result = evaluate(self.program, source, **options)
        found = result.relation(self._demanded.answers)
        rows = completed(found, self._demanded.columns, self.goal, result.symbols)
        return replace(result, relations={self.goal.relation: agreeing(rows, self.goal, result.symbols)})


def completed(rows: Columns, columns: tuple[int, ...], goal: Atom, symbols: Symbols) -> Columns:
    """Rows that have some of the columns of a goal, with the constants of the goal in the others."""
    if len(columns) == len(goal.arguments):
        return rows
    wide = np.empty((len(goal.arguments), rows.shape[1]), rows.dtype)
    wide[list(columns)] = rows
    for i, term in enumerate(goal.arguments):
        if i not in columns:
            wide[i] = encode(term, symbols)
    return wide


def agreeing(rows: Columns, goal: Atom, symbols: Symbols) -> Columns:
    """The rows that have the constants of a goal, and equal values where it has the same variable."""
    kept = np.ones(rows.shape[1], np.bool_)
    first: dict[str, np.ndarray] = {}
    for term, values in zip(goal.arguments, rows, strict=True):
        if isinstance(term, Constant):
            kept &= values == encode(term, symbols)
        elif isinstance(term, Variable):
            kept &= values == first.setdefault(term.name, values)
    return rows[:, kept]
