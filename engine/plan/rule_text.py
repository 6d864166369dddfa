"""Literals of planned rules as text."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from engine.language.checked_program import CheckedProgram
from engine.language.clause_text import clause_text, variable_text
from engine.language.signatures import INFIX
from engine.plan.rule import (
    Absent,
    Compare,
    Compute,
    FlatAtom,
    Fold,
    Intersect,
    Match,
    Operand,
    Ordered,
    Record,
    Rule,
    Some,
)
from engine.symbols import Symbols


class Texts:
    """Turns literals back into text; `symbols` are those of their constants."""

    def __init__(self, program: CheckedProgram, symbols: Symbols) -> None:
        self.program, self.symbols = program, symbols

    def rule(self, rule: Rule) -> str:
        """Return what a rule says; if it was not written, what it would."""
        if rule.clause is not None:
            return clause_text(rule.clause)
        body = ", ".join(map(self.literal, rule.body))
        return f"{rule.relation}({self.terms(rule.head, 'number')}) :- {body}."

    def literal(self, literal: Ordered) -> str:
        match literal:
            case Match():
                return self.atom(literal)
            case Intersect():
                return ", ".join(map(self.atom, literal.atoms))
            case Some():
                return ", ".join(map(self.literal, literal.parts))
            case Absent():
                return f"!{self.atom(literal)}"
            case Compare(op="match" | "contains" | "not_match" | "not_contains"):
                name = literal.op.replace("not_", "!")
                return f"{name}({self.terms((literal.left, literal.right), literal.kind)})"
            case Compare():
                left, right = (self.term(side, literal.kind) for side in (literal.left, literal.right))
                return f"{left} {literal.op} {right}"
            case Compute():
                return f"{literal.target} = {self.functor(literal)}"
            case Record():
                return f"{literal.target} = [{self.terms(literal.fields, 'number')}]"
            case Fold():
                value = "" if literal.value is None else f"{self.term(literal.value, literal.kind)} "
                body = ", ".join(map(self.literal, literal.body))
                return f"{literal.target} = {literal.aggregate} {value}: {{ {body} }}"
        return "false"

    def atom(self, atom: FlatAtom) -> str:
        declared = self.program.relations.get(atom.relation)
        kinds = [column.type.kind for column in declared.columns] if declared else ["number"] * len(atom.terms)
        terms = ", ".join(self.term(term, kind) for term, kind in zip(atom.terms, kinds, strict=True))
        return f"{atom.relation}({terms})"

    def functor(self, literal: Compute) -> str:
        if literal.functor in INFIX and len(literal.arguments) == 2:
            left, right = (self.term(argument, literal.kind) for argument in literal.arguments)
            return f"{left} {literal.functor} {right}"
        return f"{literal.functor}({self.terms(literal.arguments, literal.kind)})"

    def terms(self, terms: Iterable[Operand | None], kind: str) -> str:
        return ", ".join(self.term(term, kind) for term in terms)

    def term(self, term: Operand | None, kind: str) -> str:
        if term is None:
            return "_"
        if isinstance(term, str):
            return variable_text(term)
        if kind == "symbol":
            return f'"{self.symbols.texts([term])[0]}"'
        if kind == "float":
            return str(struct.unpack("<d", struct.pack("<q", term))[0])
        return str(term)


def rule_text(rule: Rule) -> str:
    """Return the text of a rule; of a generated one, its `text`."""
    return rule.text if rule.clause is None else clause_text(rule.clause)
