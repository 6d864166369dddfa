"""Inlining: atoms of relations declared `inline` are replaced by the bodies of their clauses.

An inlined clause need not bind the variables of its head: the place of use may. Where an atom cannot be replaced
(negated, with variables of its own in the body; inside an aggregate, by several alternatives; where the literals
multiply beyond all measure) the relation is computed as others are, and must then be bound as others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from engine.language.build_terms import negate_literal
from engine.language.diagnostics import Report
from engine.language.syntax import (
    Aggregate,
    Atom,
    Clause,
    Constraint,
    Declaration,
    Directive,
    Literal,
    Negation,
    Term,
    Variable,
    Wildcard,
)
from engine.language.traverse import (
    all_atoms,
    all_literals,
    literal_terms,
    map_atom,
    map_children,
    map_terms,
    substitute,
    substitute_literal,
    variables_of,
)

# A negated atom that stands for more is looked up instead, and so is an atom by which a clause would become longer.
MAX_ALTERNATIVES = 16
MAX_LITERALS = 4096

REMOVE = "remove the qualifier 'inline' from its declaration"

Alternatives = list[tuple[Literal, ...]]


def is_inlined(declaration: Declaration) -> bool:
    return "inline" in declaration.qualifiers and "no_inline" not in declaration.qualifiers


def _order(
    definitions: Mapping[str, Sequence[Clause]], relations: Mapping[str, Declaration], report: Report
) -> list[str]:
    """Return the inlined relations, those that others use first. Cycles among them are reported."""
    ordered: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in ordered:
            return
        if name in path:
            cycle = " → ".join([*path[path.index(name) :], name])
            report.error("E054", f"inlined relations depend on each other: {cycle}", relations[name].span)
            return
        path.append(name)
        for atom in (atom for clause in definitions[name] for atom in all_atoms(clause)[1:]):
            if atom.relation in definitions:
                visit(atom.relation)
        path.pop()
        ordered.append(name)

    for name in definitions:
        visit(name)
    return ordered


class Inliner:
    def __init__(self, relations: Mapping[str, Declaration]) -> None:
        self.relations = relations
        self.definitions: dict[str, list[Clause]] = {}
        self.n_names = 0

    def define_all(self, clauses: Iterable[Clause], directives: Iterable[Directive], report: Report) -> None:
        """Take the clauses of all relations to inline."""
        definitions: dict[str, list[Clause]] = {
            name: [] for name, declaration in self.relations.items() if is_inlined(declaration)
        }
        for directive in directives:
            if directive.relation in definitions:
                message = f"relation '{directive.relation}' is inlined and cannot have '.{directive.kind}'"
                report.error("E054", message, directive.span, REMOVE)
        for declaration in map(self.relations.__getitem__, definitions):
            if declaration.choice or "eqrel" in declaration.qualifiers:
                has = "a choice domain" if declaration.choice else "the qualifier 'eqrel'"
                message = f"relation '{declaration.name}' is inlined and cannot have {has}"
                report.error("E054", message, declaration.span, REMOVE)
        for clause in clauses:
            definitions[clause.head.relation].append(clause)
        for name in _order(definitions, self.relations, report):
            self.define(name, definitions[name])

    def define(self, name: str, clauses: Iterable[Clause]) -> None:
        """Take the clauses of a relation to inline. One with a wrong number of arguments is an error by itself."""
        arity = len(self.relations[name].attributes)
        fitting = (clause for clause in clauses if len(clause.head.arguments) == arity)
        self.definitions[name] = [new for clause in fitting for new in self.clause(clause)]

    def used(self, names: Iterable[str]) -> list[Clause]:
        """Return the clauses of inlined relations that are looked up, and of those that these look up."""
        kept: list[Clause] = []
        pending = list(names)
        seen = set(pending)
        while pending:
            clauses = self.definitions[pending.pop()]
            kept += clauses
            found = {name for clause in clauses for name in self.inlined_in(clause)}
            pending += sorted(found - seen)
            seen |= found
        return kept

    def inlined_in(self, clause: Clause) -> list[str]:
        """Return the relations to inline that a clause reads."""
        return [atom.relation for atom in all_atoms(clause)[1:] if self.is_inlined(atom)]

    def clause(self, clause: Clause) -> list[Clause]:
        """Return the clauses that result from inlining in the body of one."""
        if not self.inlined_in(clause):
            return [clause]
        self.n_names = 0
        head = map_atom(clause.head, self.term)
        return [replace(clause, head=head, body=body, plan=()) for body in self.body(clause.body)]

    def body(self, body: Iterable[Literal]) -> Alternatives:
        result: Alternatives = [()]
        for literal in body:
            alternatives = self.literal(literal)
            if n_literals(result) * len(alternatives) + len(result) * n_literals(alternatives) > MAX_LITERALS:
                alternatives = [(literal,)]
            result = [chosen + alternative for chosen in result for alternative in alternatives]
        return result

    def literal(self, literal: Literal) -> Alternatives:
        """Return the alternatives that a literal stands for."""
        atom = literal.atom if isinstance(literal, Negation) else literal
        if not isinstance(atom, Atom) or not self.is_inlined(atom):
            return [(map_terms(literal, self.term),)]
        if isinstance(literal, Atom):
            return [self.instantiate(clause, atom)[0] for clause in self.definitions[atom.relation]]
        result: Alternatives = [()]
        for clause in self.definitions[atom.relation]:
            literals, has_own_variables = self.instantiate(clause, atom)
            if has_own_variables or len(result) * len(literals) > MAX_ALTERNATIVES:
                return [(literal,)]
            result = [chosen + (negate_literal(part),) for chosen in result for part in literals]
        return result

    def is_inlined(self, atom: Atom) -> bool:
        is_defined = atom.relation in self.definitions
        return is_defined and len(atom.arguments) == len(self.relations[atom.relation].attributes)

    def term(self, term: Term) -> Term:
        """Inline in the bodies of aggregates, where one alternative results."""
        if not isinstance(term, Aggregate):
            return map_children(term, self.term)
        alternatives = self.body(term.body)
        return replace(term, body=alternatives[0]) if len(alternatives) == 1 else term

    def instantiate(self, clause: Clause, atom: Atom) -> tuple[tuple[Literal, ...], bool]:
        """Return the body of a clause as it holds for an atom, and whether it has variables that the atom has not."""
        values: dict[str, Term] = {}
        equal: list[tuple[Term, Term]] = []
        for formal, actual in zip(clause.head.arguments, atom.arguments, strict=True):
            if isinstance(actual, Wildcard):
                continue
            if isinstance(formal, Variable) and formal.name not in values:
                values[formal.name] = actual
            else:
                equal.append((actual, formal))
        for name in _all_variables(clause):
            if name not in values:
                self.n_names += 1
                values[name] = Variable(f"{name}#{self.n_names}", span=atom.span)
        equations = [Constraint("=", actual, substitute(formal, values), span=atom.span) for actual, formal in equal]
        literals = (*equations, *(substitute_literal(literal, values) for literal in clause.body))
        given = variables_of(atom.arguments)
        has_own_variables = any(
            name not in given for literal in literals for name in variables_of(literal_terms(literal))
        )
        return literals, has_own_variables


def n_literals(alternatives: Alternatives) -> int:
    """Return the number of literals in all alternatives."""
    return sum(map(len, alternatives))


def _all_variables(clause: Clause) -> dict[str, Variable]:
    """Return the variables of a clause, those inside aggregates included."""
    found = dict(variables_of(clause.head.arguments))
    for literal in all_literals(clause.body):
        terms = literal_terms(literal)
        targets = [t.target for t in terms if isinstance(t, Aggregate) and t.target is not None]
        found |= variables_of((*terms, *targets))
    return found
