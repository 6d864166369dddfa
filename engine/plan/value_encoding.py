"""The encoding of values of each kind in columns."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from engine.language.signatures import LETTERS
from engine.language.syntax import Constant, Functor
from engine.scalar_functors import canonical
from engine.symbols import Symbols

NARROW, WIDE = np.dtype(np.int32), np.dtype(np.int64)
WIDE_KINDS = {32: frozenset({"float", "unsigned"}), 64: frozenset({"float", "unsigned", "number"})}
"""The kinds whose values may need 64 bits, by the bits of numbers."""


def is_wide(kind: str, number_bits: int) -> bool:
    """Return True if values of a kind may need 64 bits."""
    return kind in WIDE_KINDS[number_bits]


def dtype_of(kinds: Iterable[str], number_bits: int) -> np.dtype:
    """The type of columns that hold values of these kinds."""
    return NARROW if WIDE_KINDS[number_bits].isdisjoint(kinds) else WIDE


def encode(constant: Constant, symbols: Symbols) -> int:
    """The integer that stands for a constant in a column."""
    value = constant.value
    if value is None:
        return 0
    if isinstance(value, str):
        return int(symbols.intern([value])[0])
    return encode_float(value) if constant.type == "float" else signed(int(value))


def signed(value: int) -> int:
    """An integer of 64 bits as it stands in a column: unsigned ones from 2⁶³ on are negative there."""
    return value - (1 << 64) if value >> 63 == 1 else value


def encode_float(value: float) -> int:
    """The bits of a float."""
    return struct.unpack("<q", struct.pack("<d", canonical(value)))[0]


RESULT_KINDS = {"cat": "symbol", "substr": "symbol", "strlen": "number", "ord": "number"} | {
    f"{source}to{target}": kind for source in LETTERS.values() for kind, target in LETTERS.items() if source != target
}


def result_kind(functor: Functor) -> str:
    """The kind of a functor's value."""
    if functor.name == "as":
        return functor.type_argument or functor.kind
    return RESULT_KINDS.get(functor.name, functor.kind)
