"""Queries: the rows of one relation that agree with some constants, or the values for which a body holds.

What they do not need is not derived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from engine.database import Columns, Database
from engine.evaluation.evaluator import EvaluateOptions, evaluate
from engine.language.build_items import ANSWERS
from engine.language.checked_program import CheckedProgram
from engine.language.extension import DEMAND, question
from engine.language.parse_query import read_query
from engine.language.source import Source
from engine.language.syntax import Atom, Constant, Variable
from engine.plan.magic_sets import demand
from engine.plan.value_encoding import encode
from engine.result import Result
from engine.symbols import Symbols

if TYPE_CHECKING:
    from engine.tables import Table


def query(
    program: CheckedProgram, text: str, source: Database | Mapping[str, Table], **options: Unpack[EvaluateOptions]
) -> Result:
    """Answer a query such as `tc(1, y)`: return the rows of that relation, alone, that agree with it.

    The program is rewritten by magic sets, so that what is derived depends on the query. `options` are those of
    `evaluate`. Raises ProgramError for a query that does not fit the program, and EvaluationError.
    """
    return Question(program, text).ask(source, **options)


def ask(
    program: CheckedProgram,
    text: str,
    source: Database | Mapping[str, Table],
    sources: Iterable[Source] = (),
    **options: Unpack[EvaluateOptions],
) -> Result:
    """Answer a query such as `tc(x, y), !arc(x, y), y < 3`, which may read relations of further sources.

    The answers are the relation ANSWERS of the result, with a column for each variable. `options` are those of
    `evaluate`. Raises ProgramError and EvaluationError.
    """
    return evaluate(answering(program.extended(question(program, text, sources))), source, **options)


def answering(program: CheckedProgram) -> CheckedProgram:
    """Return the program that derives what the relation ANSWERS of a program needs, by magic sets.

    Parameters of a query have one value at a time.
    """
    columns = program.relations[ANSWERS].columns
    goal = Atom(ANSWERS, tuple(Variable(column.name) for column in columns))
    return demand(program, goal, frozenset({DEMAND})).program


class Question:
    """A query on a program: `goal` is its atom, `program` derives what it needs."""

    def __init__(self, program: CheckedProgram, text: str) -> None:
        self.goal, self._asked = read_query(text, program), program
        self._demanded = demand(program, self.goal)
        self.program = self._demanded.program

    def ask(self, source: Database | Mapping[str, Table], **options: Unpack[EvaluateOptions]) -> Result:
        """Return the answers on some data."""
        result = evaluate(self.program, source, **options)
        found = result.relation(self._demanded.answers)
        rows = completed(found, self._demanded.columns, self.goal, result.symbols)
        answers = {self.goal.relation: agreeing(rows, self.goal, result.symbols)}
        return replace(result, relations=answers, program=self._asked)


def evaluate_outputs(
    program: CheckedProgram, read: Callable[[CheckedProgram], Database], **options: Unpack[EvaluateOptions]
) -> Result:
    """Evaluate a program for its outputs, on the facts that `read` gives it; `options` are those of `evaluate`.

    Where `.pragma "magic-transform"` asks for it and there is one output, this answers a query for all its rows.
    """
    query = output_query(program)
    if query is None:
        return evaluate(program, read(program), **options)
    question = Question(program, query)
    return question.ask(read(question.program), **options)


def output_query(program: CheckedProgram) -> str | None:
    """The query that stands for the only output of a program that asks for magic sets, or None."""
    names = {directive.relation for directive in (*program.outputs, *program.printsizes)}
    if len(names) != 1 or not any(key == "magic-transform" for key, _ in program.pragmas):
        return None
    (name,) = names
    return f"{name}({', '.join(f'x{i}' for i in range(program.relations[name].arity))})"


def completed(rows: Columns, columns: tuple[int, ...], goal: Atom, symbols: Symbols) -> Columns:
    """Rows that have some of the columns of a goal, with the constants of the goal in the others."""
    if len(columns) == len(goal.arguments):
        return rows
    wide = np.empty((len(goal.arguments), rows.shape[1]), rows.dtype)
    wide[list(columns)] = rows
    for i, term in enumerate(goal.arguments):
        if i not in columns and isinstance(term, Constant):
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
