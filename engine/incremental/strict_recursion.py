"""Tells which recursions of least or greatest values are strict: where a better value makes a better one.

Then the final value of a group is derived from final values: those that derive it when it is derived first are final,
or their final values would derive a better one. So final values have derivations from final values, which do not go in
circles. Additions are strict but for floats that are rounded, and integers that wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.language.checked_program import Relation, Stratum
from engine.plan.rule import Absent, Compare, Compute, Fold, Match, Operand, Record, Rule

NUMERIC = ("number", "unsigned", "float")


def is_strict(stratum: Stratum, aggregated: Sequence[Relation], rules: Sequence[Rule]) -> bool:
    """Return True if the relations of a component hold least or greatest numbers, by rules that are strict."""
    if not stratum.premappable or len(aggregated) < len(stratum.relations):
        return False
    columns = {}
    for declared in aggregated:
        first, *more = declared.aggregated
        if more or first.kind not in ("min", "max") or declared.columns[first.column].type.kind not in NUMERIC:
            return False
        columns[declared.name] = first.column
    return all(
        reaches_head(literal.terms[columns[literal.relation]], rule, columns[rule.relation])
        for rule in rules
        for literal in rule.body
        if isinstance(literal, Match) and literal.relation in columns
    )


def reaches_head(value: Operand | None, rule: Rule, column: int) -> bool:
    """Return True if a variable is read once: in the aggregated column of the head, or in a sum that is read so."""
    while isinstance(value, str) and sum(term == value for term in terms_of(rule)) == 2:
        if rule.head[column] == value:
            return True
        value = next((part.target for part in rule.body if isinstance(part, Compute) and adds(part, value)), None)
    return False


def adds(part: Compute, value: str) -> bool:
    return (part.functor == "+" and value in part.arguments) or (part.functor == "-" and part.arguments[0] == value)


def terms_of(rule: Rule) -> Iterator[Operand | None]:
    """The terms of a rule, each as often as it occurs; of an aggregate in its body those that it is asked for."""
    yield from rule.head
    for literal in rule.body:
        match literal:
            case Match() | Absent():
                yield from literal.terms
            case Compare():
                yield from (literal.left, literal.right)
            case Compute():
                yield from (literal.target, *literal.arguments)
            case Record():
                yield from (literal.target, *literal.fields)
            case Fold():
                yield from (literal.target, *literal.injected)
