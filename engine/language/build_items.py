"""Tree building for whole items: declarations, directives, clauses and components.

A rule with several heads or alternatives becomes several clauses that share their body's spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lark import Token

from engine.language import surface_syntax as surface
from engine.language.build_terms import MAX_DEPTH, Body, TermBuilder, depth_of
from engine.language.literals import integer
from engine.language.syntax import (
    Atom,
    Attribute,
    Clause,
    Declaration,
    Directive,
    HeadAggregate,
    TypeDeclaration,
)
from engine.language.traverse import literal_terms

ANSWERS = "<answers>"
"""The relation that a query derives."""

# Soufflé's old way of writing `.input r` in the declaration of r.
DIRECTIVE_TAGS = frozenset(("input", "output", "printsize"))

Names = tuple[Token, ...]


def flatten(items: Iterable[Any]) -> Iterator[surface.Item]:
    for item in items:
        if isinstance(item, list):
            yield from item
        else:
            yield item


def aggregate_extremum(head: Atom, extremum: surface.Extremum) -> Atom | None:
    """Return the head with the value aggregated, or None if its arguments are not the group's and the value."""
    others = [term for term in head.arguments if term != extremum.value]
    if len(others) != len(head.arguments) - 1 or {*others} != {*extremum.group}:
        return None
    aggregate = HeadAggregate(extremum.kind, extremum.value, span=extremum.span)
    return replace(head, arguments=tuple(aggregate if t == extremum.value else t for t in head.arguments))


