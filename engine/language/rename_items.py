"""Renaming of relations and types throughout an item, as component expansion needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.language.surface_syntax import Item
from engine.language.syntax import (
    Aggregate,
    Atom,
    Attribute,
    Clause,
    Declaration,
    Directive,
    Functor,
    HeadAggregate,
    Literal,
    Negation,
    RecordTerm,
    Term,
    TypeDeclaration,
)
from engine.language.traverse import map_terms


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names by old ones, one mapping for each of the three name spaces. Names not mentioned stay."""

    relations: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    branches: Mapping[str, str] = field(default_factory=dict)

    def relation(self, name: str) -> str:
        return self.relations.get(name, name)

    def type(self, name: str) -> str:
        return self.types.get(name, name)

    def branch(self, name: str) -> str:
        return self.branches.get(name, name)


def rename(item: Item, new: Renaming) -> Item:
    """Return the item with relation, type and branch names replaced."""
    if isinstance(item, Clause):
        body = tuple(rename_literal(literal, new) for literal in item.body)
        return replace(item, head=rename_atom(item.head, new), body=body)
    if isinstance(item, Directive):
        return replace(item, relation=new.relation(item.relation))
    if isinstance(item, Declaration):
        return replace(item, name=new.relation(item.name), attributes=rename_attributes(item.attributes, new))
    if isinstance(item, TypeDeclaration):
        branches = tuple((new.branch(name), rename_attributes(fields, new)) for name, fields in item.branches)
        members = tuple(map(new.type, item.members))
        fields = rename_attributes(item.fields, new)
        return replace(item, name=new.type(item.name), members=members, fields=fields, branches=branches)
    return item


def rename_attributes(attributes: tuple[Attribute, ...], new: Renaming) -> tuple[Attribute, ...]:
    return tuple(replace(attribute, type=new.type(attribute.type)) for attribute in attributes)


def rename_atom(atom: Atom, new: Renaming) -> Atom:
    arguments = tuple(rename_term(argument, new) for argument in atom.arguments)
    return replace(atom, relation=new.relation(atom.relation), arguments=arguments)


def rename_literal(literal: Literal, new: Renaming) -> Literal:
    if isinstance(literal, Atom):
        return rename_atom(literal, new)
    if isinstance(literal, Negation):
        return replace(literal, atom=rename_atom(literal.atom, new))
    return map_terms(literal, lambda term: rename_term(term, new))


def rename_term(term: Term, new: Renaming) -> Term:
    if isinstance(term, Functor):
        arguments = tuple(rename_term(argument, new) for argument in term.arguments)
        type_argument = None if term.type_argument is None else new.type(term.type_argument)
        return replace(term, arguments=arguments, type_argument=type_argument)
    if isinstance(term, RecordTerm):
        arguments = tuple(rename_term(argument, new) for argument in term.arguments)
        return replace(term, arguments=arguments, branch=None if term.branch is None else new.branch(term.branch))
    if isinstance(term, Aggregate):
        body = tuple(rename_literal(literal, new) for literal in term.body)
        return replace(term, target=None if term.target is None else rename_term(term.target, new), body=body)
    if isinstance(term, HeadAggregate):
        contributors = tuple(rename_term(contributor, new) for contributor in term.contributors)
        return replace(term, target=rename_term(term.target, new), contributors=contributors)
    return term
