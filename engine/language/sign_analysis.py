"""Signs: which numeric columns and terms are provably not negative.

A column's sign is the least over its clauses; columns of relations that read facts from outside are unknown, unless
they are unsigned. Assumed for all columns at first and taken back until nothing changes (a greatest fixpoint), so that
recursion proves itself by induction. Overflow is left out of account.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from engine.language.checked_program import CheckedClause, Relation
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Literal,
    RecordTerm,
    Term,
    Variable,
)
from engine.language.traverse import literal_terms
from engine.scalar_functors import apply

UNKNOWN, NON_NEGATIVE, POSITIVE = 0, 1, 2
NUMERIC = ("number", "unsigned", "float")
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


class Signs:
    """The signs of all columns of a program."""

    def __init__(
        self, relations: Mapping[str, Relation], clauses: Iterable[CheckedClause], inputs: Collection[str], bits: int
    ) -> None:
        self.relations, self.bits = relations, bits
        clauses = list(clauses)
        derived = {clause.head.relation for clause in clauses} - set(inputs)
        self.columns = {
            (name, column): self._assumed(field.type.kind, name in derived)
            for name, relation in relations.items()
            for column, field in enumerate(relation.columns)
        }
        numeric = {name for (name, _), sign in self.columns.items() if sign}
        lowering = [clause for clause in clauses if clause.head.relation in numeric]
        while any([self._lower(clause) for clause in lowering]):
            pass

    @staticmethod
    def _assumed(kind: str, is_derived: bool) -> int:
        if kind not in NUMERIC:
            return UNKNOWN
        return POSITIVE if is_derived else NON_NEGATIVE if kind == "unsigned" else UNKNOWN

    def _lower(self, clause: CheckedClause) -> bool:
        """Lower the signs of the head's columns to what a clause gives them; return whether that changed any."""
        env, name, changed = self.of_clause(clause), clause.head.relation, False
        for column, term in enumerate(clause.head.arguments):
            sign = env.of(term.target if isinstance(term, HeadAggregate) else term)
            if sign < self.columns[name, column]:
                self.columns[name, column], changed = sign, True
        return changed

    def of_clause(self, clause: CheckedClause) -> ClauseSigns:
        return ClauseSigns(self, clause)


class ClauseSigns:
    """The signs of the terms of one clause, as far as its body tells."""

    def __init__(self, signs: Signs, clause: CheckedClause) -> None:
        self.bits = signs.bits
        unsigned = (name for name, type in clause.variables.items() if type.kind == "unsigned")
        self.variables: dict[str, int] = dict.fromkeys(unsigned, NON_NEGATIVE)
        for literal in clause.body:
            if isinstance(literal, Atom):
                for column, term in enumerate(literal.arguments):
                    self._raise(term, signs.columns[literal.relation, column])
        before = None
        while before != self.variables:
            before = dict(self.variables)
            for literal in clause.body:
                self._learn(literal)

    def of(self, term: Term) -> int:
        match term:
            case Variable():
                return self.variables.get(term.name, UNKNOWN)
            case Constant():
                return sign_of(term.value)
            case Aggregate():
                return NON_NEGATIVE if term.kind == "count" else UNKNOWN
            case Functor():
                value = constant_value(term, self.bits)
                return self._of_functor(term) if value is None else sign_of(value)
        return UNKNOWN

    def _of_functor(self, term: Functor) -> int:
        signs = [self.of(argument) for argument in term.arguments]
        match term.name:
            case "+" if term.kind in NUMERIC and min(signs) >= NON_NEGATIVE:
                return max(signs)
            case "max":
                return max(signs)
            case "*" | "min" | "itof" | "utof":
                # A product of small floats may be zero.
                return min(*signs, NON_NEGATIVE) if term.name == "*" and term.kind == "float" else min(signs)
            case "/" | "^" | "ftoi":
                return min(*signs, NON_NEGATIVE)
            case "%":
                return min(signs[0], NON_NEGATIVE)
            case "band" | "strlen" | "land" | "lor" | "lxor" | "lnot":
                return NON_NEGATIVE if term.name != "band" else min(max(signs), NON_NEGATIVE)
        return NON_NEGATIVE if term.kind == "unsigned" and term.name in ("+", "-", "*", "/") else UNKNOWN

    def _learn(self, literal: Literal) -> None:
        """Raise the signs of variables that a comparison bounds from below."""
        if isinstance(literal, Constraint) and literal.op in FLIPPED:
            left, right = literal_terms(literal)
            self._bound(left, literal.op, right)
            self._bound(right, FLIPPED[literal.op], left)

    def _bound(self, left: Term, op: str, right: Term) -> None:
        sign = UNKNOWN if isinstance(right, RecordTerm) else self.of(right)
        if op == ">" and sign >= NON_NEGATIVE:
            self._raise(left, POSITIVE)
        elif op in (">=", "="):
            self._raise(left, sign)

    def _raise(self, term: Term, sign: int) -> None:
        if isinstance(term, Variable):
            self.variables[term.name] = max(sign, self.variables.get(term.name, UNKNOWN))


def sign_of(value: object) -> int:
    if not isinstance(value, (int, float)):
        return UNKNOWN
    return POSITIVE if value > 0 else NON_NEGATIVE if value == 0 else UNKNOWN


def constant_value(term: Term, bits: int) -> object:
    """Return the value of a term without variables, or None."""
    if isinstance(term, Constant):
        return term.value
    if not isinstance(term, Functor) or term.name in ("autoinc", "range", "ord"):
        return None
    arguments = tuple(constant_value(argument, bits) for argument in term.arguments)
    return None if None in arguments else apply(term.name, term.kind, arguments, bits, term.type_argument)
