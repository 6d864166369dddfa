"""Instantiations of a body: the bindings under which its literals hold, found one by one, from bindings given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from engine.database import Columns
from engine.evaluation.body_aggregates import Aggregate, Totals
from engine.evaluation.vectorized_functors import generate_range
from engine.plan.rule import (
    GENERATORS,
    Absent,
    Compare,
    Compute,
    FlatAtom,
    Fold,
    Literal,
    Match,
    Never,
    Operand,
    Record,
)
from engine.provenance.column_tests import ColumnTests
from engine.provenance.tuple_lookup import TupleLookup
from engine.storage.record_table import RecordTable

Bindings = dict[str, int]
TOGETHER = 64
"""Rows of an atom that the tests of its body are tried on together, at first; each time, eight times as many."""
ROOM = 1 << 16
"""Values of a generator that are looked at together."""


class OutOfSteps(Exception):
    """A search has taken the steps that it was given."""


class BodySolver:
    """Solves bodies on the tuples of a view. A search takes `steps` matches of atoms; then it raises OutOfSteps."""

    def __init__(self, tuples: TupleLookup) -> None:
        view = tuples.view
        self.tuples = tuples
        self.records: Mapping[str, RecordTable] = view.records
        self.tests = ColumnTests(view)
        self.steps = 0

    def solve(self, body: Sequence[Literal], bindings: Bindings) -> Iterator[Bindings]:
        """Yield the bindings, extended, under which all literals hold.

        Literals that nothing can decide, as they read a counter that no literal binds, count as true.
        """
        if not body:
            yield bindings
            return
        at = self.next_literal(body, bindings)
        if at is None:
            yield bindings
            return
        rest = [*body[:at], *body[at + 1 :]]
        literal = body[at]
        satisfied = (
            self.match(literal, bindings, rest) if isinstance(literal, Match) else self.satisfy(literal, bindings)
        )
        for extended in satisfied:
            yield from self.solve(rest, extended)

    def next_literal(self, body: Sequence[Literal], bindings: Bindings) -> int | None:
        """Return the position of the literal to decide next: a ready test, else the atom with the fewest matches."""
        best, fewest = None, 0
        for at, literal in enumerate(body):
            if not isinstance(literal, Match):
                if is_ready(literal, bindings):
                    return at
                continue
            n = self.n_matches(literal, bindings)
            if n == 0:
                return at
            if best is None or n < fewest:
                best, fewest = at, n
        return best

    def n_matches(self, atom: FlatAtom, bindings: Bindings) -> int:
        bound = bound_columns(atom, bindings)
        if not bound:
            return self.tuples.rows(atom.relation).n
        return self.tuples.matching(atom.relation, bound).shape[1]

    def satisfy(self, literal: Literal, bindings: Bindings) -> Iterator[Bindings]:
        """Yield the bindings extended in each way in which one literal holds."""
        match literal:
            case Match():
                yield from self.match(literal, bindings)
            case Absent():
                if not self.is_matched(literal, bindings):
                    yield bindings
            case Compare():
                yield from self.compare(literal, bindings)
            case Compute():
                for value in self.values(literal, bindings):
                    yield from bind(literal.target, value, bindings)
            case Record():
                yield from self.record(literal, bindings)
            case Fold():
                total = self.fold(literal, bindings)
                if total is not None:
                    yield from bind(literal.target, total, bindings)
            case Never():
                pass

    # ---- atoms

    def match(self, atom: FlatAtom, bindings: Bindings, others: Sequence[Literal] = ()) -> Iterator[Bindings]:
        """Yield the bindings extended by the rows that match an atom, but for rows under which some other fails."""
        rows = self.tuples.matching(atom.relation, bound_columns(atom, bindings))
        if not len(rows):
            if self.tuples.rows(atom.relation).n:
                yield bindings
            return
        for row in self.passing(atom, rows, others, bindings):
            self.take_step()
            extended = matched(atom.terms, row, bindings)
            if extended is None:
                continue
            yield extended
            if extended is bindings:
                return  # The atom binds nothing: one row is as good as all.

    def passing(
        self, atom: FlatAtom, rows: Columns, others: Sequence[Literal], bindings: Bindings
    ) -> Iterator[Sequence[int]]:
        """Yield the rows of an atom, but for those under which some other literal fails, as far as columns can tell."""
        begin, n = 0, TOGETHER
        while begin < rows.shape[1]:
            some = rows[:, begin : begin + n]
            self.steps -= some.shape[1] // TOGETHER
            yield from self.tests.passing(atom.terms, some, others, bindings).T.tolist()
            begin, n = begin + n, min(n * 8, ROOM)

    def is_matched(self, atom: FlatAtom, bindings: Bindings) -> bool:
        return next(self.match(atom, bindings), None) is not None

    def take_step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise OutOfSteps

    # ---- values

    def compare(self, literal: Compare, bindings: Bindings) -> Iterator[Bindings]:
        left, right = value_of(literal.left, bindings), value_of(literal.right, bindings)
        if left is None or right is None:
            unbound, value = (literal.left, right) if left is None else (literal.right, left)
            assert isinstance(unbound, str) and value is not None
            yield {**bindings, unbound: value}
        elif self.tests.predicate(literal)(column(left), column(right)).all():
            yield bindings

    def values(self, literal: Compute, bindings: Bindings) -> Iterator[int]:
        """Yield the values of a functor, which has none for some arguments, and of a generator several."""
        arguments = [column(bindings[a] if isinstance(a, str) else a) for a in literal.arguments]
        if literal.functor in GENERATORS:
            for _, values in generate_range(literal.kind)(arguments, ROOM):
                yield from values.tolist()
            return
        values, defined = self.tests.functor(literal)(*arguments)
        if defined is None or bool(np.all(defined)):
            yield int(np.ravel(values)[0])

    def record(self, literal: Record, bindings: Bindings) -> Iterator[Bindings]:
        table, id = self.records[literal.table], bindings.get(literal.target)
        if id is None:
            fields = np.array([[bindings[f] if isinstance(f, str) else f] for f in literal.fields], table.dtype)
            (id,) = table.find(fields, 1, np.arange(len(fields))).tolist()
            if id:
                yield {**bindings, literal.target: id}
        elif id:
            extended = matched(literal.fields, table.columns[:, id - 1].tolist(), bindings)
            if extended is not None:
                yield extended

    # ---- aggregates

    def fold(self, literal: Fold, bindings: Bindings) -> int | None:
        """Return the aggregate over the bindings of its body, None if it has no value."""
        aggregate = Aggregate(literal.aggregate, literal.kind, self.tests.functors)
        values = [0 if literal.value is None else value_of(literal.value, b) for b in self.folded(literal, bindings)]
        totals = Totals(0, 1, aggregate, 1)
        chunk = np.array([[0] * len(values), values], np.int64)
        totals.apply(None, chunk, len(values))  # type: ignore[arg-type]  # It needs no worker.
        return int(totals.result()[0]) if values or aggregate.of_empty else None

    def folded(self, literal: Fold, bindings: Bindings) -> list[Bindings]:
        """Return the bindings of an aggregate's body, those that differ in a variable of the program."""
        outside = {name: bindings[name] for name in literal.injected}
        found: dict[tuple, Bindings] = {}
        for inside in self.solve(literal.body, outside):
            found.setdefault(tuple(sorted((k, v) for k, v in inside.items() if not k.startswith("#"))), inside)
        return list(found.values())


