"""Anonymous records: equations between records that have no declared type are taken apart, field by field.

`[a, b] = [1, x]` becomes `a = 1, b = x`; in `r = [a, b]`, r is replaced by the record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.language.syntax import Clause, Constraint, Literal, RecordTerm, Term, Variable, Wildcard
from engine.language.traverse import map_atom, substitute, substitute_literal, variables_of

IsUntyped = Callable[[Term], bool]


def resolve_anonymous_records(clause: Clause, is_untyped: IsUntyped) -> list[Clause]:
    """Return clauses that mean the same and in which no equation is between records without a type."""
    for position, literal in enumerate(clause.body):
        if not (isinstance(literal, Constraint) and literal.op in ("=", "!=")):
            continue
        sides = (literal.left, literal.right)
        if not any(isinstance(side, RecordTerm) and side.branch is None and is_untyped(side) for side in sides):
            continue
        before, after = clause.body[:position], clause.body[position + 1 :]
        for variable, term in (sides, sides[::-1]):
            if isinstance(variable, Wildcard) and literal.op == "=":
                return resolve_anonymous_records(replace(clause, body=before + after), is_untyped)
            if isinstance(variable, Variable) and variable.name not in variables_of((term,)) and literal.op == "=":
                replaced = _replace(replace(clause, body=before + after), {variable.name: term})
                return resolve_anonymous_records(replaced, is_untyped)
        if all(isinstance(side, RecordTerm) for side in sides):
            alternatives = _take_apart(literal)
            clauses = [replace(clause, body=before + alternative + after) for alternative in alternatives]
            return [new for c in clauses for new in resolve_anonymous_records(c, is_untyped)]
    return [clause]


def _replace(clause: Clause, values: dict[str, Term]) -> Clause:
    body = tuple(substitute_literal(literal, values) for literal in clause.body)
    return replace(clause, head=map_atom(clause.head, lambda term: substitute(term, values)), body=body)


def _take_apart(literal: Constraint) -> list[tuple[Literal, ...]]:
    """Return the alternatives that a comparison of two records stands for."""
    left, right = literal.left, literal.right
    assert isinstance(left, RecordTerm) and isinstance(right, RecordTerm)
    same_length = len(left.arguments) == len(right.arguments)
    pairs = list(zip(left.arguments, right.arguments, strict=False)) if same_length else []
    parts = [replace(literal, left=a, right=b) for a, b in pairs if not isinstance(a, Wildcard)]
    parts = [part for part in parts if not isinstance(part.right, Wildcard)]
    if literal.op == "=":
        return [tuple(parts)] if same_length else []
    return [(part,) for part in parts] if same_length else [()]
