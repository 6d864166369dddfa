"""Constants in canonical form."""

import re

from tree_sitter import Node

from facts.go.tree import EXPRESSIONS
from facts.go.unit import Unit
from facts.row_builder import head

_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@EXPRESSIONS("true", "false")
def _boolean(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("boolean", node.type)


@EXPRESSIONS("nil")
def _nil(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("none", "nil")


@EXPRESSIONS("iota")
def _iota(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("integer", str(unit.iota))


@EXPRESSIONS("int_literal")
def _integer(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("integer", integer(unit.text(node)))


def integer(text: str) -> str:
    """Return an integer literal in decimal, its digits as they are where they are no such number."""
    digits = text.replace("_", "").lower()
    is_octal = len(digits) > 1 and digits.startswith("0") and digits.isdigit()
    try:
        return str(int(digits, 8 if is_octal else 0))
    except ValueError:
        return digits


@EXPRESSIONS("float_literal")
def _float(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("float", decimal(unit.text(node)))


@EXPRESSIONS("imaginary_literal")
def _imaginary(unit: Unit, node: Node) -> int:
    digits = unit.text(node)[:-1]
    is_decimal = not digits.lower().startswith(("0x", "0b", "0o"))
    return unit.body.load_constant("complex", (decimal(digits) if is_decimal else integer(digits)) + "i")


def decimal(text: str) -> str:
    """Return a floating-point literal as its shortest decimal text."""
    digits = text.replace("_", "").lower()
    try:
        return repr(float.fromhex(digits) if digits.startswith("0x") else float(digits))
    except (ValueError, OverflowError):
        return digits


@EXPRESSIONS("rune_literal")
def _rune(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("character", unescape(unit.text(node)[1:-1], as_bytes=False))


@EXPRESSIONS("interpreted_string_literal", "raw_string_literal")
def _string(unit: Unit, node: Node) -> int:
    return string(unit, text_of(unit, node), node)


def string(unit: Unit, text: str, node: Node) -> int:
    """Return a string constant."""
    value = unit.entity(repr(head(text)), node)
    unit.emit("constant", value, "string", text)
    return value


def text_of(unit: Unit, node: Node | None) -> str:
    """Return what a string literal stands for."""
    if node is None:
        return ""
    text = unit.text(node)[1:-1]
    if node.type == "raw_string_literal":
        return text.replace("\r", "")
    return unescape(text, as_bytes=True) if "\\" in text else text


def unescape(text: str, *, as_bytes: bool) -> str:
    """Return what the escapes of a literal stand for; `\\xff` and `\\377` are bytes of UTF-8 text in strings."""
    parts, end = [], 0
    for match in _ESCAPE.finditer(text):
        parts += [text[end : match.start()].encode(), _escaped(match[1], as_bytes)]
        end = match.end()
    return b"".join([*parts, text[end:].encode()]).decode("utf-8", "backslashreplace")


def _escaped(escape: str, as_bytes: bool) -> bytes:
    if escape in _SIMPLE:
        return _SIMPLE[escape].encode()
    if escape[0] in "uUx" and len(escape) > 1:
        code = int(escape[1:], 16)
    elif len(escape) == 3 and escape.isdigit():
        code = int(escape, 8)
    else:
        return escape.encode()
    if as_bytes and escape[0] not in "uU":
        return bytes([code & 0xFF])
    # A surrogate, or what is beyond Unicode, is no character: no text file or database takes it.
    return chr(code).encode() if code < 0xD800 or 0xE000 <= code < 0x110000 else ("\\" + escape).encode()
