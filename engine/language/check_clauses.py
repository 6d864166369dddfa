"""Checks of one clause that need no types: relations, arities, wildcards, facts, bound variables."""

from __future__ import annotations

from collections.abc import Mapping

from engine.language.autoinc import in_aggregate
from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.grounding import bound_variables, is_evaluable
from engine.language.signatures import OVERLOADS, arities
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constraint,
    Declaration,
    Functor,
    Literal,
    Negation,
    RecordTerm,
    Term,
    Variable,
    Wildcard,
)
from engine.language.traverse import (
    all_atoms,
    all_literals,
    children,
    is_equation,
    literal_terms,
    subterms,
    variables_of,
)


def check_names(clause: Clause, relations: Mapping[str, Declaration], report: Report) -> None:
    """Report undeclared relations and wrong numbers of arguments, of relations and of functors."""
    for atom in all_atoms(clause):
        declaration = relations.get(atom.relation)
        if declaration is None:
            help = did_you_mean(
                atom.relation, _names_at(atom, relations), f"declare it with '.decl {atom.relation}(…)'"
            )
            report.error("E010", f"relation '{atom.relation}' is not declared", atom.span, help)
        elif len(atom.arguments) != len(declaration.attributes):
            _report_arity(atom, declaration, report)
        _check_functors(atom.arguments, report)
    for literal in all_literals(clause.body):
        if isinstance(literal, Constraint):
            _check_functors(literal_terms(literal), report)


def _names_at(atom: Atom, relations: Mapping[str, Declaration]) -> list[str]:
    """Return the names that relations have where the atom stands: those of its own source need no module."""
    own = (name for name, declaration in relations.items() if declaration.span.source == atom.span.source)
    return [*relations, *(name.rpartition(".")[2] for name in own)]


def _report_arity(atom: Atom, declaration: Declaration, report: Report) -> None:
    arity, given = len(declaration.attributes), len(atom.arguments)
    message = f"relation '{atom.relation}' has {plural(arity, 'argument')}, {given} given"
    columns = ", ".join(f"{attribute.name}: {attribute.type}" for attribute in declaration.attributes)
    report.error("E012", message, atom.span, f"it is declared as {declaration.name}({columns})")


def _check_functors(terms: tuple[Term, ...], report: Report) -> None:
    for term in (part for whole in terms for part in subterms(whole)):
        if isinstance(term, Functor) and term.name != "as":
            if not any(overload.accepts(len(term.arguments)) for overload in OVERLOADS[term.name]):
                message = f"functor '{term.name}' takes {arities(term.name)}, {len(term.arguments)} given"
                report.error("E012", message, term.span)


def check_wildcards(clause: Clause, report: Report) -> None:
    """Report `_` where a value is needed: in heads, comparisons and functors."""
    for term in clause.head.arguments:
        _forbid_wildcards(term, "a head", report)
    for literal in all_literals(clause.body):
        if isinstance(literal, Constraint):
            sides = literal_terms(literal)
            for term in sides:
                # `_ = min x : …` asks for the witnesses only, `_ = [x]` for nothing.
                is_pattern = literal.op == "=" and any(isinstance(side, (Aggregate, RecordTerm)) for side in sides)
                if isinstance(term, Wildcard) and not is_pattern:
                    _report_wildcard(term, "a comparison", report)
                _forbid_in_functors(term, report)
        else:
            for term in literal_terms(literal):
                _forbid_in_functors(term, report)


def _report_wildcard(term: Wildcard, place: str, report: Report) -> None:
    report.error("E015", f"'_' in {place} stands for no value", term.span, "use a variable that the body binds")


def _forbid_wildcards(term: Term, place: str, report: Report) -> None:
    for part in subterms(term):
        if isinstance(part, Wildcard):
            _report_wildcard(part, place, report)


def _forbid_in_functors(term: Term, report: Report) -> None:
    if isinstance(term, Functor):
        _forbid_wildcards(term, "a functor", report)
    else:
        for child in children(term):
            _forbid_in_functors(child, report)


def check_bound(clause: Clause, report: Report) -> None:
    """Report variables that nothing binds. The clause's scopes are resolved."""
    if not clause.body:
        for part in (part for term in clause.head.arguments for part in subterms(term)):
            help = "give a constant, or add a body that binds it"
            if isinstance(part, Variable):
                report.error("E016", f"variable '{part.name}' in a fact", part.span, help)
            elif isinstance(part, Functor) and part.name == "autoinc":
                report.error("E016", "'autoinc()' in a fact", part.span, "add a body, such as 'true'")
        return
    for counter in filter(None, map(in_aggregate, clause.body)):
        help = "number the tuples of a relation of an earlier stratum, and aggregate over that"
        report.error("E019", "'autoinc()' in an aggregate counts in no order", counter.span, help)
    Boundness(clause, report).check()


