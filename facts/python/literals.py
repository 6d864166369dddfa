"""Constants and strings: `constant` rows in canonical form; f-strings as `format` operations."""

import re

from tree_sitter import Node

from facts.python import tree
from facts.python.tree import EXPRESSIONS, children
from facts.python.unit import Unit
from facts.regex_backtracking import exponential, polynomial
from facts.row_builder import head

_ESCAPE = re.compile(r"\\(\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\}|.)", re.DOTALL)
# Only a group that is repeated makes a pattern exponential.
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPEATED_CLASS = re.compile(r"(\\[sSdDwW]|[\])]|\.)[*+{]")
_LONGEST_PATTERN = 2000
# `{value:08.3f}`, `{value:#x}`: any other value than a number raises. A date has formats of its own: `%Y-%m-%d`.
_NUMBER_FORMAT = re.compile(r":?(.?[<>=^])?[-+ ]?z?#?0?\d*[,_]?(\.\d+)?[bdeEfFgGnoxX%]")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_KINDS = {
    "true": ("boolean", "true"),
    "false": ("boolean", "false"),
    "none": ("none", "None"),
    "ellipsis": ("ellipsis", "..."),
}


def constant(unit: Unit, kind: str, text: str) -> int:
    """Return the constant that is not a string: one value per body, whatever the number of places."""
    return unit.body.load_constant(kind, text)


@EXPRESSIONS("true", "false", "none", "ellipsis")
def _word(unit: Unit, node: Node) -> int:
    return constant(unit, *_KINDS[node.type])


@EXPRESSIONS("integer", "float")
def _number(unit: Unit, node: Node) -> int:
    return constant(unit, *number(unit.text(node)))


def number(text: str) -> tuple[str, str]:
    """Return kind and canonical form of a number literal; its text where it is none that Python 3 reads."""
    digits = text.replace("_", "").lower().rstrip("l")
    if digits.endswith("j"):
        return "complex", digits
    try:
        if digits[:2] in ("0x", "0o", "0b"):
            return "integer", str(int(digits, 0))
        if digits.isdigit():
            # A leading zero means octal in Python 2.
            octal = digits.startswith("0") and digits.strip("0") and not set(digits) & set("89")
            return "integer", str(int(digits, 8 if octal else 10))
        return "float", repr(float(digits))
    except ValueError:
        # More digits than Python turns into a number (int_max_str_digits).
        return "integer", digits


@EXPRESSIONS("string", "concatenated_string")
def _string(unit: Unit, node: Node) -> int:
    strings = children(node) if node.type == "concatenated_string" else [node]
    parts: list[str | int] = []
    is_bytes, is_template = False, False
    for string in strings:
        start = unit.text(string.children[0]).lower()
        is_bytes |= "b" in start
        is_template |= "t" in start
        _parts_of(unit, string, raw="r" in start, parts=parts)
    if not is_template and all(isinstance(part, str) for part in parts):
        return string_value(unit, "bytes" if is_bytes else "string", "".join(parts), node)
    return _format(unit, "template" if is_template else "format", parts, node)


def string_value(unit: Unit, kind: str, text: str, node: Node) -> int:
    """Return a string constant that stands where `node` stands."""
    value = unit.entity(repr(head(text)), node)
    unit.emit("constant", value, kind, text)
    pattern = kind == "string" and len(text) <= _LONGEST_PATTERN
    if pattern and _REPEATED_GROUP.search(text) and exponential(text, merged=True):
        unit.emit("exponential_regex", value)
    if pattern and _REPEATED_CLASS.search(text) and polynomial(text):
        unit.emit("polynomial_regex", value)
    return value


def _parts_of(unit: Unit, node: Node, raw: bool, parts: list) -> None:
    """Add the texts and interpolated values of a string or format specifier to `parts`."""
    position = None
    for child in node.children:
        kind = child.type
        if kind == "string_content":
            text = unit.text(child)
            if child.child_count and any(part.type == "escape_interpolation" for part in child.children):
                text = text.replace("{{", "{").replace("}}", "}")
            parts.append(text if raw or "\\" not in text else unescape(text))
        elif kind in ("interpolation", "format_expression"):
            if node.type == "format_specifier" and position is not None:
                parts.append(_between(unit, position, child.start_byte))
            _interpolation(unit, child, parts)
            position = child.end_byte
        elif kind == ":" and node.type == "format_specifier":
            position = child.end_byte
    if node.type == "format_specifier" and position is not None:
        parts.append(_between(unit, position, node.end_byte))


def _between(unit: Unit, start: int, end: int) -> str:
    return unit.source[start:end].decode()


def _interpolation(unit: Unit, node: Node, parts: list) -> None:
    value = unit.value(node.child_by_field_id(tree.EXPRESSION))
    specifier = node.child_by_field_id(tree.FORMAT_SPECIFIER)
    equals = next((child for child in node.children if child.type == "="), None)
    if equals is not None:
        start = parts.pop() if parts and isinstance(parts[-1], str) else ""
        parts.append(start + _between(unit, node.children[0].end_byte, equals.next_sibling.start_byte))
    shown = node.child_by_field_id(tree.CONVERSION) or (equals if specifier is None else None)
    shows_representation = shown is not None and unit.text(shown) in ("!r", "!a", "=")
    if shows_representation:
        value = _format(unit, "repr", [value], shown)
    elif specifier is not None and _NUMBER_FORMAT.fullmatch(unit.text(specifier)):
        value = _format(unit, "number", [value], specifier)
    parts.append(value)
    if specifier is not None and any(child.is_named for child in specifier.children):
        nested: list = []
        _parts_of(unit, specifier, True, nested)
        parts.append(_format(unit, "format", nested, specifier))


def _format(unit: Unit, operator: str, parts: list, node: Node) -> int:
    """Return the string, or template, that is built from `parts`, or what `repr` or `number` shows of one."""
    operands = [
        string_value(unit, "string", part, node) if isinstance(part, str) else part for part in parts if part != ""
    ]
    value = unit.body.instruction(unit.entity(operator, node))
    unit.emit("operation", value, operator)
    for position, operand in enumerate(operands):
        unit.emit("operand", value, position, operand)
    return value


def unescape(text: str) -> str:
    """Return what the escapes of a string literal stand for; unknown ones stay as they are."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match) -> str:
    escape = match[1]
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    if escape in ("\n", "\r\n"):
        return ""
    try:
        if escape[0] in "xuU" and len(escape) > 1:
            code = int(escape[1:], 16)
            # A lone surrogate is no character: no text file or database takes it.
            return match[0] if 0xD800 <= code < 0xE000 else chr(code)
        return chr(int(escape, 8))
    except ValueError:
        return match[0]
