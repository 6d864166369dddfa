"""Macros as the code they stand for: constants, functions, names for code; what is no code on its own stays text.

The text of a macro is parsed where it stands: in a copy of the file, `return ` takes the place of `#define`, and only
the macro's bytes are read. So every place in it is one of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node, Parser, Point, Range

from facts.c import tree
from facts.c.calls import FURTHER, FURTHER_LIST
from facts.c.functions import Values, bind_parameters, define
from facts.c.scopes import FUNCTION, MACRO_CODE, VARIABLE, Scope, Usage
from facts.c.tree import STATEMENTS, children
from facts.c.unit import Unit
from facts.instructions import returned

_PASTED_REST = re.compile(rb"##(?=\s*__VA_ARGS__)")
_PASTED = re.compile(rb"\s*##\s*")
_QUOTED = re.compile(rb"(?<!#)#\s*\w+")
# What GLib writes for `do` and `while (0)`.
_BRACKETS = re.compile(rb"\b(?:G_)?STMT_(?:START|END)\b")
_STRING_OR_COMMENT = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//.*|/\*.*?\*/', re.DOTALL)
# What a constant is written with: a macro of these is evaluated once, where it is defined.
_CONSTANT = tree.kind_ids(
    *"""
identifier number_literal char_literal string_literal concatenated_string parenthesized_expression true false null
unary_expression binary_expression cast_expression sizeof_expression conditional_expression type_descriptor
primitive_type sized_type_specifier type_identifier abstract_pointer_declarator string_content escape_sequence character
struct_specifier type_qualifier
""".split()
)


@dataclass
class Macro:
    """A macro whose text is code: its `parts`, statements or (`is_expression`) one expression, in the text `source`."""

    name: str
    node: Node
    root: Node
    parts: list[Node]
    is_expression: bool
    source: bytes

    @property
    def has_parameters(self) -> bool:
        return self.node.child_by_field_id(tree.PARAMETERS) is not None

    @property
    def is_constant(self) -> bool:
        """True if the macro can be evaluated once for all uses."""
        return not self.has_parameters and self.is_expression and _is_constant(self.parts[0])

    @property
    def other_name(self) -> str:
        """The identifier that is all of the macro's text; empty where there is more to it."""
        if self.has_parameters or not self.is_expression or self.parts[0].kind_id not in tree.IDENTIFIER:
            return ""
        return self.source[self.parts[0].start_byte : self.parts[0].end_byte].decode()


def _is_constant(node: Node) -> bool:
    work = [node]
    while work:
        node = work.pop()
        if node.kind_id not in _CONSTANT:
            return False
        work += children(node)
    return True


class Macros:
    """Reads the macros that a file defines."""

    def __init__(self, source: bytes, nodes: list[Node]) -> None:
        self._source = source
        self._parser = Parser(tree.GRAMMAR.language)
        self._texts = {node.id: _prepared(source, node) for node in nodes if not node.has_error}
        self._expressions = self._copy(nodes, b"return ")
        self._statements = self._copy(nodes, b"")
        self.found = [macro for node in nodes if (macro := self._read(node)) is not None]

    def _copy(self, nodes: list[Node], word: bytes) -> bytes:
        """Return the file with each macro's text as a statement that begins with `word`."""
        copy = bytearray(self._source + b"\n")
        for node in nodes:
            text = self._texts.get(node.id)
            if text:
                start, value = node.start_byte, node.child_by_field_id(tree.VALUE).start_byte
                copy[start:value] = word.ljust(value - start)
                copy[value : value + len(text) + 1] = text + b";"
        return bytes(copy)

    def _read(self, node: Node) -> Macro | None:
        text = self._texts.get(node.id)
        if not text:
            return None
        end = node.child_by_field_id(tree.VALUE).start_byte + len(text) + 1
        self._parser.included_ranges = [Range(Point(0, 0), Point(1 << 20, 0), node.start_byte, end)]
        name = node.child_by_field_id(tree.NAME)
        name = self._source[name.start_byte : name.end_byte].decode()
        root = self._parser.parse(self._expressions).root_node
        found = children(root)
        if not root.has_error and len(found) == 1 and (inner := tree.only_child(found[0])) is not None:
            return Macro(name, node, root, [inner], True, self._expressions)
        root = self._parser.parse(self._statements).root_node
        found = children(root)
        if root.has_error or not found or any(part.kind_id not in STATEMENTS for part in found):
            return None
        return Macro(name, node, root, found, False, self._statements)


