"""Tests of a body on many rows of one of its atoms together: comparisons, functors and fields of records.

A test is tried if bindings, the atom and tests before it have its variables; one that needs others passes all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from engine.database import Columns
from engine.evaluation.vectorized_functors import Functors
from engine.incremental.maintained_program import MaintainedProgram
from engine.plan.rule import GENERATORS, Compare, Compute, Literal, Operand, Record


class ColumnTests:
    """The tests of a view's rules, with their compiled functors and the records as they are now."""

    def __init__(self, view: MaintainedProgram) -> None:
        self.functors = Functors(view.prepared.number_bits, view.symbols)
        self.records = view.records
        self._made: dict[tuple[str | int, ...], Callable] = {}

    def predicate(self, literal: Compare) -> Callable:
        key = literal.op, literal.kind
        if key not in self._made:
            self._made[key] = self.functors.predicate(*key)
        return self._made[key]

    def functor(self, literal: Compute) -> Callable:
        # One that has values of its own kept for each row of arguments serves one number of arguments.
        key = literal.functor, literal.kind, literal.result, len(literal.arguments)
        if key not in self._made:
            self._made[key] = self.functors.functor(*key[:3])
        return self._made[key]

    def passing(
        self, terms: Sequence[Operand | None], rows: Columns, literals: Sequence[Literal], bindings: Mapping[str, int]
    ) -> Columns:
        """Return the rows of an atom with these terms under which no literal fails that can be decided; [arity, n]."""
        held = HeldRows(terms, rows, bindings)
        pending = [literal for literal in literals if isinstance(literal, Compare | Compute | Record)]
        while held.n and (open_ := [literal for literal in pending if not self._decide(literal, held)]) != pending:
            pending = open_
        return held.rows

    def _decide(self, literal: Compare | Compute | Record, held: HeldRows) -> bool:
        """Keep the rows under which a literal holds, with what it binds; return False if it cannot be decided."""
        match literal:
            case Compare():
                return self._compare(literal, held)
            case Compute():
                return self._compute(literal, held)
            case Record():
                return self._take_apart(literal, held)

    def _compare(self, literal: Compare, held: HeldRows) -> bool:
        left, right = held.values(literal.left), held.values(literal.right)
        if left is not None and right is not None:
            held.keep(np.asarray(self.predicate(literal)(left, right)))
        elif literal.op == "=" and left is not None:
            held.bind(literal.right, left)
        elif literal.op == "=" and right is not None:
            held.bind(literal.left, right)
        else:
            return False
        return True

    def _compute(self, literal: Compute, held: HeldRows) -> bool:
        arguments = [held.values(each) for each in literal.arguments]
        if literal.functor in GENERATORS or any(each is None for each in arguments):
            return False
        values, defined = self.functor(literal)(*arguments)
        if defined is not None:
            held.keep(defined)
            values = values[defined]
        held.bind(literal.target, values)
        return True

    def _take_apart(self, literal: Record, held: HeldRows) -> bool:
        ids = held.values(literal.target)
        if ids is None:
            return False
        held.keep(ids > 0)
        for field, term in enumerate(literal.fields):
            if term is not None:
                held.bind(term, self.records[literal.table].field(field, ids[ids > 0]))
                ids = held.values(literal.target)
                assert ids is not None, "it was there before rows went"
        return True


class HeldRows:
    """Rows of an atom, [arity, n], and the values that variables have in each of them."""

    def __init__(self, terms: Sequence[Operand | None], rows: Columns, bindings: Mapping[str, int]) -> None:
        self.rows, self.bindings = rows, bindings
        self.columns: dict[str, np.ndarray] = {}
        for term, column in zip(terms, rows, strict=True):
            if isinstance(term, str):
                self.columns.setdefault(term, column.astype(np.int64))

    @property
    def n(self) -> int:
        return self.rows.shape[1]

    def values(self, term: Operand) -> np.ndarray | None:
        """Return the values of a term, None if they are not known."""
        if term in self.columns:
            return self.columns[term]
        value = self.bindings.get(term) if isinstance(term, str) else term
        return None if value is None else np.full(self.n, value, np.int64)

    def bind(self, term: Operand, values: np.ndarray) -> None:
        """Give a variable its values; keep the rows in which it had no other, as a constant has."""
        had = self.values(term)
        if had is None:
            assert isinstance(term, str)
            self.columns[term] = values.astype(np.int64)
        else:
            self.keep(had == values)

    def keep(self, holds: np.ndarray) -> None:
        self.rows = self.rows[:, holds]
        self.columns = {name: column[holds] for name, column in self.columns.items()}
