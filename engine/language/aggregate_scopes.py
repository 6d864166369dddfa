"""Scopes of aggregates: every aggregate and generator gets an equation of its own, and local variables unique names.

A variable inside an aggregate is
* injected, if the scope around it binds it and it does not stand in the target: it stays as it is;
* a witness, if the scope around mentions it without binding it and the aggregate's body binds it: for `min` and `max`
  the body is added once more outside, with the result as the target, so that the witness ranges over what attains the
  extremum; for other kinds it is an error;
* local otherwise: it gets a name that occurs nowhere else.

An aggregate ranges over the distinct bindings of its variables; where it reads one atom, `_` counts as a variable of
its own (`ranges_over_tuples`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from engine.language.diagnostics import Report
from engine.language.grounding import bound_variables
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constraint,
    Functor,
    HeadAggregate,
    Literal,
    RecordTerm,
    Term,
    Variable,
    Wildcard,
)
from engine.language.traverse import (
    aggregates_of,
    is_equation,
    literal_terms,
    map_atom,
    map_children,
    map_terms,
    substitute_literal,
    subterms,
    variables_of,
)

GENERATORS = ("range",)


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a literal: variables mentioned outside aggregates, and those of them that get bound."""

    mentioned: frozenset[str]
    bound: frozenset[str]


def resolve_scopes(clause: Clause, report: Report) -> Clause:
    """Return the clause with aggregates and generators in equations of their own and local variables renamed."""
    if not any(_needs_scope(term) for term in _all_terms(clause)):
        return clause
    return ScopeResolver(clause, report).resolve()


def name_bindings(clause: Clause) -> Clause:
    """Give names to the wildcards of positive atoms if the head has an aggregate that ranges over the bindings."""

    def name(term: Term) -> Term:
        if isinstance(term, Wildcard):
            return Variable(f"+any@{next(numbers)}", span=term.span)
        return map_children(term, name) if isinstance(term, RecordTerm) else term

    numbers = count()
    if not any(isinstance(t, HeadAggregate) and is_bare(t) for t in clause.head.arguments):
        return clause
    body = tuple(map_terms(literal, name) if isinstance(literal, Atom) else literal for literal in clause.body)
    return replace(clause, body=body)


def is_bare(term: HeadAggregate) -> bool:
    """Return True if an aggregate ranges over the bindings of the rule."""
    return term.kind in ("sum", "mean") and not term.contributors


def _all_terms(clause: Clause) -> Iterator[Term]:
    for atom in (clause.head, *clause.body):
        for term in literal_terms(atom):
            yield from subterms(term)


def _needs_scope(term: Term) -> bool:
    return isinstance(term, Aggregate) or _is_generator(term)


def _is_generator(term: Term) -> bool:
    return isinstance(term, Functor) and term.name in GENERATORS


def _direct_variables(literals: tuple[Literal, ...]) -> dict[str, Variable]:
    """Return the variables of the literals that stand outside aggregates."""
    return variables_of(term for literal in literals for term in literal_terms(literal))