class Boundness:
    """Finds unbound variables, each reported once, at its first occurrence."""

    def __init__(self, clause: Clause, report: Report) -> None:
        self.clause = clause
        self.report = report
        self.bound = self._bind(clause.body, set())
        self.reported: set[str] = set()

    def check(self) -> None:
        for term in self.clause.head.arguments:
            self._check_term(term, self.bound, "in the head")
        self._check_body(self.clause.body, self.bound)

    def _bind(self, body: tuple[Literal, ...], given: set[str]) -> set[str]:
        """Return the variables that the body binds; an aggregate's result only after its injected variables."""
        plain = tuple(literal for literal in body if _aggregate_equation(literal) is None)
        waiting = [equation for equation in map(_aggregate_equation, body) if equation is not None]
        outside = {name for literal in plain for name in variables_of(literal_terms(literal))}
        outside |= {variable for variable, _ in waiting} | given | set(variables_of(self.clause.head.arguments))
        bound = bound_variables(plain, given)
        progress = True
        while progress:
            ready = [e for e in waiting if (_mentioned(e[1]) & outside) <= bound]
            waiting = [e for e in waiting if e not in ready]
            bound = bound_variables(plain, bound | {variable for variable, _ in ready})
            progress = bool(ready)
        for variable, aggregate in waiting:
            self._report_circular(variable, aggregate, outside - bound)
            bound.add(variable)
        return bound

    def _report_circular(self, variable: str, aggregate: Aggregate, unbound: set[str]) -> None:
        names = ", ".join(f"'{name}'" for name in sorted(_mentioned(aggregate) & unbound) if not name.startswith("+"))
        message = f"the aggregate '{aggregate.kind}' depends on its own result, through {names or 'its value'}"
        if variable not in _mentioned(aggregate) and names:
            message = f"the aggregate '{aggregate.kind}' depends on {names}, which nothing outside it binds first"
        self.report.error("E018", message, aggregate.span, "bind the variable by a positive atom outside the aggregate")

    def _check_body(self, body: tuple[Literal, ...], bound: set[str]) -> None:
        for literal in body:
            place = "in a negated atom" if isinstance(literal, Negation) else "in a comparison"
            if isinstance(literal, Atom):
                place = "in a functor"
            for term in literal_terms(literal):
                if isinstance(term, Aggregate):
                    self._check_aggregate(term, bound)
                else:
                    self._check_term(term, bound, place)
            if is_equation(literal) and not any(is_evaluable(term, bound) for term in literal_terms(literal)):
                if set(variables_of(literal_terms(literal))) <= bound:
                    help = "replace '_' on one side by variables that the body binds"
                    self.report.error("E015", "two patterns with '_' are compared", literal.span, help)

    def _check_aggregate(self, aggregate: Aggregate, bound: set[str]) -> None:
        inner = bound_variables(aggregate.body, bound)
        if aggregate.target is not None:
            self._check_term(aggregate.target, inner, f"in the target of '{aggregate.kind}'")
        self._check_body(aggregate.body, inner)

    def _check_term(self, term: Term, bound: set[str], place: str) -> None:
        for name, variable in variables_of((term,)).items():
            # A variable of our own is unbound only where a visible one is.
            if name not in bound and name not in self.reported and not name.startswith("+"):
                self.reported.add(name)
                known = [n for n in bound if not n.startswith("+")]
                help = did_you_mean(name, known, f"add a positive atom that binds '{name}'")
                shown = name.split("#")[0]
                self.report.error("E014", f"variable '{shown}' {place} is not bound by the body", variable.span, help)


def _aggregate_equation(literal: Literal) -> tuple[str, Aggregate] | None:
    match literal:
        case Constraint(op="=", left=Variable(name=name), right=Aggregate() as aggregate):
            return name, aggregate
    return None


def _mentioned(aggregate: Aggregate) -> set[str]:
    """Return the variables in an aggregate, nested ones included."""
    found = set(variables_of(() if aggregate.target is None else (aggregate.target,)))
    for literal in all_literals(aggregate.body):
        found |= set(variables_of(literal_terms(literal)))
    return found
