"""A program's constants, and its need for the texts of symbols."""

from __future__ import annotations

from collections.abc import Iterable

from engine.language.checked_program import CheckedProgram
from engine.plan.flatten import flatten
from engine.plan.rule import Compare, Compute, Fold, Literal
from engine.plan.value_encoding import encode
from engine.symbols import Symbols


def constants(program: CheckedProgram) -> list[str]:
    """Return the texts that stand in a program, in the order in which evaluation meets them."""
    symbols = Symbols()
    for clause in program.clauses:
        flatten(clause, program, lambda constant: encode(constant, symbols))
    return symbols.texts(range(len(symbols)))


def needs_texts(program: CheckedProgram) -> bool:
    """Return True if evaluation looks into texts, makes some, or puts rows in order; else ids are enough."""
    if program.records or program.ordered or any(clause.counters for clause in program.clauses):
        return True
    for relation in program.relations.values():
        kinds = {type.kind for each in relation.aggregated for type in each.contributors}
        if "symbol" in kinds | {relation.columns[each.column].type.kind for each in relation.aggregated}:
            return True
    rules = (flatten(clause, program, lambda constant: 0) for clause in program.clauses)
    return any(looks_into_texts(rule.body) for rule in rules)


def looks_into_texts(body: Iterable[Literal]) -> bool:
    for literal in body:
        if isinstance(literal, Compute) and "symbol" in (literal.kind, literal.result):
            return True
        if isinstance(literal, Compute) and (literal.functor == "ord" or literal.functor.startswith("sto")):
            return True
        if isinstance(literal, Compare) and literal.kind == "symbol" and literal.op not in ("=", "!="):
            return True
        if isinstance(literal, Fold) and (literal.kind == "symbol" or looks_into_texts(literal.body)):
            return True
    return False
