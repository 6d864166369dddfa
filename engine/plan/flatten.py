"""Flatten checked clauses to rules: nested terms become literals, constants their encoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count

from engine.language.checked_program import CheckedClause, CheckedProgram
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Negation,
    RecordTerm,
    Term,
    Truth,
    Variable,
    Wildcard,
)
from engine.language.syntax import Literal as SyntaxLiteral
from engine.plan.rule import Absent, Compare, Compute, Fold, Literal, Match, Never, Operand, Record, Rule
from engine.plan.value_encoding import is_wide, result_kind

Encode = Callable[[Constant], int]


def flatten(clause: CheckedClause, program: CheckedProgram, encode: Encode) -> Rule:
    """Return the rule of a clause; of one that aggregates in its head, the rule that derives the contributions."""
    return Flattener(clause, program, encode).rule()


class Flattener:
    """The state of flattening one clause: its variables' kinds and the names given out."""

    def __init__(self, clause: CheckedClause, program: CheckedProgram, encode: Encode) -> None:
        self.clause, self.program, self.encode = clause, program, encode
        self.kinds = {name: type_.kind for name, type_ in clause.variables.items()}
        self.numbers = count()

    @cached_property
    def occurrences(self) -> Counter[str]:
        """How often each variable stands in the clause."""
        return Counter(v for part in (self.clause.head, *self.clause.body) for v in variables(part))

    def rule(self) -> Rule:
        head = self.clause.head
        body = self.literals(self.clause.body)
        terms = tuple(self.operand(term, body) for term in contribution(head))
        wide = {name: is_wide(kind, self.program.number_bits) for name, kind in self.kinds.items()}
        text = f"{head.relation} ({self.clause.span.source}:{self.clause.span.line})"
        return Rule(head.relation, terms, tuple(body), wide, text, self.clause)

    def fresh(self, kind: str) -> str:
        name = f"#{next(self.numbers)}"
        self.kinds[name] = kind
        return name

    # ---- literals

    def literals(self, body: Sequence[SyntaxLiteral]) -> list[Literal]:
        out: list[Literal] = []
        for literal in body:
            match literal:
                case Atom():
                    out.append(Match(literal.relation, self.terms(literal, out)))
                case Negation():
                    out.append(Absent(literal.atom.relation, self.terms(literal.atom, out)))
                case Constraint():
                    self.constraint(literal, out)
                case Truth(value=False):
                    out.append(Never())
        return out

    def terms(self, atom: Atom, out: list[Literal]) -> tuple[Operand | None, ...]:
        return tuple(None if isinstance(t, Wildcard) else self.operand(t, out) for t in atom.arguments)

    def constraint(self, node: Constraint, out: list[Literal]) -> None:
        left, right = node.left, node.right
        if node.op == "=" and isinstance(right, Variable | Constant) and not isinstance(left, Variable | Constant):
            left, right = right, left
        if node.op == "=" and isinstance(right, Functor | RecordTerm | Aggregate):
            self.define(self.operand(left, out), right, out, node.kind)
        else:
            out.append(Compare(node.op, node.kind, self.operand(left, out), self.operand(right, out)))

    def define(self, left: Operand, term: Term, out: list[Literal], kind: str) -> None:
        """Emit `left` = the value of a functor, record or aggregate."""
        target = left if isinstance(left, str) else self.fresh(kind)
        if target != left:
            out.append(Compare("=", kind, target, left))
        match term:
            case Functor():
                arguments = tuple(self.operand(a, out) for a in term.arguments)
                out.append(Compute(target, term.name, term.kind, arguments, result_kind(term)))
            case RecordTerm():
                fields = (None if isinstance(a, Wildcard) else self.operand(a, out) for a in term.arguments)
                out.append(Record(target, term.type, tuple(fields)))
            case Aggregate():
                out.append(self.fold(target, term))

    def fold(self, target: str, term: Aggregate) -> Fold:
        inside = Counter(variables(term))
        injected = frozenset(v for v, n in inside.items() if self.occurrences[v] > n)
        body = self.literals(term.body)
        value = None if term.target is None else self.operand(term.target, body)
        return Fold(target, term.kind, term.kind_of_value, value, tuple(body), injected)

    # ---- terms

    def operand(self, term: Term, out: list[Literal]) -> Operand:
        """Return the variable or constant that stands for a term; literals that define it go to `out`."""
        match term:
            case Variable():
                return term.name
            case Constant():
                return self.encode(term)
            case Functor():
                target = self.fresh(result_kind(term))
            case RecordTerm():
                target = self.fresh("record")
        self.define(target, term, out, self.kinds[target])
        return target


def contribution(head: Atom) -> tuple[Term, ...]:
    """Return the terms of a head, its aggregates by their values, and behind them the contributors of these."""
    aggregates = [term for term in head.arguments if isinstance(term, HeadAggregate)]
    terms = (term.target if isinstance(term, HeadAggregate) else term for term in head.arguments)
    return (*terms, *(key for aggregate in aggregates for key in aggregate.contributors))


def variables(node: object) -> Iterator[str]:
    """The variables of a term or literal, once per occurrence."""
    match node:
        case Variable():
            yield node.name
        case Atom() | Functor() | RecordTerm():
            for term in node.arguments:
                yield from variables(term)
        case Negation():
            yield from variables(node.atom)
        case Constraint():
            yield from variables(node.left)
            yield from variables(node.right)
        case Aggregate():
            yield from variables(node.target)
            for literal in node.body:
                yield from variables(literal)
        case HeadAggregate():
            for term in (node.target, *node.contributors):
                yield from variables(term)
