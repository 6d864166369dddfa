"""Constants and strings: `constant` rows in canonical form."""

import re

from tree_sitter import Node

from facts.c.operators import described
from facts.c.tree import EXPRESSIONS, children
from facts.c.unit import Unit
from facts.row_builder import head

_ESCAPE = re.compile(r"\\(\r?\n|[0-7]{1,3}|x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_SUFFIX = re.compile(r"(?i)[ulwb]+$")
_FLOAT_SUFFIX = re.compile(r"(?i)[fldw]+$")


@EXPRESSIONS("true", "false")
def _truth(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("boolean", node.type)


@EXPRESSIONS("null")
def _null(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("none", unit.text(node))


@EXPRESSIONS("number_literal")
def _number(unit: Unit, node: Node) -> int:
    return unit.body.load_constant(*number(unit.text(node)))


def number(text: str) -> tuple[str, str]:
    """Return kind and canonical form of a number, maybe with a sign; its text where it has none."""
    if text[:1] in ("-", "+"):
        kind, value = number(text[1:].lstrip())
        return kind, "-" + value if text[0] == "-" and value.strip("0.") else value
    digits = text.replace("'", "")
    lower = digits.lower()
    try:
        if lower.startswith("0x") and ("p" in lower or "." in lower):
            return "float", repr(float.fromhex(_FLOAT_SUFFIX.sub("", lower) if "p" in lower else lower))
        if lower.startswith("0x"):
            return "integer", str(int(re.sub(r"[ulw]+$", "", lower), 16))
        whole = _SUFFIX.sub("", lower)
        if lower.startswith("0b"):
            return "integer", str(int(re.sub(r"[ulw]+$", "", lower), 2))
        if whole.isdecimal():
            octal = whole.startswith("0") and not set(whole) & set("89")
            return "integer", str(int(whole, 8 if octal else 10))
        return "float", repr(float(_FLOAT_SUFFIX.sub("", lower)))
    except (ValueError, OverflowError):
        return "integer", digits


@EXPRESSIONS("char_literal")
def _character(unit: Unit, node: Node) -> int:
    text = unit.text(node)
    return unit.body.load_constant("character", unescape(text[text.index("'") + 1 : -1]))


@EXPRESSIONS("string_literal")
def _string(unit: Unit, node: Node) -> int:
    return string_value(unit, string_text(unit, node), node)


def string_text(unit: Unit, node: Node) -> str:
    """Return what a string literal stands for."""
    text = unit.text(node)
    text = text[text.index('"') + 1 : -1]
    return unescape(text) if "\\" in text else text


def string_value(unit: Unit, text: str, node: Node) -> int:
    """Return a string constant that stands where `node` stands."""
    value = unit.entity(repr(head(text)), node)
    unit.emit("constant", value, "string", text)
    return value


@EXPRESSIONS("concatenated_string")
def _concatenated(unit: Unit, node: Node) -> int:
    """`"a" "b"`; with macros in between, such as PRIu64, a string that is built of them."""
    parts: list[str | int] = []
    for part in children(node):
        if part.type != "string_literal":
            parts.append(unit.value(part))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += string_text(unit, part)
        else:
            parts.append(string_text(unit, part))
    if len(parts) == 1:
        return string_value(unit, parts[0], node)
    operands = [string_value(unit, part, node) if isinstance(part, str) else part for part in parts]
    return described(unit, "format", operands, node, "format")


def unescape(text: str) -> str:
    """Return what the escapes of a literal stand for; unknown ones stand for their character."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match) -> str:
    escape = match[1]
    if escape[0] in "\r\n":
        return ""
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    if escape[0] in "01234567":
        return chr(int(escape, 8))
    if escape[0] in "xuU" and len(escape) > 1:
        code = int(escape[1:], 16)
        # Out of range, or half of a surrogate pair: no character.
        return match[0] if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
    return escape
