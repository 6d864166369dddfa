"""Constants in canonical form; text blocks; templates as operations."""

import re

from tree_sitter import Node

from facts.java import tree
from facts.java.tree import EXPRESSIONS, only_child
from facts.java.unit import Unit
from facts.regex_backtracking import exponential
from facts.row_builder import head, tail

_ESCAPE = re.compile(r"\\(\r?\n|[0-3]?[0-7]{1,2}|u+[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " ", "\\": "\\", "'": "'", '"': '"'}
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_LONGEST_PATTERN = 2000
_LINE_ENDS = "\n\r\x85"


@EXPRESSIONS("true", "false")
def _boolean(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("boolean", node.type)


@EXPRESSIONS("null_literal")
def _null(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("none", "null")


@EXPRESSIONS("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal")
def _integer(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("integer", integer(unit.text(node)))


def integer(text: str) -> str:
    """Return an integer literal in decimal, its digits as they are where they are no such number."""
    digits = text.replace("_", "").rstrip("lL").lower()
    is_octal = digits.startswith("0") and digits.isdigit()
    try:
        return str(int(digits, 8 if is_octal else 0))
    except ValueError:
        return digits


@EXPRESSIONS("decimal_floating_point_literal", "hex_floating_point_literal")
def _float(unit: Unit, node: Node) -> int:
    text = unit.text(node).replace("_", "").lower()
    is_hexadecimal = text.startswith("0x")
    digits = text.rstrip("fd") if not is_hexadecimal or "p" in text else text
    try:
        return unit.body.load_constant("float", repr(float.fromhex(digits) if is_hexadecimal else float(digits)))
    except (ValueError, OverflowError):
        return unit.body.load_constant("float", digits)


@EXPRESSIONS("character_literal")
def _character(unit: Unit, node: Node) -> int:
    return unit.body.load_constant("character", unescape(unit.text(node)[1:-1]))


@EXPRESSIONS("string_literal")
def _string(unit: Unit, node: Node) -> int:
    parts = _parts(unit, node)
    if all(isinstance(part, str) for part in parts):
        return _constant(unit, "".join(parts), node)
    return _template(unit, parts, node)


def _constant(unit: Unit, text: str, node: Node) -> int:
    value = unit.entity(repr(head(text)), node)
    unit.emit("constant", value, "string", text)
    if len(text) <= _LONGEST_PATTERN and _REPEATED_GROUP.search(text) and exponential(text, line_ends=_LINE_ENDS):
        unit.emit("exponential_regex", value)
    return value


def _parts(unit: Unit, node: Node) -> list:
    """Return the texts and interpolated expressions of a string."""
    interpolated = [child for child in node.named_children if child.type == "string_interpolation"]
    source, is_block = unit.source, unit.source.startswith(b'"""', node.start_byte)
    quote = 3 if is_block else 1
    texts, start = [], node.start_byte + quote
    for child in interpolated:
        texts.append(source[start : child.start_byte].decode())
        start = child.end_byte
    texts.append(source[start : node.end_byte - quote].decode())
    texts = [unescape(text) if "\\" in text else text for text in (_unindented(texts) if is_block else texts)]
    parts: list = [texts[0]]
    for child, text in zip(interpolated, texts[1:], strict=True):
        parts += [child, text]
    return parts


def _unindented(texts: list[str]) -> list[str]:
    """Return a text block without the opening line, common indentation and spaces at line ends (JLS 3.10.6)."""
    texts[0] = texts[0].partition("\n")[2]
    lines = "\0".join(texts).replace("\r\n", "\n").split("\n")
    counted = [line for line in lines[:-1] if line.strip(" \t\f")] + lines[-1:]
    indent = min(len(line) - len(line.lstrip(" \t\f")) for line in counted)
    return "\n".join(line[indent:].rstrip(" \t\f") for line in lines).split("\0")


@EXPRESSIONS("template_expression")
def _template_expression(unit: Unit, node: Node) -> int:
    processor = unit.qualifier(node.child_by_field_id(tree.TEMPLATE_PROCESSOR))
    argument = node.child_by_field_id(tree.TEMPLATE_ARGUMENT)
    return _template(unit, _parts(unit, argument), node, processor)


def _template(unit: Unit, parts: list, node: Node, *processor: int) -> int:
    """Return what a template gives: an operation on its processor, texts and expressions."""
    operands = [*processor]
    for part in parts:
        if isinstance(part, Node):
            operands.append(unit.value(only_child(part)))
        elif part:
            operands.append(_constant(unit, part, node))
    value = unit.body.running(unit.entity(tail("template"), node))
    unit.emit("operation", value, "template")
    for position, operand in enumerate(operands):
        unit.emit("operand", value, position, operand)
    return value


def unescape(text: str) -> str:
    """Return what the escapes of a literal stand for; unknown ones stay as they are."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match) -> str:
    escape = match[1]
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    if escape in ("\n", "\r\n"):
        return ""
    if escape[0] == "u" and len(escape) > 1:
        code = int(escape.lstrip("u"), 16)
        # A lone surrogate is no character: no text file or database takes it.
        return match[0] if 0xD800 <= code < 0xE000 else chr(code)
    return chr(int(escape, 8)) if escape.isdigit() else match[0]
