"""Checked programs and units as plain data.

Positions are kept of clauses and declarations, which profiles and messages name; those of terms and literals are for
the compiler's own messages, and are not kept. Of a unit's items they are: what they expand to is still to be checked.
"""

from __future__ import annotations

from dataclasses import Field

import msgpack

from engine.codec import WRONG, Codec, Damaged
from engine.language.checked_program import CheckedClause, CheckedProgram, Relation
from engine.language.compilation_unit import Unit
from engine.language.surface_syntax import Item
from engine.language.syntax import Directive

PLACED = frozenset({CheckedClause, Relation, Directive})


def is_kept(owner: type, field: Field) -> bool:
    return field.name != "span" or owner in PLACED


PROGRAM_CODEC: Codec[CheckedProgram] = Codec(CheckedProgram, is_kept)
ITEMS: Codec[tuple[tuple[Item, ...], ...]] = Codec(tuple[tuple[Item, ...], ...])
CLAUSES: Codec[tuple[tuple[CheckedClause, ...], ...]] = Codec(tuple[tuple[CheckedClause, ...], ...], is_kept)
NAMES: Codec[tuple[tuple[str, ...], ...]] = Codec(tuple[tuple[str, ...], ...])


class Units:
    """Writes and reads units, as a Codec does values of one type."""

    def pack(self, units: tuple[Unit, ...]) -> bytes:
        return msgpack.packb(
            (
                ITEMS.pack(tuple(unit.items for unit in units)),
                CLAUSES.pack(tuple(unit.clauses for unit in units)),
                NAMES.pack(tuple(unit.looked_up for unit in units)),
            )
        )

    def unpack(self, data: bytes) -> tuple[Unit, ...]:
        """Raises Damaged."""
        try:
            items, clauses, looked_up = msgpack.unpackb(data)
            parts = ITEMS.unpack(items), CLAUSES.unpack(clauses), NAMES.unpack(looked_up)
            return tuple(Unit(*each) for each in zip(*parts, strict=True))
        except WRONG as error:
            raise Damaged(str(error)) from None


UNITS_CODEC = Units()
