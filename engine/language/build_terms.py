"""Tree building for bodies and terms: callbacks that turn what the grammar matched into nodes of `syntax`.

Bodies are in disjunctive normal form from the start: a tuple of alternatives, each a tuple of literals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from engine.language.diagnostics import Report
from engine.language.literals import address, integer, unquote
from engine.language.surface_syntax import Extremum
from engine.language.syntax import (
    Aggregate,
    Atom,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Span,
    Term,
    Truth,
    Variable,
    Vertical,
    Wildcard,
)
from engine.language.traverse import children, literal_terms

Plain = tuple[tuple[Literal, ...], ...]
"""The alternatives of a body, in disjunctive normal form."""
Body = tuple[tuple[Literal | Extremum, ...], ...]
"""The same with `is_min` and `is_max`, which become aggregates of the head."""

MAX_DEPTH = 200
MAX_ALTERNATIVES = 1000

OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OPPOSITE |= {"match": "not_match", "contains": "not_contains"}
OPPOSITE |= {"not_match": "match", "not_contains": "contains"}

LEVELS: tuple[tuple[str, ...], ...] = (
    *(("lor",), ("lxor",), ("land",), ("bor",), ("bxor",), ("band",), ("bshl", "bshr", "bshru")),
    *(("+", "-"), ("*", "/", "%"), ("^",)),
)
PRECEDENCE = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
# Prefix operators bind less than `^` only: -x^2 is -(x^2).
PREFIX_LEVEL = PRECEDENCE["^"]


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix operator and its operand, before precedence is applied."""

    operator: Token
    operand: Term | Prefix


def conjoin(parts: Iterable[Body]) -> Body | None:
    """Return the conjunction of bodies in disjunctive normal form, or None if it has too many alternatives."""
    result: Body = ((),)
    for alternatives in parts:
        if len(result) * len(alternatives) > MAX_ALTERNATIVES:
            return None
        result = tuple(left + right for left in result for right in alternatives)
    return result


def depth_of(terms: Iterable[Term]) -> int:
    """Return how deep the terms are nested; without recursion, as they may be too deep for it."""
    depth, level = 0, list(terms)
    while level:
        depth += 1
        level = [part for term in level for part in _parts(term)]
    return depth


def _parts(term: Term) -> Iterable[Term]:
    if not isinstance(term, Aggregate):
        return children(term)
    inner = [part for literal in term.body for part in literal_terms(literal)]
    return inner if term.target is None else [term.target, *inner]


def negate_literal(literal: Literal) -> Literal:
    if isinstance(literal, Atom):
        return Negation(literal, span=literal.span)
    if isinstance(literal, Negation):
        return literal.atom
    if isinstance(literal, Truth):
        return replace(literal, value=not literal.value)
    return replace(literal, op=OPPOSITE[literal.op])


