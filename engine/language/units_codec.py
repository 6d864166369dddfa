"""Units as plain data.

Positions in items are kept: what these expand to is still to be checked.
"""

from __future__ import annotations

import msgpack

from engine.codec import WRONG, Codec, Damaged
from engine.language.checked_program import CheckedClause
from engine.language.compilation_unit import Unit
from engine.language.program_codec import is_kept
from engine.language.surface_syntax import Item

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
