"""Verticalisation: a clause with `Val@Col` in an atom becomes a clause for each column that it stands for.

`v(id, c, x) :- t(id, x@c).` reads each column of t but the first as x, in turn, with its number, from 1, as c
(Condie et al., *Scaling-Up Reasoning and Advanced Analytics on BigData*, §4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.language.clause_text import term_text
from engine.language.diagnostics import Report
from engine.language.syntax import Atom, Clause, Constant, Constraint, Declaration, Term, Vertical, Wildcard
from engine.language.traverse import all_literals, literal_terms, subterms


def verticalise(clauses: Iterable[Clause], relations: Mapping[str, Declaration], report: Report) -> list[Clause]:
    """Return the clauses without any `Val@Col`; one that is no argument of a positive atom is reported."""
    pending, done = list(clauses)[::-1], []
    while pending:
        clause = pending.pop()
        place = _find(clause)
        if place is not None:
            pending += reversed(_expand(clause, *place, relations, report))
        else:
            done.append(clause)
            _report_misplaced(clause, report)
    return [clause for clause in done if not any(_verticals(clause))]


def _find(clause: Clause) -> tuple[Atom, int, Vertical] | None:
    """Return the first atom of the body that has a `Val@Col` among its arguments, and its position."""
    for atom in (literal for literal in clause.body if isinstance(literal, Atom)):
        for position, term in enumerate(atom.arguments):
            if isinstance(term, Vertical):
                return atom, position, term
    return None


def _expand(
    clause: Clause, atom: Atom, position: int, term: Vertical, relations: Mapping[str, Declaration], report: Report
) -> list[Clause]:
    declaration = relations.get(atom.relation)
    n_columns = 1 if declaration is None else len(declaration.attributes) - len(atom.arguments) + 1
    if n_columns < 1:
        message = f"no column of '{atom.relation}' is left for '{term_text(term)}'"
        report.error("E012", message, term.span)
        return []
    return [_instance(clause, atom, position, term, n_columns, number) for number in range(n_columns)]


def _instance(clause: Clause, atom: Atom, position: int, term: Vertical, n_columns: int, number: int) -> Clause:
    """Return the clause that reads one of the columns."""
    columns: list[Term] = [Wildcard(span=term.span)] * n_columns
    columns[number] = term.value
    arguments = (*atom.arguments[:position], *columns, *atom.arguments[position + 1 :])
    numbered = Constraint("=", term.column, Constant(number + 1, "number", span=term.span), span=term.span)
    body = [replace(atom, arguments=arguments) if literal is atom else literal for literal in clause.body]
    return replace(clause, body=(*body, numbered))


def _verticals(clause: Clause) -> Iterable[Vertical]:
    for literal in (clause.head, *all_literals(clause.body)):
        for term in literal_terms(literal):
            yield from (part for part in subterms(term) if isinstance(part, Vertical))


def _report_misplaced(clause: Clause, report: Report) -> None:
    for term in _verticals(clause):
        message = f"'{term_text(term)}' is not an argument of a positive atom of the body"
        report.error("E060", message, term.span)
