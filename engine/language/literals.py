"""Literals of the surface syntax: numbers in their notations, and escapes in strings."""

from __future__ import annotations

import re

ESCAPES = {'"': '"', "'": "'", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def integer(text: str) -> int:
    """Return the value of a decimal, `0x…` or `0b…` literal, with or without the suffix `u`."""
    digits = text.removesuffix("u")
    if digits.startswith("0x"):
        return int(digits[2:], 16)
    if digits.startswith("0b"):
        return int(digits[2:], 2)
    return int(digits)


def address(text: str) -> int:
    """Return the number of an IPv4 address, as a signed 32-bit number. Raises ValueError above 255."""
    parts = [int(part) for part in text.split(".")]
    if max(parts) > 255:
        raise ValueError("a part of an address is at most 255")
    value = int.from_bytes(bytes(parts), "big")
    return value - (1 << 32) if value >= 1 << 31 else value


def unquote(literal: str) -> str:
    """Return the text of a quoted string literal. Raises ValueError naming an unknown escape."""
    return unescape(literal[1:-1])


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", _escape, text, flags=re.DOTALL) if "\\" in text else text


def _escape(match: re.Match[str]) -> str:
    if match[1] not in ESCAPES:
        raise ValueError(f"unknown escape '\\{match[1]}'")
    return ESCAPES[match[1]]