class ScopeResolver:
    def __init__(self, clause: Clause, report: Report) -> None:
        self.clause = clause
        self.report = report
        self.used: set[str] = set()

    def resolve(self) -> Clause:
        clause = self.clause
        mentioned = {**variables_of(clause.head.arguments), **_direct_variables(clause.body)}
        self.used.update(mentioned)
        scope = Scope(frozenset(mentioned), frozenset(bound_variables(clause.body)))
        extra: list[Literal] = []
        head = map_atom(clause.head, lambda term: self.term(term, scope, extra))
        body = self.literals(clause.body, scope)
        return replace(clause, head=head, body=(*body, *extra))

    def fresh(self, name: str) -> str:
        """Return a name that is not used yet, `name` itself if possible, and mark it as used."""
        candidate, n = name, 2
        while candidate in self.used:
            candidate, n = f"{name}#{n}", n + 1
        self.used.add(candidate)
        return candidate

    def literals(self, literals: tuple[Literal, ...], scope: Scope) -> tuple[Literal, ...]:
        result: list[Literal] = []
        for literal in literals:
            extra: list[Literal] = []
            kept = self.literal(literal, scope, extra)
            result += [*extra, *([] if kept is None else [kept])]
        return tuple(result)

    def literal(self, literal: Literal, scope: Scope, extra: list[Literal]) -> Literal | None:
        """Return the literal without aggregates inside terms; their equations are added to `extra`."""
        if is_equation(literal):
            for variable, term in ((literal.left, literal.right), (literal.right, literal.left)):
                if isinstance(variable, Wildcard) and _needs_scope(term):
                    variable = Variable(self.fresh("+any"), span=variable.span)
                if isinstance(variable, Variable) and _needs_scope(term):
                    self.hoist(term, variable, scope, extra)
                    return None
        return map_terms(literal, lambda term: self.term(term, scope, extra))

    def term(self, term: Term, scope: Scope, extra: list[Literal]) -> Term:
        if not _needs_scope(term):
            return map_children(term, lambda child: self.term(child, scope, extra))
        variable = Variable(self.fresh("+value"), span=term.span)
        self.hoist(term, variable, scope, extra)
        return variable

    def hoist(self, term: Term, variable: Variable, scope: Scope, extra: list[Literal]) -> None:
        """Add the equation `variable = term` to `extra`, and what its witnesses need."""
        if isinstance(term, Aggregate):
            term, witnessing = self.aggregate(term, variable, scope)
            extra += witnessing
        else:
            term = map_children(term, lambda child: self.term(child, scope, extra))
        extra.append(Constraint("=", variable, term, span=term.span))

    def aggregate(self, aggregate: Aggregate, result: Variable, scope: Scope) -> tuple[Aggregate, tuple[Literal, ...]]:
        """Return the aggregate with its scope resolved, and the literals that bind its witnesses outside."""
        target = aggregate.target
        target_names = set(variables_of(() if target is None else (target,)))
        inside = _direct_variables(aggregate.body)
        bound_inside = bound_variables(aggregate.body, scope.bound - target_names)
        names: dict[str, Variable] = {}
        witnesses: dict[str, Variable] = {}
        for name in (*inside, *(target_names - set(inside))):
            if name in scope.mentioned and name not in scope.bound and name in bound_inside:
                witnesses[name] = inside[name]
            elif name in target_names or name not in scope.mentioned:
                names[name] = Variable(self.fresh(name))
        witnessing = self.witness(aggregate, result, names, witnesses, scope) if witnesses else ()
        names |= {name: Variable(self.fresh(name)) for name in witnesses}
        return self.rebuild(aggregate, names, scope), witnessing

    def rebuild(self, aggregate: Aggregate, names: dict[str, Variable], scope: Scope) -> Aggregate:
        """Return the aggregate with local variables renamed, its target a variable, and nested scopes resolved."""
        body = tuple(_rename_direct(literal, names) for literal in aggregate.body)
        if ranges_over_tuples(body):
            body = tuple(map(self.name_wildcards, body))
        mentioned = scope.mentioned | set(_direct_variables(body))
        target = aggregate.target
        if target is not None:
            target = _rename_term(target, names)
            if not isinstance(target, Variable) or next(aggregates_of((target,)), None):
                variable = Variable(self.fresh("+target"), span=target.span)
                body = (*body, Constraint("=", variable, target, span=target.span))
                target = variable
        inner = Scope(mentioned, scope.bound | bound_variables(body, scope.bound))
        return replace(aggregate, target=target, body=self.literals(body, inner))

    def name_wildcards(self, literal: Literal) -> Literal:
        """Give the wildcards of a positive atom names: an aggregate ranges over the bindings of named variables."""

        def name(term: Term) -> Term:
            if isinstance(term, Wildcard):
                return Variable(self.fresh("+any"), span=term.span)
            return map_children(term, name) if isinstance(term, RecordTerm) else term

        return map_terms(literal, name) if isinstance(literal, Atom) else literal

    def witness(
        self,
        aggregate: Aggregate,
        result: Variable,
        names: dict[str, Variable],
        witnesses: dict[str, Variable],
        scope: Scope,
    ) -> tuple[Literal, ...]:
        """Return the aggregate's body as literals of the scope around it, with `result` as the target."""
        if aggregate.kind not in ("min", "max") or aggregate.target is None:
            for name, variable in witnesses.items():
                message = f"variable '{name}' is used outside the aggregate '{aggregate.kind}' that alone binds it"
                help = "only 'min' and 'max' have witnesses; bind it by a positive atom outside the aggregate"
                self.report.error("E017", message, variable.span, help)
            return ()
        values: dict[str, Term] = {name: Variable(self.fresh(name)) for name in names}
        body = aggregate.body
        if isinstance(aggregate.target, Variable):
            values[aggregate.target.name] = result
        else:
            body = (*body, Constraint("=", result, aggregate.target, span=aggregate.target.span))
        body = tuple(substitute_literal(literal, values) for literal in body)
        mentioned = scope.mentioned | set(_direct_variables(body))
        return self.literals(body, Scope(mentioned, scope.bound | bound_variables(body, scope.bound)))


def ranges_over_tuples(body: tuple[Literal, ...]) -> bool:
    """Return True if an aggregate ranges over the tuples of its one atom, wildcards included, as in Soufflé.

    With several atoms, a variable twice in an atom, an aggregate or a generator inside, it ranges over the bindings of
    variables that have names.
    """
    atoms = [literal for literal in body if isinstance(literal, Atom)]
    terms = [part for literal in body for term in literal_terms(literal) for part in subterms(term)]
    if len(atoms) > 1 or any(
        isinstance(t, Aggregate) or (isinstance(t, Functor) and t.name in GENERATORS) for t in terms
    ):
        return False
    names = [t.name for atom in atoms for term in atom.arguments for t in subterms(term) if isinstance(t, Variable)]
    return len(names) == len(set(names))


def _rename_direct(literal: Literal, values: dict[str, Variable]) -> Literal:
    """Rename in the literal and in aggregates nested in it, except what those shadow by their own target."""
    return map_terms(literal, lambda term: _rename_term(term, values))


def _rename_term(term: Term, values: dict[str, Variable]) -> Term:
    if isinstance(term, Variable):
        new = values.get(term.name)
        return term if new is None else replace(new, span=term.span)
    if isinstance(term, Aggregate):
        shadowed = variables_of(() if term.target is None else (term.target,))
        visible = {name: value for name, value in values.items() if name not in shadowed}
        return replace(term, body=tuple(_rename_direct(literal, visible) for literal in term.body))
    return map_children(term, lambda child: _rename_term(child, values))
