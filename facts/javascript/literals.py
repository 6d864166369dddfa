"""Constants: strings, templates, numbers, regular expressions; names of properties."""

import re

from tree_sitter import Node

from facts.javascript.handler_tables import EXPRESSIONS, field, only_child
from facts.javascript.unit import Unit
from facts.regex_backtracking import exponential, polynomial
from facts.row_builder import head, tail

_ESCAPE = re.compile(
    r"\\(\r\n|u\{[0-9a-fA-F]+\}|(?:u[dD][89abAB][0-9a-fA-F]{2}\\)?u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)",
    re.DOTALL,
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": "", "\u2028": ""}
_WORDS = {"true": "boolean", "false": "boolean", "null": "none", "undefined": "none"}
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPEATED = re.compile(r"[*+{]")
_LONGEST_PATTERN = 2000
_LINE_ENDS = "\n\r"


@EXPRESSIONS("true", "false", "null", "undefined")
def _word(unit: Unit, node: Node) -> int:
    return unit.body.load_constant(_WORDS[node.type], node.type)


def undefined(unit: Unit) -> int:
    """Return the value undefined."""
    return unit.body.load_constant("none", "undefined")


@EXPRESSIONS("number")
def _number(unit: Unit, node: Node) -> int:
    return unit.body.load_constant(*number(unit.text(node)))


def number(text: str) -> tuple[str, str]:
    """Return kind and canonical form of a number literal. A whole number is an integer, however it is written."""
    digits = text.replace("_", "").lower().removesuffix("n")
    try:
        if digits[:2] in ("0x", "0o", "0b"):
            return "integer", str(int(digits, 0))
        if digits.isdigit():
            octal = digits.startswith("0") and digits.strip("0") and not set(digits) & set("89")
            return "integer", str(int(digits, 8 if octal else 10))
        value = float(digits)
        return ("integer", str(int(value))) if value.is_integer() and abs(value) < 1e21 else ("float", repr(value))
    except ValueError:
        return "integer", digits


@EXPRESSIONS("string")
def _string(unit: Unit, node: Node) -> int:
    return string_value(unit, string_text(unit, node), node)


def string_text(unit: Unit, node: Node) -> str:
    """Return what a string literal stands for."""
    return unescape(unit.text(node)[1:-1])


def string_value(unit: Unit, text: str, node: Node) -> int:
    """Return a string constant that stands where `node` stands."""
    value = unit.entity(repr(head(text)), node)
    unit.emit("constant", value, "string", text)
    _tell_of_pattern(unit, value, text, _LINE_ENDS)
    return value


def _tell_of_pattern(unit: Unit, value: int, pattern: str, line_ends: str) -> None:
    """Tell of a pattern that takes exponential time; `line_ends` are what `.` does not match in it."""
    if (
        len(pattern) <= _LONGEST_PATTERN
        and _REPEATED_GROUP.search(pattern)
        and exponential(pattern, line_ends=line_ends)
    ):
        unit.emit("exponential_regex", value)


@EXPRESSIONS("regex")
def _regex(unit: Unit, node: Node) -> int:
    text, pattern = unit.text(node), unit.text(field(node, "pattern"))
    value = unit.entity(head(text), node)
    unit.emit("constant", value, "regex", text)
    flags = field(node, "flags")
    ends = "" if flags is not None and "s" in unit.text(flags) else _LINE_ENDS
    _tell_of_pattern(unit, value, pattern, ends)
    if len(pattern) <= _LONGEST_PATTERN and _REPEATED.search(pattern) and polynomial(pattern, ends):
        unit.emit("polynomial_regex", value)
    return value


@EXPRESSIONS("template_string", "template_literal_type")
def _template(unit: Unit, node: Node) -> int:
    """A string that is built from its parts; a plain constant without substitutions."""
    texts, values = template_parts(unit, node)
    if not values:
        return string_value(unit, texts[0], node)
    operands = []
    for position, text in enumerate(texts):
        if text:
            operands.append(string_value(unit, text, node))
        operands += values[position : position + 1]
    value = unit.body.instruction(unit.entity("format", node))
    unit.emit("operation", value, "format")
    for position, operand in enumerate(operands):
        unit.emit("operand", value, position, operand)
    return value


def template_parts(unit: Unit, node: Node) -> tuple[list[str], list[int]]:
    """Return the texts of a template, one more than its substitutions, and what these evaluate to."""
    texts, values, start = [], [], node.start_byte + 1
    for child in node.named_children:
        if child.type in ("template_substitution", "template_type"):
            texts.append(unescape(unit.source[start : child.start_byte].decode()))
            values.append(unit.value(only_child(child)))
            start = child.end_byte
    texts.append(unescape(unit.source[start : max(start, node.end_byte - 1)].decode()))
    return texts, values


def unescape(text: str) -> str:
    """Return what the escapes of a string literal stand for."""
    return _ESCAPE.sub(_unescape, text) if "\\" in text else text


def _unescape(match: re.Match) -> str:
    escape = match[1]
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    try:
        if escape[0] == "u" and "\\" in escape:
            high, low = int(escape[1:5], 16), int(escape[-4:], 16)
            return chr(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00) if 0xDC00 <= low < 0xE000 else match[0]
        if escape[0] in "xu" and len(escape) > 1:
            code = int(escape[1:].strip("{}"), 16)
            # A lone surrogate is no character: no text file or database takes it.
            return match[0] if 0xD800 <= code < 0xE000 else chr(code)
        return chr(int(escape, 8)) if escape[0] in "01234567" else escape
    except (ValueError, OverflowError):
        return match[0]


# ---- Names of properties


def property_name(unit: Unit, node: Node | None) -> str | None:
    """Return the name that a property's key spells out; None if it is computed."""
    kind = node.type if node is not None else ""
    if kind == "computed_property_name":
        return (
            property_name(unit, inner) if (inner := only_child(node)) and inner.type in ("string", "number") else None
        )
    if kind == "string":
        return string_text(unit, node)
    return number(unit.text(node))[1] if kind == "number" else unit.text(node) if node is not None else None


def property_label(unit: Unit, node: Node | None) -> str:
    """Return the text that stands for a property's key in labels."""
    return property_name(unit, node) or (tail(unit.words(node)) if node is not None else "")


@EXPRESSIONS("property_identifier", "private_property_identifier")
def _property(unit: Unit, node: Node) -> int:
    """The name of a property as a value: `#p in object`."""
    return string_value(unit, unit.text(node), node)
