"""Macros that are given a block: `EACH(type, item, list, { … });` is read as `EACH(type, item, list) { … } ;`.

A block as an argument is no expression of C, so what is called is a macro; only blocks of statements are moved. Types
beside them become names.
"""

import re

from facts.c.attributes import NAME, PARENTHESES, masked, named

_CALL = re.compile(
    rb"(?<=[;{}\n])[ \t]*" + NAME + rb"[ \t]*\((?:[^(){};,]++|" + PARENTHESES + rb"|,(?!\s*\{))*+(,)\s*(\{)"
)
_TYPE = re.compile(
    rb"(?<=[(,])\s*((?:(?:const|struct|union|enum)\s+)*\w+(?:\s*\*)+|(?:struct|union|enum)\s+\w+)(?=\s*,)"
)
_MAY_HAVE = re.compile(rb",\s*\{[^{}]*;")
_BRACKET = re.compile(rb"[{}]")
_END = re.compile(rb"\s*(\))[ \t]*;")


def without_block_arguments(text: bytes) -> bytes:
    """Return the text with blocks behind calls that have them as their last argument; its length is kept."""
    if not _MAY_HAVE.search(text):
        return text
    mask, result = masked(text), bytearray(text)
    ends = _blocks(mask)
    types: dict[int, int] = {}
    for call in _CALL.finditer(mask):
        end = ends.get(call.start(2), len(mask))
        closing = _END.match(mask, end)
        if closing is not None and b";" in mask[call.start(2) : end]:
            result[call.start(1)] = ord(")")
            result[closing.start(1)] = ord(" ")
            types |= {found.start(1): found.end(1) for found in _TYPE.finditer(mask, call.start(), call.end(1))}
    return named(bytes(result), types)


def _blocks(mask: bytes) -> dict[int, int]:
    """Return where blocks end, by where they begin; one that does not end is left out."""
    begun: list[int] = []
    ends: dict[int, int] = {}
    for bracket in _BRACKET.finditer(mask):
        if bracket[0] == b"{":
            begun.append(bracket.start())
        elif begun:
            ends[begun.pop()] = bracket.end()
    return ends
