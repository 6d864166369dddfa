"""Clauses as text, for people to read: close to how they were written, after lowering."""

from __future__ import annotations

from collections.abc import Iterable

from engine.language.checked_program import CheckedClause
from engine.language.signatures import INFIX
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
    Term,
    Truth,
    Variable,
    Vertical,
)

TESTS = {"match": "match", "contains": "contains", "not_match": "!match", "not_contains": "!contains"}


def clause_text(clause: CheckedClause) -> str:
    """Return a clause on one line."""
    head = atom_text(clause.head)
    return f"{head} :- {body_text(clause.body)}." if clause.body else f"{head}."


def body_text(body: Iterable[Literal]) -> str:
    return ", ".join(map(literal_text, body))


def literal_text(literal: Literal) -> str:
    match literal:
        case Atom():
            return atom_text(literal)
        case Negation():
            return f"!{atom_text(literal.atom)}"
        case Truth():
            return "true" if literal.value else "false"
        case Constraint() if literal.op in TESTS:
            return f"{TESTS[literal.op]}({terms_text((literal.left, literal.right))})"
    return f"{term_text(literal.left)} {literal.op} {term_text(literal.right)}"


def atom_text(atom: Atom) -> str:
    return f"{atom.relation}({terms_text(atom.arguments)})"


def terms_text(terms: Iterable[Term]) -> str:
    return ", ".join(map(term_text, terms))


def term_text(term: Term) -> str:
    match term:
        case Variable():
            return variable_text(term.name)
        case Constant():
            return constant_text(term)
        case Functor():
            return functor_text(term)
        case RecordTerm():
            return f"${term.branch}({terms_text(term.arguments)})" if term.branch else f"[{terms_text(term.arguments)}]"
        case Aggregate():
            target = "" if term.target is None else f"{term_text(term.target)} "
            return f"{term.kind} {target}: {{ {body_text(term.body)} }}"
        case HeadAggregate():
            value = terms_text((*term.contributors, term.target))
            return f"{term.kind}<({value})>" if term.contributors else f"{term.kind}<{value}>"
        case Vertical():
            return f"{term_text(term.value)}@{term_text(term.column)}"
    return "_"


def variable_text(name: str) -> str:
    """The name of a variable; `_` for one that stands for a wildcard."""
    return "_" if name.startswith("+") else name


def constant_text(constant: Constant) -> str:
    if constant.type == "nil":
        return "nil"
    if constant.type == "symbol":
        escaped = str(constant.value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'
    return str(constant.value)


def operand_text(term: Term) -> str:
    """The text of an operand: one with an operator of its own in parentheses."""
    text = term_text(term)
    return f"({text})" if isinstance(term, Functor) and term.name in INFIX else text


def functor_text(term: Functor) -> str:
    if term.name in INFIX and len(term.arguments) == 2:
        left, right = map(operand_text, term.arguments)
        return f"{left} {term.name} {right}"
    if term.name == "neg":
        return f"-{term_text(term.arguments[0])}"
    if term.type_argument is not None:
        return f"{term.name}({terms_text(term.arguments)}, {term.type_argument})"
    return f"{term.name}({terms_text(term.arguments)})"
