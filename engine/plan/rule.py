"""Rules as the planner sees them: literals over variables and encoded constants, no nested terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from engine.language.checked_program import CheckedClause

Operand = str | int
"""A variable's name, or a constant as it stands in a column."""


def enter_variables(literal: object, *terms: Operand | None) -> None:
    """Set the variables of a literal: planning asks for them many times."""
    object.__setattr__(literal, "variables", frozenset([term for term in terms if isinstance(term, str)]))


@dataclass(frozen=True, slots=True, eq=False)
class FlatAtom:
    """A relation and its terms; None is a wildcard."""

    relation: str
    terms: tuple[Operand | None, ...]
    variables: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        enter_variables(self, *self.terms)


class Match(FlatAtom):
    """A positive atom."""

    __slots__ = ()


class Absent(FlatAtom):
    """A negated atom."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Compare:
    """`left op right` on values of `kind`; an equality with one unbound variable binds it."""

    op: str
    kind: str
    left: Operand
    right: Operand
    variables: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        enter_variables(self, self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class Compute:
    """`target` = the functor's value, of kind `result`, or one of its values; a bound target is compared."""

    target: str
    functor: str
    kind: str
    arguments: tuple[Operand, ...]
    result: str
    variables: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        enter_variables(self, self.target, *self.arguments)


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """`target` is the record of table `table` with these fields; None is a field that does not matter."""

    target: str
    table: str
    fields: tuple[Operand | None, ...]
    variables: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        enter_variables(self, self.target, *self.fields)


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """`target` = the aggregate of `value` over all bindings of `body`, for each binding of the variables `injected`."""

    target: str
    aggregate: str
    kind: str
    value: Operand | None
    body: tuple[Literal, ...]
    injected: frozenset[str]
    variables: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        enter_variables(self, self.target, *self.injected)


@dataclass(frozen=True, slots=True, eq=False)
class Never:
    """The constraint `false`."""

    variables: ClassVar[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Intersect:
    """Several positive atoms taken together, as they all bind `variable`, in an order of a body.

    For each row the atom with the fewest matches proposes values, and the others confirm them.
    """

    variable: str
    atoms: tuple[Match, ...]

    @property
    def variables(self) -> set[str]:
        return {variable for atom in self.atoms for variable in atom.variables}


@dataclass(frozen=True, slots=True, eq=False)
class Some:
    """A positive atom of which one match is enough: one that passes the `filters`, which read what nothing else does.

    It stands for these literals in an order of a body.
    """

    atom: Match
    filters: tuple[Literal, ...]

    @property
    def variables(self) -> set[str]:
        return {variable for part in self.parts for variable in part.variables}

    @property
    def parts(self) -> tuple[Literal, ...]:
        return self.atom, *self.filters


Literal = Match | Absent | Compare | Compute | Record | Fold | Never
"""A part of a body."""
Ordered = Literal | Intersect | Some
"""A part of an ordered body."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """`relation(head) :- body.`; `wide` says of each variable whether its values may need 64 bits.

    If the relation aggregates, the head is a contribution, see `flatten`. `text` says where the rule stands, `clause`
    is what it was made from.
    """

    relation: str
    head: tuple[Operand, ...]
    body: tuple[Literal, ...]
    wide: Mapping[str, bool]
    text: str
    clause: CheckedClause | None = None

    def atom(self, at: int) -> Match:
        """The positive atom at a position of the body."""
        literal = self.body[at]
        assert isinstance(literal, Match)
        return literal

    def relations(self) -> Iterator[str]:
        """The relations the body reads, those inside aggregates included."""
        return relations_of(self.body)


def relations_of(literals: tuple[Literal, ...]) -> Iterator[str]:
    for literal in literals:
        if isinstance(literal, Match | Absent):
            yield literal.relation
        elif isinstance(literal, Fold):
            yield from relations_of(literal.body)


GENERATORS = frozenset({"range"})