class TermBuilder:
    """Callbacks for bodies and terms. `source` names the text being read; problems go to `report`."""

    source: str = ""
    report: Report

    def span(self, first: Any, last: Any = None) -> Span:
        """Return the region from the start of `first` to the end of `last`, tokens or nodes."""
        last = first if last is None else last
        start: Any = first if isinstance(first, Token) else first.span
        end: Any = last if isinstance(last, Token) else last.span
        return Span(self.source, start.line, start.column, end.end_line, end.end_column)

    def unsupported(self, what: str, span: Span) -> None:
        self.report.error("E005", f"{what} is not supported", span)

    def unquote(self, token: Token) -> str:
        try:
            return unquote(token)
        except ValueError as error:
            self.report.error("E002", str(error), self.span(token), "write a backslash as '\\\\'")
            return str(token)

    # ---- bodies

    def body(self, *alternatives: Body) -> Body:
        return tuple(literals for alternative in alternatives for literals in alternative)

    def conjunction(self, *terms: Body | Literal) -> Body:
        return self._conjoin([term if isinstance(term, tuple) else ((term,),) for term in terms])

    def _conjoin(self, parts: list[Body]) -> Body:
        result = conjoin(parts)
        if result is not None:
            return result
        literal = next(literal for part in parts for alternative in part for literal in alternative)
        message = f"the disjunctions of the body multiply to more than {MAX_ALTERNATIVES} alternatives"
        self.report.error("E007", message, literal.span, "make a relation of one of them")
        return (tuple(literal for part in parts for literal in part[0]),)  # It binds what the others would.

    def negation(self, start: Token, term: Body | Literal) -> Body:
        """Return the negation of a body, by De Morgan's laws."""
        if isinstance(term, Atom):
            return ((Negation(term, span=self.span(start, term)),),)
        body = self._without_extrema(term if isinstance(term, tuple) else ((term,),), "a negation")
        return self._conjoin([tuple((negate_literal(literal),) for literal in alternative) for alternative in body])

    def _without_extrema(self, body: Body, place: str) -> Plain:
        for extremum in (literal for literals in body for literal in literals if isinstance(literal, Extremum)):
            message = f"'is_{extremum.kind}' stands in {place}"
            self.report.error("E060", message, extremum.span, "it belongs to the body of the rule itself")
        return tuple(tuple(x for x in literals if not isinstance(x, Extremum)) for literals in body)

    def compare(self, left: Term, op: str, right: Term) -> Constraint:
        return Constraint(op, left, right, span=self.span(left, right))

    def comparison(self, token: Token) -> str:
        return str(token)

    def predicate(self, op: Token, left: Term, right: Term, end: Token) -> Constraint:
        return Constraint(str(op), left, right, span=self.span(op, end))

    def truth(self, token: Token) -> Truth:
        return Truth(token == "true", span=self.span(token))

    def atom(self, name: Token, arguments: tuple[Term, ...] | None, end: Token) -> Atom:
        return Atom(str(name), arguments or (), span=self.span(name, end))

    def qname(self, *parts: Token) -> Token:
        if len(parts) == 1:
            return parts[0]
        first, last = parts[0], parts[-1]
        place = {"line": first.line, "column": first.column, "end_line": last.end_line, "end_column": last.end_column}
        return Token("IDENT", ".".join(parts), **place)

    def args(self, *arguments: Term) -> tuple[Term, ...]:
        return arguments

    # ---- operators

    def arg(self, first: Term | Prefix, *rest: Term | Token | Prefix) -> Term:
        """Apply the precedence of operators to operands and operators in turn."""
        if not rest and not isinstance(first, Prefix):
            return first
        flat: list[Term | Token] = []
        for part in (first, *rest):
            while isinstance(part, Prefix):
                flat.append(part.operator)
                part = part.operand
            flat.append(part)
        if len(flat) > 2 * MAX_DEPTH:
            last = flat[-1]
            self.too_deep(self.span(flat[0], last))
            assert not isinstance(last, Token)
            return last
        flat.reverse()
        return self._climb(flat, 0)

    def too_deep(self, span: Span) -> None:
        message = f"terms are nested more than {MAX_DEPTH} levels deep"
        self.report.error("E007", message, span, "give parts of them names, by equations or relations")

    def _climb(self, pending: list[Term | Token], level: int) -> Term:
        """Consume an operand and the operators of at least `level` (precedence climbing)."""
        left = pending.pop()
        if isinstance(left, Token):
            left = self._apply_prefix(left, self._climb(pending, PREFIX_LEVEL))
        while pending and isinstance(operator := pending[-1], Token) and PRECEDENCE[operator] >= level:
            pending.pop()
            is_right_associative = operator == "^"
            right = self._climb(pending, PRECEDENCE[operator] + (not is_right_associative))
            left = Functor(str(operator), (left, right), span=self.span(left, right))
        return left

    def _apply_prefix(self, operator: Token, operand: Term) -> Term:
        span = self.span(operator, operand)
        if operator != "-":
            return Functor(str(operator), (operand,), span=span)
        match operand:
            case Constant(value=int() | float() as value, type="number" | "float") if value >= 0:
                return Constant(-value, operand.type, span=span)
        return Functor("neg", (operand,), span=span)

    def prefixed(self, operator: Token, operand: Term | Prefix) -> Prefix:
        return Prefix(operator, operand)

    def operator(self, token: Token) -> Token:
        return token

    def parenthesised(self, term: Term) -> Term:
        return term

    # ---- primaries

    def variable(self, token: Token) -> Variable | Constant:
        if token == "__FILE__":
            return Constant(self.source, "symbol", span=self.span(token))
        if token == "__LINE__":
            return Constant(token.line, "number", span=self.span(token))
        return Variable(str(token), span=self.span(token))

    def wildcard(self, token: Token) -> Wildcard:
        return Wildcard(span=self.span(token))

    def string(self, token: Token) -> Constant:
        return Constant(self.unquote(token), "symbol", span=self.span(token))

    def number(self, token: Token) -> Constant:
        return Constant(integer(token), "number", span=self.span(token))

    def unsigned(self, token: Token) -> Constant:
        return Constant(integer(token), "unsigned", span=self.span(token))

    def float(self, token: Token) -> Constant:
        return Constant(float(token), "float", span=self.span(token))

    def address(self, token: Token) -> Constant:
        try:
            value = address(token)
        except ValueError as error:
            self.report.error("E003", str(error), self.span(token))
            value = 0
        return Constant(value, "number", span=self.span(token))

    def nil(self, token: Token) -> Constant:
        return Constant(None, "nil", span=self.span(token))

    def record(self, start: Token, arguments: tuple[Term, ...] | None, end: Token) -> RecordTerm:
        return RecordTerm(arguments or (), span=self.span(start, end))

    def branch_term(self, start: Token, name: Token, arguments: tuple | None, end: Token) -> RecordTerm:
        return RecordTerm(arguments or (), str(name), span=self.span(start, end))

    def bare_branch(self, start: Token, name: Token) -> RecordTerm:
        return RecordTerm((), str(name), span=self.span(start, name))

    def counter(self, start: Token, end: Token | None = None) -> Functor:
        return Functor("autoinc", (), span=self.span(start, end))

    def iteration(self, start: Token, end: Token) -> Functor:
        self.unsupported("'recursive_iteration_cnt'", self.span(start, end))
        return Functor("autoinc", (), span=self.span(start, end))

    def cast(self, start: Token, term: Term, type: Token, end: Token) -> Functor:
        return Functor("as", (term,), str(type), span=self.span(start, end))

    def functor(self, name: Token, arguments: tuple[Term, ...] | None, end: Token) -> Functor:
        return Functor(str(name), arguments or (), span=self.span(name, end))

    def functor_of_several(self, name: Token, *rest: Any) -> Functor:
        *arguments, end = rest
        span = self.span(name, end)
        if name not in ("min", "max"):
            self.report.error("E027", f"'{name}' is an aggregate, not a functor", span, f"write '{name} x : {{ … }}'")
        return Functor(str(name), tuple(arguments), span=span)

    def user_functor(self, start: Token, name: Token, _: object, end: Token) -> Constant:
        span = self.span(start, end)
        self.unsupported(f"the user-defined functor '@{name}'", span)
        return Constant(0, "number", span=span)

    # ---- aggregates

    def aggregate_body(self, body: Body | Atom, end: Token | None = None) -> tuple[Body, object]:
        return (body, end) if isinstance(body, tuple) else (((body,),), body)

    def aggregate(self, kind: Token, target: Term | None, rest: tuple[Body, object]) -> Aggregate:
        body, end = rest
        span = self.span(kind, end)
        if len(body) != 1:
            self.unsupported("a disjunction inside an aggregate", span)
        body = self._without_extrema(body, "an aggregate")
        if (target is None) != (kind == "count"):
            needs = "takes no target" if kind == "count" else "needs a target"
            help = "write 'count : { … }'" if kind == "count" else f"write '{kind} x : {{ … }}'"
            self.report.error("E012", f"the aggregate '{kind}' {needs}", span, help)
        return Aggregate(str(kind), target, body[0], span=span)

    def head_aggregate(self, token: Token, contribution: Term | tuple[Term, ...], end: Token) -> HeadAggregate:
        """Return `kind<…>`; `mcount` and `msum` are counts and sums, a count sums ones over what it counts."""
        kind, span = str(token).removeprefix("m") if token in ("mcount", "msum") else str(token), self.span(token, end)
        *contributors, target = contribution if isinstance(contribution, tuple) else (contribution,)
        if kind == "count":
            return HeadAggregate(kind, Constant(1, "number", span=span), (*contributors, target), span=span)
        if contributors and kind != "sum":
            self.report.error("E012", f"the aggregate '{kind}' takes one value", span, f"write '{kind}<x>'")
        return HeadAggregate(kind, target, tuple(contributors), span=span)

    def contributors(self, *terms: Term) -> tuple[Term, ...]:
        return terms

    def value_and_contributors(self, value: Term, *contributors: Term) -> tuple[Term, ...]:
        return (*contributors, value)

    def vertical(self, value: Token, _: Token, column: Token) -> Vertical:
        return Vertical(self.variable(value), self.variable(column), span=self.span(value, column))

    def extremum(self, kind: Token, group: tuple[Term, ...], value: Term, end: Token) -> Extremum:
        return Extremum(str(kind).removeprefix("is_"), group, value, span=self.span(kind, end))
