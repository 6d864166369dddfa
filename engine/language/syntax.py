"""The abstract syntax of a Datalog program: immutable nodes, each with the place it was read from.

A node compares equal to another by its content, never by its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A region of a source: 1-based lines and columns, `end_column` exclusive."""

    source: str
    line: int
    column: int
    end_line: int
    end_column: int


def span_field() -> Span:
    return field(default=Span("<built>", 0, 0, 0, 0), compare=False, repr=False, kw_only=True)


# ---- terms


@dataclass(frozen=True, slots=True)
class Variable:
    """A named variable; the anonymous `_` is parsed to a Wildcard."""

    name: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Wildcard:
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. `type` is one of number, unsigned, float, symbol, nil (value None)."""

    value: int | float | str | None
    type: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class RecordTerm:
    """`[a, b, …]`, or a branch of an algebraic data type, `$Name(a, b, …)`, when `branch` is set.

    The checker sets `type`, the record table.
    """

    arguments: tuple[Term, ...]
    branch: str | None = None
    type: str = ""
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Functor:
    """An intrinsic functor by its Soufflé name: `+ - * / % ^ band cat strlen substr ord to_number as …`.

    Unary minus is `neg`. For `as(term, T)` the type's name stands in `type_argument`.
    The checker sets `kind`: the primitive kind operated on, for overloaded functors.
    """

    name: str
    arguments: tuple[Term, ...]
    type_argument: str | None = None
    kind: str = ""
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A body aggregate `kind target : { body }`; `target` is None for `count`.

    The checker sets `kind_of_value`: the primitive kind of the target.
    """

    kind: str
    target: Term | None
    body: tuple[Literal, ...]
    kind_of_value: str = ""
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Vertical:
    """`Val@Col` in an atom: each of the columns that the other arguments leave, in turn, with its number from 1."""

    value: Variable | Constant
    column: Variable | Constant
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class HeadAggregate:
    """An aggregate in a head, possibly recursive: `min<D>`, `sum<(K, V)>`, where `contributors` holds K.

    `count<K>` is the sum of 1 over the contributors K.
    """

    kind: str
    target: Term
    contributors: tuple[Term, ...] = ()
    span: Span = span_field()


Term = Variable | Wildcard | Constant | RecordTerm | Functor | Aggregate | HeadAggregate | Vertical


# ---- literals


@dataclass(frozen=True, slots=True)
class Atom:
    relation: str
    arguments: tuple[Term, ...]
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Negation:
    atom: Atom
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Constraint:
    """`left op right`; `op` is one of `= != < <= > >= match contains not_match not_contains`.

    The checker sets `kind`: the primitive kind compared.
    """

    op: str
    left: Term
    right: Term
    kind: str = ""
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span = span_field()


Literal = Atom | Negation | Constraint | Truth


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body.`; a fact has an empty body. A disjunction has been split into several clauses.

    `plan` is the order of atoms a `.plan` hint gives, by version.
    """

    head: Atom
    body: tuple[Literal, ...]
    plan: tuple[tuple[int, tuple[int, ...]], ...] = ()
    span: Span = span_field()


# ---- declarations


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    type: str
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """`kind` is subset (`members` = (base,)), equivalence, union, record (`fields`) or adt (`branches`)."""

    name: str
    kind: str
    members: tuple[str, ...] = ()
    fields: tuple[Attribute, ...] = ()
    branches: tuple[tuple[str, tuple[Attribute, ...]], ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Declaration:
    """`.decl`; `qualifiers` such as inline, eqrel, premappable, magic; `choice` lists functional-dependency keys."""

    name: str
    attributes: tuple[Attribute, ...]
    qualifiers: frozenset[str] = frozenset()
    choice: tuple[tuple[str, ...], ...] = ()
    span: Span = span_field()


@dataclass(frozen=True, slots=True)
class Directive:
    """`.input`, `.output`, `.printsize`, `.limitsize` for one relation, with its parameters as text."""

    kind: str
    relation: str
    parameters: tuple[tuple[str, str], ...] = ()
    span: Span = span_field()
