"""Checked programs as plain data.

Positions are kept of clauses and declarations, which profiles and messages name; those of terms and literals are for
the compiler's own messages, and are not kept.
"""

from __future__ import annotations

from dataclasses import Field

from engine.codec import Codec
from engine.language.checked_program import CheckedClause, CheckedProgram, Relation
from engine.language.syntax import Directive

PLACED = frozenset({CheckedClause, Relation, Directive})


def is_kept(owner: type, field: Field) -> bool:
    return field.name != "span" or owner in PLACED


PROGRAM_CODEC: Codec[CheckedProgram] = Codec(CheckedProgram, is_kept)