def column(value: int) -> np.ndarray:
    return np.array([value], np.int64)


def value_of(term: Operand, bindings: Mapping[str, int]) -> int | None:
    """Return the value of a term, None for a variable that is not bound."""
    return bindings.get(term) if isinstance(term, str) else term


def bind(target: str, value: int, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings in which a variable has a value, none if it has another one."""
    if bindings.get(target, value) == value:
        yield {**bindings, target: value}


def bound_columns(atom: FlatAtom, bindings: Mapping[str, int]) -> dict[int, int]:
    """Return the values that an atom's columns must have."""
    found: dict[int, int] = {}
    for at, term in enumerate(atom.terms):
        value = None if term is None else value_of(term, bindings)
        if value is not None:
            found[at] = value
    return found


def matched(terms: Sequence[Operand | None], row: Sequence[int], bindings: Bindings) -> Bindings | None:
    """Return the bindings under which terms have these values, the same object if nothing is bound; None if none."""
    extended = bindings
    for term, value in zip(terms, row, strict=True):
        if term is None:
            continue
        known = value_of(term, extended)
        if known is None:
            assert isinstance(term, str)
            extended = {**extended, term: value}
        elif known != value:
            return None
    return extended


def is_ready(literal: Literal, bindings: Mapping[str, int]) -> bool:
    """Return True if a literal other than a positive atom can be decided."""

    def all_bound(terms: Sequence[Operand | None]) -> bool:
        return all(term is None or value_of(term, bindings) is not None for term in terms)

    match literal:
        case Absent():
            return all_bound(literal.terms)
        case Compare(op="="):
            return all_bound((literal.left,)) or all_bound((literal.right,))
        case Compare():
            return all_bound((literal.left, literal.right))
        case Compute():
            return all_bound(literal.arguments)
        case Record():
            return literal.target in bindings or (None not in literal.fields and all_bound(literal.fields))
        case Fold():
            return all(name in bindings for name in literal.injected)
    return True
