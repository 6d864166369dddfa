"""The semantics of each functor on single Python values: the reference for all evaluators.

A functor has a value for given arguments or none (division by zero, a text that spells no number): it then returns
None, and the literal it stands in does not hold, negated or not, whatever the join order. Nothing raises, but for a
pattern that takes long on a text (see `engine.regular_expressions`).

Numbers wrap around at 32 bits, or 64 on request. Floats are IEEE doubles; there is one NaN, equal to itself and ordered
with nothing, and no negative zero, so that equal values are equal bits.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any

from engine.regular_expressions import matches

Value = Any
"""int, float, str or None, as a kind says that is known only when a functor is applied."""
NAN = math.nan
NUMBER_TEXT = re.compile(r"\s*([+-]?)(0x[0-9a-fA-F]+|0b[01]+|[0-9]+)", re.ASCII)
FLOAT_TEXT = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|inf|nan)", re.ASCII)


def canonical(value: float) -> float:
    """Return the one representation of a float: one NaN, no negative zero."""
    return NAN if value != value else value + 0.0


# ---- integers


def wrap(value: int, kind: str, bits: int) -> int:
    """Return the number or unsigned congruent to `value` that fits in so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind == "number" and value >> (bits - 1) else value


def fits(value: int, kind: str, bits: int) -> bool:
    return wrap(value, kind, bits) == value


def divide(a: int, b: int) -> int | None:
    """Divide, truncating towards zero."""
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int | None:
    """Return what truncating division leaves: its sign is that of a."""
    quotient = divide(a, b)
    return None if quotient is None else a - b * quotient


def power(a: int, b: int, bits: int) -> int | None:
    """Raise to a power; for a negative exponent the exact result is truncated towards zero."""
    if b >= 0:
        return pow(a, b, 1 << bits)
    if a == 0:
        return None
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def shift_left(a: int, b: int, bits: int) -> int:
    """Shift by the exponent modulo the width, as all shifts do."""
    return a << (b % bits)


def shift_right(a: int, b: int, bits: int) -> int:
    return a >> (b % bits)


def shift_right_unsigned(a: int, b: int, bits: int) -> int:
    return wrap(a, "unsigned", bits) >> (b % bits)


INTEGER: dict[str, Callable[..., int | None]] = {
    "+": lambda a, b, bits: a + b,
    "-": lambda a, b, bits: a - b,
    "*": lambda a, b, bits: a * b,
    "/": lambda a, b, bits: divide(a, b),
    "%": lambda a, b, bits: remainder(a, b),
    "^": power,
    "neg": lambda a, bits: -a,
    "band": lambda a, b, bits: a & b,
    "bor": lambda a, b, bits: a | b,
    "bxor": lambda a, b, bits: a ^ b,
    "bnot": lambda a, bits: ~a,
    "bshl": shift_left,
    "bshr": shift_right,
    "bshru": shift_right_unsigned,
    "land": lambda a, b, bits: int(a != 0 and b != 0),
    "lor": lambda a, b, bits: int(a != 0 or b != 0),
    "lxor": lambda a, b, bits: int((a != 0) != (b != 0)),
    "lnot": lambda a, bits: int(a == 0),
}


# ---- floats


def divide_floats(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(math.inf, a)


def power_floats(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        # A negative base has no real root; zero to a negative power is infinite.
        return math.inf if a == 0 else NAN


def least(values: tuple[float, ...]) -> float:
    return NAN if any(v != v for v in values) else min(values)


def greatest(values: tuple[float, ...]) -> float:
    return NAN if any(v != v for v in values) else max(values)


FLOAT: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide_floats,
    "^": power_floats,
    "neg": lambda a: -a,
    "min": lambda *values: least(values),
    "max": lambda *values: greatest(values),
}


# ---- texts: lengths and positions count characters


def substring(text: str, start: int, length: int) -> str:
    """Return at most `length` characters from a position on: all of them for a negative length, "" outside the text."""
    if not 0 <= start <= len(text):
        return ""
    return text[start:] if length < 0 else text[start : start + length]


def float_to_text(value: float) -> str:
    """Return the shortest text that reads back as the same float; whole numbers without a fraction."""
    return repr(value).removesuffix(".0")


def text_to_integer(text: str, kind: str, bits: int) -> int | None:
    """Return the number that a whole text spells in decimal, `0x…` or `0b…`, if it fits."""
    match = NUMBER_TEXT.fullmatch(text)
    if match is None:
        return None
    digits = match[2]
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    value = int(digits[2:] if base != 10 else digits, base)
    value = -value if match[1] == "-" else value
    return value if fits(value, kind, bits) else None


def text_to_float(text: str) -> float | None:
    return canonical(float(text)) if FLOAT_TEXT.fullmatch(text) else None


# ---- conversions and generators


def float_to_integer(value: float, kind: str, bits: int) -> int | None:
    """Truncate towards zero, if the result fits."""
    if not math.isfinite(value):
        return None
    return int(value) if fits(int(value), kind, bits) else None


def reinterpret(value: int | float, source: str, target: str, bits: int) -> int | float:
    """Read the bits of a number as another kind. Floats have 64 bits: with 32-bit numbers they are narrowed first."""
    formats = {"number": "i", "unsigned": "I", "float": "f"} if bits == 32 else {
        "number": "q", "unsigned": "Q", "float": "d"}  # fmt: skip
    result = struct.unpack("<" + formats[target], struct.pack("<" + formats[source], value))[0]
    return canonical(result) if target == "float" else result


CONVERSIONS: dict[str, Callable[..., Value]] = {
    "itos": lambda value, bits: str(value),
    "utos": lambda value, bits: str(value),
    "ftos": lambda value, bits: float_to_text(value),
    "stoi": lambda value, bits: text_to_integer(value, "number", bits),
    "stou": lambda value, bits: text_to_integer(value, "unsigned", bits),
    "stof": lambda value, bits: text_to_float(value),
    "itou": lambda value, bits: wrap(value, "unsigned", bits),
    "utoi": lambda value, bits: wrap(value, "number", bits),
    "itof": lambda value, bits: float(value),
    "utof": lambda value, bits: float(value),
    "ftoi": lambda value, bits: float_to_integer(value, "number", bits),
    "ftou": lambda value, bits: float_to_integer(value, "unsigned", bits),
}


def apply(name: str, kind: str, arguments: tuple, bits: int, target: str | None = None) -> Value:
    """Return the value of a functor by its monomorphic name (see `language.signatures`), or None if it has none."""
    if name in CONVERSIONS:
        return CONVERSIONS[name](*arguments, bits)
    if name == "as":
        return reinterpret(arguments[0], kind, target or "", bits)
    if name == "cat":
        return "".join(arguments)
    if name == "strlen":
        return len(arguments[0])
    if name == "substr":
        return substring(*arguments)
    if kind == "float":
        return canonical(FLOAT[name](*arguments))
    if name in ("min", "max"):
        return min(arguments) if name == "min" else max(arguments)
    value = INTEGER[name](*arguments, bits)
    return None if value is None else wrap(value, kind, bits)


def holds(op: str, left: Value, right: Value) -> bool | None:
    """Return True if a constraint holds between two values of a kind; None for a malformed pattern."""
    if op in ("match", "not_match"):
        found = matches(left, right)
        return None if found is None else found == (op == "match")
    if op in ("contains", "not_contains"):
        return (left in right) == (op == "contains")
    if op in ("=", "!="):
        # `is` makes the one NaN equal to itself.
        return (left is right or left == right) == (op == "=")
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