def _prepared(source: bytes, node: Node) -> bytes:
    """Return a macro's text without comments, of the same length.

    Names that are pasted are one name, with `$` between them; quoted ones are a string.
    """
    value = node.child_by_field_id(tree.VALUE)
    if value is None:
        return b""
    text = source[value.start_byte : value.end_byte]
    if b"/" in text:
        text = _STRING_OR_COMMENT.sub(_uncommented, text)
    if b"#" in text and node.child_by_field_id(tree.PARAMETERS) is not None:
        text = _PASTED_REST.sub(b"  ", text)
        text = _PASTED.sub(lambda match: b"$" * len(match[0]), text)
        text = _QUOTED.sub(lambda match: b'"' + b" " * (len(match[0]) - 2) + b'"', text)
    if b"STMT_" in text:
        text = _BRACKETS.sub(lambda match: b" " * len(match[0]), text)
    return text.rstrip(b" \t\r\n\\")


def _uncommented(match: re.Match) -> bytes:
    return match[0] if match[0][:1] == b'"' else re.sub(rb"[^\n\\]", b" ", match[0])


def declare_all(unit: Unit, macros: list[Macro]) -> None:
    """Let the names of macros stand for what they are, wherever in the file they are used."""
    for macro in macros:
        form = FUNCTION if macro.has_parameters else VARIABLE if macro.is_constant else MACRO_CODE
        unit.file.add(macro.name, form)
    texts: dict[str, set[str]] = {}
    for macro in macros:
        texts.setdefault(macro.name, set()).add(macro.other_name)
    unit.stand_ins = {name: other for name, others in texts.items() if len(others) == 1 and (other := min(others))}


def define_all(unit: Unit, macros: list[Macro]) -> None:
    """State every macro: a constant's value, or the function whose code it is."""
    for macro in macros:
        found = unit.file.names.get(macro.name)
        source, unit.source = unit.source, macro.source
        if macro.is_constant:
            place = macro.node.child_by_field_id(tree.NAME)
            unit.assign(found, unit.value(macro.parts[0]), "macro", place)
        else:
            _define_code(unit, macro, source)
        unit.source = source


def _define_code(unit: Unit, macro: Macro, written: bytes) -> None:
    function = define(unit, macro.name, macro.node, macro.node.child_by_field_id(tree.NAME))
    unit.emit("macro", function)
    values: Values = []
    parameters = macro.node.child_by_field_id(tree.PARAMETERS)
    for position, part in enumerate(parameters.children[1:-1:2] if parameters is not None else ()):
        names = (written[part.start_byte : part.end_byte].decode(),) if part.is_named else FURTHER
        for offset, name in enumerate(names):
            value = unit.facts.entity(function, name, part.start_byte, part.end_byte)
            unit.emit("parameter", function, position + offset, name, value)
            values.append((name, value, part))
        if not part.is_named:
            value = unit.facts.entity(function, FURTHER_LIST, part.start_byte, part.end_byte)
            unit.emit("rest_parameter", function, position + len(FURTHER), FURTHER_LIST, value)
            values.append((FURTHER_LIST, value, part))
    unit.later(lambda: _build(unit, macro, function, values))


def _build(unit: Unit, macro: Macro, function: int, values: Values) -> None:
    """Make the facts of a macro's code: a function that returns the value of its expression."""
    uses = Usage(macro.root, macro.source).of(macro.root)
    unit.open_body(function, Scope(unit.file, function), uses)
    unit.macro_labels = set(_labels(macro))
    bind_parameters(unit, values)
    for part in macro.parts:
        if macro.is_expression:
            unit.attempt(_return, part)
        else:
            unit.statement(part)


def _labels(macro: Macro) -> Iterator[str]:
    work = [macro.root]
    while work:
        node = work.pop()
        work += node.named_children
        if node.kind_id in _LABELED:
            label = node.child_by_field_id(tree.LABEL)
            yield macro.source[label.start_byte : label.end_byte].decode()


_LABELED = tree.kind_ids("labeled_statement")


def _return(unit: Unit, node: Node) -> None:
    value = unit.value(node)
    unit.revive()
    returned(unit, value)


@STATEMENTS("preproc_def", "preproc_function_def")
def _definition(unit: Unit, node: Node) -> None:
    """`#define`: all of a file are stated by `define_all`, as they hold wherever they stand."""
