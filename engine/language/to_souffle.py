"""Resolved items as a program of Soufflé: one name space, no modules, no aggregates in heads.

Names are qualified by `__` instead of dots. An aggregate `min<d>` in heads becomes the plain argument `d` and a
subsumptive clause, `r(x, a) <= r(x, b) :- b < a.`, which keeps the least (Soufflé, since version 2.3). Patterns that
ignore case by `(?i)` have both cases of each letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.language.clause_text import atom_text, body_text
from engine.language.diagnostics import ProgramError, Report
from engine.language.rename_items import Renaming, rename
from engine.language.surface_syntax import Item
from engine.language.syntax import (
    Attribute,
    Clause,
    Constant,
    Constraint,
    Declaration,
    HeadAggregate,
    Literal,
    Term,
    TypeDeclaration,
)

KEPT = frozenset(("inline", "no_inline", "magic", "no_magic", "brie", "btree", "eqrel"))
"""The qualifiers that mean the same in Soufflé."""
IGNORING_CASE = "(?i)"
PART = re.compile(r"\\.|\[(?P<set>[^\]]*)\]|(?P<letter>[A-Za-z])")
KEYWORDS = frozenset(("as", "cat", "contains", "count", "false", "match", "max", "mean", "min", "nil", "ord", "range",
                      "strlen", "substr", "sum", "true"))  # fmt: skip
BETTER = {"min": "<", "max": ">"}
"""The aggregates of heads that subsumption can express, with how a better value compares."""


def souffle_text(items: Iterable[Item]) -> str:
    """Return the declarations and clauses among the items. Raises ProgramError for heads with other aggregates."""
    items = list(items)
    names = {item.name: item.name.replace(".", "__") for item in items if isinstance(item, Declaration)}
    renamed = [rename(item, Renaming(names)) for item in items]
    lines = [line for item in renamed for line in _lines(item)]
    return "".join(f"{line}\n" for line in (*lines, *_subsumptions(renamed)))


def _lines(item: Item) -> Iterator[str]:
    if isinstance(item, TypeDeclaration):
        yield f".type {item.name} {_definition(item)}"
    elif isinstance(item, Declaration):
        yield _declaration(item)
    elif isinstance(item, Clause):
        head = replace(item.head, arguments=tuple(map(_plain, item.head.arguments)))
        body = body_text(map(_matching, item.body))
        yield f"{atom_text(head)} :- {body}." if body else f"{atom_text(head)}."


def _plain(term: Term) -> Term:
    return term.target if isinstance(term, HeadAggregate) else term


def _matching(literal: Literal) -> Literal:
    """Return the literal with a pattern that std::regex reads."""
    if not isinstance(literal, Constraint) or literal.op not in ("match", "not_match"):
        return literal
    pattern = literal.left
    if not isinstance(pattern, Constant) or not str(pattern.value).startswith(IGNORING_CASE):
        return literal
    text = PART.sub(_both_cases, str(pattern.value).removeprefix(IGNORING_CASE))
    return replace(literal, left=replace(pattern, value=text))


def _both_cases(part: re.Match[str]) -> str:
    if part["letter"]:
        return f"[{part[0].lower()}{part[0].upper()}]"
    return f"[{part['set']}{part['set'].removeprefix('^').swapcase()}]" if part["set"] else part[0]


def _definition(item: TypeDeclaration) -> str:
    if item.kind == "subset":
        return f"<: {item.members[0]}"
    if item.kind == "record":
        return f"= [{_attributes(item.fields)}]"
    if item.kind == "adt":
        return "= " + " | ".join(f"{name} {{{_attributes(fields)}}}" for name, fields in item.branches)
    return "= " + " | ".join(item.members)


def _declaration(item: Declaration) -> str:
    choice = ", ".join(keys[0] if len(keys) == 1 else f"({', '.join(keys)})" for keys in item.choice)
    words = (*sorted(item.qualifiers & KEPT), *((f"choice-domain {choice}",) if choice else ()))
    return " ".join((f".decl {item.name}({_attributes(item.attributes)})", *words))


def _attributes(attributes: Iterable[Attribute]) -> str:
    return ", ".join(f"{_word(attribute.name)}: {attribute.type}" for attribute in attributes)


def _word(name: str) -> str:
    """Return a name that Soufflé does not take for a keyword."""
    return f"{name}_" if name in KEYWORDS else name


def _subsumptions(items: Iterable[Item]) -> Iterator[str]:
    """Yield a clause for each relation that aggregates."""
    heads = {item.head.relation: item.head for item in items if isinstance(item, Clause) and _aggregates(item)}
    for name, head in heads.items():
        kinds = [(at, term.kind) for at, term in enumerate(head.arguments) if isinstance(term, HeadAggregate)]
        (at, kind), *others = kinds
        if others or kind not in BETTER:
            report = Report({})
            help = "give each relation one 'min' or 'max', or aggregate in a body"
            report.error("E060", f"Soufflé cannot express the aggregates in heads of '{name}'", head.span, help)
            raise ProgramError(report.diagnostics)
        worse, better = ([f"x{i}" if i != at else value for i in range(len(head.arguments))] for value in "ab")
        yield f"{name}({', '.join(worse)}) <= {name}({', '.join(better)}) :- b {BETTER[kind]} a."


def _aggregates(clause: Clause) -> bool:
    return any(isinstance(term, HeadAggregate) for term in clause.head.arguments)
