"""Nodes of the parser besides those of `syntax`, which expansion removes before a program is checked."""

from __future__ import annotations

from dataclasses import dataclass

from engine.language.syntax import Clause, Declaration, Directive, Span, Term, TypeDeclaration, span_field


@dataclass(frozen=True, slots=True)
class Include:
    path: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Use:
    """`.use module`: what the module offers is visible here."""

    module: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Pragma:
    key: str
    value: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Override:
    """`.override relation` in a component: the clauses that base components give it are dropped."""

    relation: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class ComponentType:
    """A component's name with its type parameters, formal in `.comp`, actual elsewhere."""

    name: str
    parameters: tuple[str, ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Component:
    type: ComponentType
    bases: tuple[ComponentType, ...]
    items: tuple[Item, ...]
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Init:
    """`.init name = type`: the component's relations and types appear as `name.x`."""

    name: str
    type: ComponentType
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Extremum:
    """`is_min((group), (value))` in a body: the head keeps, for each group, the least or greatest value."""

    kind: str
    group: tuple[Term, ...]
    value: Term
    span: Span = span_field()


Item = Clause | Declaration | Directive | TypeDeclaration | Include | Use | Pragma | Override | Component | Init
