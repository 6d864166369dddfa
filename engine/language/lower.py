"""Lowering: a checked clause becomes one whose functors are monomorphic and whose terms carry their kinds."""

from __future__ import annotations

from dataclasses import replace

from engine.language.checked_program import CheckedClause, Type
from engine.language.infer_types import Inference
from engine.language.signatures import INFIX, conversion, result_kind
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constant,
    Constraint,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Term,
    Truth,
    Variable,
)
from engine.language.traverse import map_atom, map_children, map_terms
from engine.language.typesystem import TypeSystem

COMPARED_AS_SYMBOLS = ("match", "contains", "not_match", "not_contains")


class Lowering:
    def __init__(self, types: TypeSystem) -> None:
        self.types = types
        self.inference: Inference

    def clause(self, clause: Clause, inference: Inference) -> CheckedClause:
        self.inference = inference
        self.variables: dict[str, Type] = {}
        head = map_atom(clause.head, self.term)
        body = self.body(clause.body)
        return CheckedClause(head, body, self.variables, clause.plan, span=clause.span)

    def body(self, body: tuple[Literal, ...]) -> tuple[Literal, ...]:
        """Return the literals lowered, without those that always hold."""
        result: list[Literal] = []
        for literal in body:
            if literal != Truth(True):
                equations: list[Literal] = []
                result += [self.literal(literal, equations), *equations]
        return tuple(result)

    def literal(self, literal: Literal, equations: list[Literal]) -> Literal:
        """Return the literal lowered; functors inside patterns become equations."""
        if isinstance(literal, Atom):
            return map_atom(literal, lambda term: self.lift(self.term(term), equations))
        if isinstance(literal, Negation):
            return replace(literal, atom=map_atom(literal.atom, self.term))
        if isinstance(literal, Truth):
            return literal
        literal = self.constraint(literal)
        if literal.op == "=" and literal.kind == "record":
            return map_terms(literal, lambda term: self.lift(term, equations))
        return literal

    def lift(self, term: Term, equations: list[Literal]) -> Term:
        """Return a pattern with a variable for each functor in it: the functor's variables may be bound by others."""
        if isinstance(term, Functor):
            kind = result_kind(term)
            variable = Variable(f"+argument{len(self.variables)}", span=term.span)
            self.variables[variable.name] = Type(kind, kind)
            equations.append(Constraint("=", variable, term, kind, span=term.span))
            return variable
        return map_children(term, lambda child: self.lift(child, equations)) if isinstance(term, RecordTerm) else term

    def constraint(self, literal: Constraint) -> Constraint:
        kind = "symbol" if literal.op in COMPARED_AS_SYMBOLS else self.kind(literal.left, literal.right)
        return replace(literal, left=self.term(literal.left), right=self.term(literal.right), kind=kind)

    def kind(self, *terms: Term) -> str:
        """Return the primitive kind of the first of the terms whose kind is known."""
        for term in terms:
            kind = self.inference.kind(term)
            if kind is not None:
                return "record" if kind == "adt" else kind
        raise AssertionError("the checker has found a kind")

    def type(self, term: Term) -> Type:
        """Return one of the term's types: the only one, or for several of one kind the first by name."""
        names = self.inference.of(term)
        assert names
        name = min(names)
        return self.types.resolved(name.removeprefix("~"))

    def term(self, term: Term) -> Term:
        if isinstance(term, Variable):
            self.variables[term.name] = self.type(term)
            return term
        if isinstance(term, Constant):
            return self.constant(term)
        if isinstance(term, RecordTerm):
            return self.record(term) if term.branch is None else self.branch(term)
        if isinstance(term, Functor):
            return self.functor(term)
        if isinstance(term, Aggregate):
            target = None if term.target is None else self.term(term.target)
            kind = "number" if term.target is None else self.kind(term.target)
            return replace(term, target=target, body=self.body(term.body), kind_of_value=kind)
        if isinstance(term, HeadAggregate):
            contributors = tuple(map(self.term, term.contributors))
            return replace(term, target=self.term(term.target), contributors=contributors)
        return term

    def constant(self, term: Constant) -> Constant:
        if term.type == "nil":
            return term
        kind = self.kind(term)
        value = float(term.value) if kind == "float" and term.value is not None else term.value
        return replace(term, type=kind, value=value)

    def record(self, term: RecordTerm) -> RecordTerm:
        table = self.type(term).record
        return replace(term, arguments=tuple(map(self.term, term.arguments)), type=table or "")

    def branch(self, term: RecordTerm) -> RecordTerm:
        """Return the branch as a record `[tag, fields…, 0, …]`."""
        assert term.branch is not None
        adt, fields = self.types.branches[term.branch]

        def number(value: int) -> Constant:
            return Constant(value, "number", span=term.span)

        padding = tuple(number(0) for _ in range(self.types.width(adt) - len(fields)))
        arguments = (number(self.types.tag(adt, term.branch)), *map(self.term, term.arguments), *padding)
        return replace(term, arguments=arguments, branch=None, type=adt)

    def functor(self, term: Functor) -> Term:
        arguments = tuple(map(self.term, term.arguments))
        if term.name == "as":
            return self.cast(term, arguments[0])
        name, kind = term.name, self.kind(term)
        if name.startswith("to_"):
            source = self.kind(term.arguments[0])
            new = conversion(name, source)
            return arguments[0] if new is None else replace(term, name=new, arguments=arguments, kind=source)
        if name == "+" and kind == "symbol":
            name = "cat"
        elif name not in INFIX and name not in ("neg", "bnot", "lnot", "min", "max", "range") and arguments:
            kind = self.kind(term.arguments[0])
        return replace(term, name=name, arguments=arguments, kind=kind)

    def cast(self, term: Functor, argument: Term) -> Term:
        source = self.kind(term.arguments[0])
        target = self.types.resolved(term.type_argument or "").kind
        if source == target:
            return argument
        return replace(term, arguments=(argument,), type_argument=target, kind=source)
