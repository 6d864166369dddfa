"""Constraint transfer: an extremum over a recursion is taken inside it, where that is premappable.

`sp(x, min<d>) :- path(x, d).` asks for the least d of each x only. If `path` may forget the others while it is computed
(γ(T(I)) = γ(T(γ(I))); Condie et al., *Scaling-Up Reasoning and Advanced Analytics on BigData*, §2, Examples 1 and 2),
its clauses aggregate as well: fewer tuples, and an end on graphs with cycles. It must be read by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.language.checked_program import Aggregated, CheckedClause, CheckedProgram, Relation, Stratum
from engine.language.premappable import violations
from engine.language.sign_analysis import Signs
from engine.language.syntax import Atom, HeadAggregate, Variable
from engine.language.traverse import all_atoms, literal_terms, substitute, variables_of

NUMERIC = ("number", "unsigned", "float")


def push_extrema(program: CheckedProgram) -> CheckedProgram:
    """Return the program with extrema taken into the recursions that they alone read.

    What is given out must not change: relations that are outputs are left alone, and programs without outputs.
    """
    kept = {d.relation for d in (*program.outputs, *program.printsizes, *program.limitsizes)}
    if not program.outputs and not program.printsizes:
        return program
    candidates = under_extrema(program) - kept
    relations, strata = dict(program.relations), list(program.strata)
    for at, stratum in enumerate(strata):
        for name in sorted(candidates & set(stratum.relations)) if stratum.recursive else ():
            constraint = constraint_on(name, program, stratum)
            if constraint is not None:
                changed = constrained(strata[at], relations[name], *constraint)
                trial = {**relations, name: replace(relations[name], aggregated=(Aggregated(*constraint),))}
                if is_premappable(changed, trial, program):
                    strata[at], relations = changed, trial
    return replace(program, relations=relations, strata=tuple(strata))


def under_extrema(program: CheckedProgram) -> set[str]:
    """Return the relations in bodies of clauses whose head aggregates."""
    aggregating = (c for c in program.clauses if any(isinstance(term, HeadAggregate) for term in c.head.arguments))
    return {atom.relation for clause in aggregating for atom in clause.body if isinstance(atom, Atom)}


def constraint_on(name: str, program: CheckedProgram, own: Stratum) -> tuple[int, str] | None:
    """Return the column and the kind of the extremum that all readers outside the recursion take of a relation."""
    relation = program.relations[name]
    if relation.aggregated or relation.choice or "eqrel" in relation.qualifiers:
        return None
    found = set()
    for clause in program.clauses:
        if clause.head.relation not in own.relations and any(a.relation == name for a in all_atoms(clause)[1:]):
            found.add(extremum_of(name, clause))
    constraint = found.pop() if len(found) == 1 else None
    return constraint if constraint and relation.columns[constraint[0]].type.kind in NUMERIC else None


def extremum_of(name: str, clause: CheckedClause) -> tuple[int, str] | None:
    """Return the column and kind of the extremum, if it is all that a clause reads of one column of a relation."""
    atoms = [atom for atom in clause.body if isinstance(atom, Atom) and atom.relation == name]
    if len(atoms) != 1 or sum(atom.relation == name for atom in all_atoms(clause)[1:]) != 1:
        return None
    for term in clause.head.arguments:
        if isinstance(term, HeadAggregate) and term.kind in ("min", "max"):
            value = term.target
            if isinstance(value, Variable) and value in atoms[0].arguments:
                if list(occurrences(clause)).count(value.name) == 2:
                    return atoms[0].arguments.index(value), term.kind
    return None


def occurrences(clause: CheckedClause) -> Iterator[str]:
    """Yield the variables of each argument of a clause's literals, and of what stands inside aggregates."""
    for literal in (clause.head, *clause.body):
        for term in literal_terms(literal):
            yield from variables_of((term,))
            if hasattr(term, "body"):
                yield from (name for name in clause.variables if substitute(term, {name: Variable("")}) != term)


def constrained(stratum: Stratum, relation: Relation, column: int, kind: str) -> Stratum:
    """Return the stratum with the clauses of a relation aggregating in a column."""

    def aggregate(clause: CheckedClause) -> CheckedClause:
        if clause.head.relation != relation.name:
            return clause
        terms = clause.head.arguments
        value = HeadAggregate(kind, terms[column], span=terms[column].span)
        head = replace(clause.head, arguments=(*terms[:column], value, *terms[column + 1 :]))
        return replace(clause, head=head)

    return replace(stratum, clauses=tuple(map(aggregate, stratum.clauses)))


def is_premappable(stratum: Stratum, relations: Mapping[str, Relation], program: CheckedProgram) -> bool:
    """Return True if a stratum can be shown premappable."""
    inputs = {directive.relation for directive in program.inputs}
    others = (clause for other in program.strata if other.relations != stratum.relations for clause in other.clauses)
    signs = Signs(relations, (*stratum.clauses, *others), inputs, program.number_bits)
    return stratum.premappable and next(violations(stratum, relations, signs), None) is None
