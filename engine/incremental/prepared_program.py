"""A program as a view needs it: made once, stored, and read piece by piece by the processes that go on from a state.

Most strata of a large program have nothing to do in an update. So a program is taken apart: what all of it takes
(names, shapes, a digest) is at hand, and the rules of a component are read when it first has something to do. They hold
symbols by their texts, and get the ids of the view that reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgpack

from engine.codec import SURROGATES, Codec, Damaged
from engine.language.checked_program import CheckedProgram, Record, Relation
from engine.language.program_codec import PROGRAM_CODEC
from engine.language.syntax import Constant
from engine.plan.rule import Rule
from engine.plan.value_encoding import encode
from engine.symbols import Symbols

Shape = tuple[int, str]
"""The arity of a relation, and the type of its columns."""
Facts = dict[str, list[tuple[int, ...]]]
COUNTED, HEADS, BODY, EXTREMA = "counted", "heads", "body", "extrema"
"""How the rules of a component are kept."""


@dataclass(frozen=True, slots=True)
class Component:
    """Relations that are brought up to date together, and those that they are derived from.

    With a `reason` they are evaluated anew, by the program that is stored. Others are kept up to date by rules: `kind`
    says whether these count derivations, give groups their aggregates, in heads or in a body, or let the least or
    greatest values recur, as the program that is stored does. If heads aggregate, the relations are `declared`.
    `needs` are for each rule the other relations that must have tuples for it to derive any.
    `digest` is that of all that their tuples follow from but facts that are given: their declarations and rules, and
    those of the components that they read.
    """

    relations: tuple[str, ...]
    reads: tuple[str, ...]
    kind: str = COUNTED
    reason: str = ""
    stored_rules: bytes = b""
    stored_facts: bytes = b""
    stored_program: bytes = b""
    declared: tuple[Relation, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    digest: str = ""

    def program(self) -> CheckedProgram:
        return PROGRAM_CODEC.unpack(self.stored_program)

    def rules(self, symbols: Symbols) -> list[Rule]:
        return RULES.unpack(self.stored_rules, interned(symbols))

    def facts(self, symbols: Symbols) -> Facts:
        """The facts among the clauses, by relation."""
        return FACTS.unpack(self.stored_facts, interned(symbols)) if self.stored_facts else {}


@dataclass(frozen=True)
class PreparedProgram:
    """A program, taken apart. `components` are in an order of evaluation.

    `shapes` are those of its relations, `projections` those of the relations that stand for negated atoms with
    wildcards and for tests of existence. Of `equivalences` classes are kept, and rules read these.
    `digest` is that of what it derives; `column_types` and `record_types` are digests of what the columns of
    relations, and the fields of records, hold. `tables` have what gives the values of each column their ids (see
    `engine.evaluation.translated_ids`), joined by commas; there are none of relations in whose columns that differs.
    """

    digest: str
    number_bits: int
    records: Mapping[str, Record]
    signatures: Mapping[tuple[str, tuple[int, ...]], int]
    shapes: Mapping[str, Shape]
    projections: Mapping[str, Shape]
    equivalences: frozenset[str]
    column_types: Mapping[str, str]
    record_types: Mapping[str, str]
    tables: Mapping[str, str]
    components: tuple[Component, ...]
    stored: bytes

    @cached_property
    def program(self) -> CheckedProgram:
        return PROGRAM_CODEC.unpack(self.stored)

    def tables_of(self, relation: str) -> list[str]:
        """Return the tables of a relation's columns."""
        return self.tables[relation].split(",") if self.shape(relation)[0] else []

    def shape(self, relation: str) -> Shape:
        return self.shapes[relation] if relation in self.shapes else self.projections[relation]


def prepare_program(program: CheckedProgram | PreparedProgram) -> PreparedProgram:
    """Take a program apart, unless it has been."""
    if isinstance(program, PreparedProgram):
        return program
    from engine.incremental.preparation import Preparation  # Who goes on from a state has no use for it.

    return Preparation(program).run()


# ---- symbols by their texts


@dataclass(frozen=True, slots=True)
class PendingSymbol:
    """A symbol that has no id yet."""

    text: str


def pending_symbols(constant: Constant) -> Any:
    """Return what stands for a constant in a rule that is stored."""
    return PendingSymbol(constant.value) if constant.type == "symbol" else encode(constant, Symbols())


def packed(constant: object) -> msgpack.ExtType:
    """A symbol as MessagePack has it, which knows no such type."""
    if not isinstance(constant, PendingSymbol):
        raise TypeError(f"{constant!r} is no plain data")
    return msgpack.ExtType(SYMBOL, constant.text.encode("utf-8", SURROGATES))


def interned(symbols: Symbols) -> Callable[[int, bytes], int]:
    """Return what makes ids of the symbols in what is read."""

    def symbol(code: int, text: bytes) -> int:
        if code != SYMBOL:
            raise Damaged(f"{code} is the type of no symbol")
        return int(symbols.intern([text.decode("utf-8", SURROGATES)])[0])

    return symbol


SYMBOL = 1
RULES: Codec[list[Rule]] = Codec(list[Rule], lambda owner, field: field.name != "clause")
FACTS: Codec[Facts] = Codec(Facts)
PREPARED_CODEC: Codec[PreparedProgram] = Codec(PreparedProgram)