class Builder(TermBuilder):
    """Callbacks for every rule of the grammar; the result of `start` is the list of the source's items."""

    def start(self, *items: object) -> list[surface.Item]:
        return list(flatten(items))

    def question(self, body: Body) -> list[surface.Item]:
        """Return the rules that derive a row where a body holds."""
        alternatives = [literal for literals in body for literal in literals]
        first, last = alternatives[0].span, alternatives[-1].span
        span = replace(first, end_line=last.end_line, end_column=last.end_column)
        return list(self._clauses([Atom(ANSWERS, (), span=span)], body, ()))

    # ---- clauses

    def fact(self, head: Atom) -> list[Clause]:
        return self._clauses([head], ((),), ())

    def rule(self, heads: list[Atom], body: Body, plan: tuple | None) -> list[Clause]:
        return self._clauses(heads, body, plan or ())

    def _clauses(self, heads: list[Atom], body: Body, plan: tuple) -> list[Clause]:
        literals = {id(literal): literal for alternative in body for literal in alternative}
        plain = (literal for literal in literals.values() if not isinstance(literal, surface.Extremum))
        for literal in (*heads, *plain):
            if depth_of(literal_terms(literal)) > MAX_DEPTH:
                self.too_deep(literal.span)
                return []
        return [self._clause(head, alternative, plan) for head in heads for alternative in body]

    def _clause(self, head: Atom, body: tuple, plan: tuple) -> Clause:
        """Return a clause; `is_min((x), (d))` in its body becomes the aggregate `min<d>` in its head."""
        for extremum in (literal for literal in body if isinstance(literal, surface.Extremum)):
            changed = aggregate_extremum(head, extremum)
            if changed is None:
                message = f"'is_{extremum.kind}' does not fit the head"
                help = "the head's arguments are the group's and, once, the value"
                self.report.error("E060", message, extremum.span, help)
            else:
                head = changed
        literals = tuple(literal for literal in body if not isinstance(literal, surface.Extremum))
        return Clause(head, literals, plan, span=head.span)

    def subsumption(self, less: Atom, greater: Atom, *_: object) -> list[Clause]:
        self.unsupported("subsumption (`a(x) <= a(y) :- …`)", self.span(less, greater))
        return []

    def atoms(self, *atoms: Atom) -> list[Atom]:
        return list(atoms)

    def plan(self, *versions: tuple[int, tuple[int, ...]]) -> tuple[tuple[int, tuple[int, ...]], ...]:
        return versions

    def version(self, number: Token, order: tuple[int, ...] | None) -> tuple[int, tuple[int, ...]]:
        return integer(number), order or ()

    def order(self, *positions: Token) -> tuple[int, ...]:
        return tuple(integer(position) for position in positions)

    # ---- relations

    def relation_declaration(self, names: Names, attributes: tuple | None, *rest: Any) -> list[surface.Item]:
        *qualifiers, choices = rest
        kept = frozenset(qualifiers) - DIRECTIVE_TAGS
        items: list[surface.Item] = []
        for name in names:
            span = self.span(name)
            items.append(Declaration(str(name), attributes or (), kept, choices or (), span=span))
            items += [Directive(tag, str(name), (), span=span) for tag in qualifiers if tag in DIRECTIVE_TAGS]
        return items

    def names(self, *names: Token) -> Names:
        return names

    qnames = names

    def attributes(self, *attributes: Attribute) -> tuple[Attribute, ...]:
        return attributes

    def attribute(self, name: Token, type: Token, lattice: bool | None) -> Attribute:
        if lattice:
            self.unsupported("a lattice attribute", self.span(name, type))
        return Attribute(str(name), str(type), span=self.span(name, type))

    def lattice_mark(self) -> bool:
        return True

    def qualifier(self, token: Token) -> str:
        if token == "btree_delete":
            self.unsupported("the qualifier 'btree_delete'", self.span(token))
        return str(token)

    def choices(self, _: Token, *choices: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        return choices

    def choice(self, *names: Token) -> tuple[str, ...]:
        return tuple(map(str, names))

    # ---- types

    def _type(self, kind: str, name: Token, *members: str) -> TypeDeclaration:
        return TypeDeclaration(str(name), kind, tuple(map(str, members)), span=self.span(name))

    def subset_type(self, name: Token, base: Token) -> TypeDeclaration:
        return self._type("subset", name, base)

    def symbol_type(self, name: Token) -> TypeDeclaration:
        return self._type("subset", name, "symbol")

    def number_type(self, name: Token) -> TypeDeclaration:
        return self._type("subset", name, "number")

    def union_type(self, name: Token, *members: Token) -> TypeDeclaration:
        return self._type("union" if len(members) > 1 else "equivalence", name, *members)

    def record_type(self, name: Token, fields: tuple[Attribute, ...] | None) -> TypeDeclaration:
        return TypeDeclaration(str(name), "record", fields=fields or (), span=self.span(name))

    def adt_type(self, name: Token, *branches: tuple[str, tuple[Attribute, ...]]) -> TypeDeclaration:
        return TypeDeclaration(str(name), "adt", branches=branches, span=self.span(name))

    def branch(self, name: Token, fields: tuple[Attribute, ...] | None) -> tuple[str, tuple[Attribute, ...]]:
        return str(name), fields or ()

    # ---- directives

    def directive(self, kind: Token, relations: Names, parameters: tuple | None) -> list[Directive]:
        return [Directive(kind[1:], str(name), parameters or (), span=self.span(name)) for name in relations]

    def parameters(self, *parameters: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        return parameters

    def parameter(self, name: Token, value: Token) -> tuple[str, str]:
        return str(name), self.unquote(value) if value.type == "STRING" else str(value)

    def pragma(self, key: Token, value: Token | None) -> surface.Pragma:
        return surface.Pragma(self.unquote(key), "" if value is None else self.unquote(value), span=self.span(key))

    def include(self, keyword: Token, path: Token) -> surface.Include:
        return surface.Include(self.unquote(path), span=self.span(keyword, path))

    def use(self, modules: Names) -> list[surface.Item]:
        return [surface.Use(str(name), span=self.span(name)) for name in modules]

    def functor_declaration(self, keyword: Token, name: Token, *_: object) -> list[surface.Item]:
        self.unsupported("a user-defined functor", self.span(keyword, name))
        return []

    def lattice(self, keyword: Token, name: Token, *_: object) -> list[surface.Item]:
        self.unsupported("a lattice", self.span(keyword, name))
        return []

    # ---- components

    def component(self, head: surface.ComponentType, bases: tuple | None, *items: object) -> surface.Component:
        return surface.Component(head, bases or (), tuple(flatten(items)), span=head.span)

    def bases(self, *bases: surface.ComponentType) -> tuple[surface.ComponentType, ...]:
        return bases

    def component_type(self, name: Token, parameters: Names | None) -> surface.ComponentType:
        return surface.ComponentType(str(name), tuple(map(str, parameters or ())), span=self.span(name))

    def init(self, name: Token, type: surface.ComponentType) -> surface.Init:
        return surface.Init(str(name), type, span=self.span(name))

    def override(self, _: Token, name: Token) -> surface.Override:
        return surface.Override(str(name), span=self.span(name))
