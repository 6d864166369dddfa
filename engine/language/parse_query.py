"""Queries: one atom over a checked program, `tc(1, y)`: constants are given, variables and `_` are asked for."""

from __future__ import annotations

from dataclasses import replace

from engine.language.checked_program import CheckedProgram, Field
from engine.language.diagnostics import Report, did_you_mean, plural
from engine.language.parse import parse
from engine.language.syntax import Atom, Clause, Constant, Functor, Span, Term, Variable, Wildcard

SOURCE = "<query>"
NUMERIC = ("number", "unsigned", "float")


def read_query(text: str, program: CheckedProgram) -> Atom:
    """Return the atom of a query, its constants as the columns' types have them. Raises ProgramError."""
    report = Report({SOURCE: text})
    atom = read_atom(text, program, report)
    columns = zip(atom.arguments, program.relations[atom.relation].columns, strict=True)
    arguments = tuple(argument(term, column, report) for term, column in columns)
    report.raise_if_errors()
    return replace(atom, arguments=arguments)


def read_atom(text: str, program: CheckedProgram, report: Report) -> Atom:
    """Return an atom over a relation of the program, with its number of arguments. Raises ProgramError."""
    items = parse(SOURCE, f"{text.strip().rstrip('.?')}.", report)
    report.raise_if_errors()
    match items:
        case [Clause(head=atom, body=())]:
            pass
        case _:
            report.error("E001", "a query is one atom", Span(SOURCE, 1, 1, 1, len(text) + 1), "write 'relation(1, x)'")
            report.raise_if_errors()
    relation = program.relations.get(atom.relation)
    if relation is None:
        help = did_you_mean(atom.relation, program.relations)
        report.error("E010", f"relation '{atom.relation}' is not declared", atom.span, help)
    elif relation.arity != len(atom.arguments):
        has = plural(relation.arity, "attribute")
        report.error("E012", f"'{atom.relation}' has {has}, not {len(atom.arguments)}", atom.span)
    report.raise_if_errors()
    return atom


def argument(term: Term, column: Field, report: Report) -> Term:
    """Return an argument as it is compared with its column."""
    term = negated(term)
    if isinstance(term, Variable | Wildcard):
        return term
    if not isinstance(term, Constant):
        report.error("E016", "an argument of a query is a constant, a variable or '_'", term.span)
        return term
    kind, value = column.type.kind, term.value
    if term.type == ("nil" if kind == "record" else kind):
        return term
    if kind in NUMERIC and term.type == "number" and isinstance(value, int) and (kind != "unsigned" or value >= 0):
        return replace(term, type=kind, value=float(value) if kind == "float" else value)
    report.error("E026", f"'{column.name}' is a {kind}, not a {term.type}", term.span)
    return term


def negated(term: Term) -> Term:
    """Return a negative number as a constant."""
    if isinstance(term, Functor) and term.name == "neg" and isinstance(term.arguments[0], Constant):
        inner = term.arguments[0]
        if inner.type in ("number", "float") and isinstance(inner.value, int | float):
            return replace(inner, value=-inner.value, span=term.span)
    return term
